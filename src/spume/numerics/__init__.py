"""Numerical building blocks that do not depend on the rest of the package: tensors, B-splines, sums, solvers."""
