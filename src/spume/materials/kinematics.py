"""Reading and writing tensors of points."""

from spume.numerics.jit import compiled


@compiled(inline="always")
def load(a, p):
    """Full tensor of point p."""
    return (a[p, 0, 0], a[p, 0, 1], a[p, 0, 2], a[p, 1, 0], a[p, 1, 1], a[p, 1, 2], a[p, 2, 0], a[p, 2, 1], a[p, 2, 2])


@compiled(inline="always")
def store(a, p, t):
    """Write the full tensor t to point p."""
    a[p, 0, 0], a[p, 0, 1], a[p, 0, 2] = t[0], t[1], t[2]
    a[p, 1, 0], a[p, 1, 1], a[p, 1, 2] = t[3], t[4], t[5]
    a[p, 2, 0], a[p, 2, 1], a[p, 2, 2] = t[6], t[7], t[8]


@compiled(inline="always")
def load_sym(a, p):
    """Symmetric tensor of point p."""
    return (a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5])


@compiled(inline="always")
def store_sym(a, p, t):
    """Write the symmetric tensor t to point p."""
    a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5] = t[0], t[1], t[2], t[3], t[4], t[5]


@compiled(inline="always")
def load_scalar(a, p):
    """Number of point p."""
    return a[p]


@compiled(inline="always")
def store_scalar(a, p, value):
    """Write a number to point p."""
    a[p] = value
