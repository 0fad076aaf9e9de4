"""Closed surfaces around points, and their files."""
