"""Names of the kinds of contact in scenes; see `collision.py` for their effects."""

from typing import Literal

Contact = Literal["stick", "slip", "separate"]
PASS = 3
"""Number of the contact of an obstacle that lets a species pass, after those of the names."""
