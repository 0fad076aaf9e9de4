"""Ours against closed forms and published figures: `make validate`, or `python -m validation`."""
