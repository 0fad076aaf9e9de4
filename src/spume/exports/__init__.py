"""Runs for other programs: one file per format."""
