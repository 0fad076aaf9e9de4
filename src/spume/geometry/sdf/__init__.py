"""Signed distance functions: the compiler from shapes to programs, and the evaluation of a program at a point."""
