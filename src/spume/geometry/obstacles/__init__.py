"""Obstacles: moving shapes and contact with them."""
