"""Names of the kinds of contact in scenes; see `collision.py` for their effects."""

from typing import Literal

Contact = Literal["stick", "slip", "separate"]
