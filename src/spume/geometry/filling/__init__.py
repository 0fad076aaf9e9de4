"""Filling a shape with points, on a lattice or by dart throwing."""
