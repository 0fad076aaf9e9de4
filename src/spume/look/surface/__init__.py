"""Closed surfaces around points, and the files that keep them."""
