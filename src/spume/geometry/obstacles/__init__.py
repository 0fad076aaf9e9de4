"""Obstacles: shapes in motion, and what contact with them does to a velocity."""
