"""The kinds of contact, as scenes name them; `collision.py` says what they do."""

from typing import Literal

Contact = Literal["stick", "slip", "separate"]
