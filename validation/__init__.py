"""Comparison of spume with closed forms and published figures: `make validate`, or `python -m validation`."""
