"""The names of contact, for scenes; what they do is in obstacle.py."""

from typing import Literal

Contact = Literal["stick", "slip", "separate"]
