"""Numbers by which a change of an arrangement is noticed."""

import itertools

_numbers = itertools.count(1)


def new_generation() -> int:
    """A number that no arrangement of points, cells or nodes had before. Only equality means anything."""
    return next(_numbers)
