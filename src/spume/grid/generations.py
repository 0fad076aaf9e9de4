"""Generation numbers, which change when an arrangement of points, cells or nodes changes."""

import itertools

_numbers = itertools.count(1)


def new_generation() -> int:
    """Return a new, unique generation number. Numbers should only be compared for equality."""
    return next(_numbers)
