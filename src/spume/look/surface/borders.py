"""Clean borders between materials on a common skin: the skin is cut along them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.look.surface.finishing import diffused

Floats = NDArray[np.float64]
STEPS = 8
"""Smoothing steps of the borders."""


def cut_at_borders(
    triangles: NDArray[np.int32], kinds: NDArray[Any], arrays: list[Floats]
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[Floats]]:
    """Triangles of one kind each, the kind of each triangle, and the arrays of the vertices with those on the borders
    appended.

    The border between two kinds is where the smoothed indicator functions of both are equal.
    """
    present = np.unique(kinds)
    shares = np.stack([_smooth(triangles, np.asarray(kinds == kind, np.float64)) for kind in present], axis=1)
    own = shares.argmax(axis=1)
    corner = own[triangles]
    first, second, third = corner.T
    differ = ~((first == second) & (second == third))
    is_pair = differ & ((first == second) | (second == third) | (first == third))
    kept = triangles[~is_pair]
    mixed = triangles[is_pair]
    if len(mixed) == 0:
        return triangles, present[own[triangles[:, 0]]], arrays
    # turned so that the first corner is the one that differs from the other two
    a, b, c = own[mixed].T
    turn = np.where(b == c, 0, np.where(a == c, 1, 2))
    mixed = np.take_along_axis(mixed, (turn[:, None] + np.arange(3)) % 3, axis=1)
    lone, one, two = mixed.T
    ends = np.sort(np.concatenate([np.stack([lone, one], axis=1), np.stack([lone, two], axis=1)]), axis=1)
    edges, index = np.unique(ends, axis=0, return_inverse=True)
    index = index.reshape(-1)
    low, high = edges.T
    excess = shares[low, own[low]] - shares[low, own[high]]
    lack = shares[high, own[high]] - shares[high, own[low]]
    place = np.clip(excess / np.maximum(excess + lack, 1e-12), 0.02, 0.98)[:, None]
    grown = [np.concatenate([array, (1.0 - place) * array[low] + place * array[high]]) for array in arrays]
    new = len(kinds) + index
    to_one, to_two = new[: len(mixed)], new[len(mixed) :]
    parts = [
        kept,
        np.stack([lone, to_one, to_two], axis=1),
        np.stack([to_one, one, two], axis=1),
        np.stack([to_one, two, to_two], axis=1),
    ]
    labels = [own[kept[:, 0]], own[lone], own[one], own[one]]
    return np.concatenate(parts).astype(np.int32), present[np.concatenate(labels)], grown


def _smooth(triangles: NDArray[np.int32], indicator: Floats) -> Floats:
    """The indicator after smoothing D as 2D − D², which moves curved borders less than D does."""
    once = diffused(triangles, indicator, STEPS)
    return 2.0 * once - diffused(triangles, once, STEPS)
