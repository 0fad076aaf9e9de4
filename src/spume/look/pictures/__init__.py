"""Stills, contact sheets and films of runs."""
