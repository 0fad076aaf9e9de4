"""Mechanical equilibrium of a dry foam at given cell areas: Newton steps, their linear systems, stability."""
