"""Bubbles and films of a frame as plane shapes for viewers and exporters: filled cells, lines along the films.

Arcs are drawn in steps of 6°. In a periodic box, bubbles are drawn with their centres in the box, films with their
middles.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.drawing import arc_points, box_translation, cell_outlines
from spume.dryfoam.network.geometry import film_lengths, pressure_differences
from spume.dryfoam.network.half_edges import OUTSIDE, Floats, Integers, Network, checked_network
from spume.fields import Field, Population
from spume.methods import Shapes
from spume.numerics.jit import compiled

POSITION = Field("x", (2,), unit="m", description="position")
CELLS = Population(
    "cells",
    (
        POSITION,
        Field("triangles", (3,), dtype="int32", description="vertices of the triangles that fill the bubbles"),
        Field("pressure", unit="N/m", description="pressure of the bubble"),
        Field("area", unit="m²", description="area of the bubble"),
        Field("sides", dtype="int64", description="number of films around the bubble"),
        Field("label", dtype="int64", description="number of the bubble"),
    ),
    "mesh",
)
ARCS = Population(
    "arcs",
    (
        POSITION,
        Field("lines", dtype="int64", description="index of the first point of each film"),
        Field("length", unit="m", description="length of the film"),
        Field("pressure_drop", unit="N/m", description="pressure difference between its two sides"),
        Field("left", dtype="int64", description="bubble on the left, -1 for the outside"),
        Field("right", dtype="int64", description="bubble on the right, -1 for the outside"),
    ),
    "lines",
)


@compiled
def _is_ear(a, b, c, ring, count, x):
    """Whether the corner b of a polygon, between a and c, can be cut off: convex, with no other vertex inside."""
    abx, aby, acx, acy = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[c, 0] - x[a, 0], x[c, 1] - x[a, 1]
    if abx * acy - aby * acx <= 0.0:
        return False
    for k in range(count):
        p = ring[k]
        if p in (a, b, c):
            continue
        inside = True
        for q, r in ((a, b), (b, c), (c, a)):
            cross = (x[r, 0] - x[q, 0]) * (x[p, 1] - x[q, 1]) - (x[r, 1] - x[q, 1]) * (x[p, 0] - x[q, 0])
            inside = inside and cross >= 0.0
        if inside:
            return False
    return True


@compiled
def _cut_ears(starts, x, triangles):
    """Triangulate polygons with the vertices x[starts[k]:starts[k + 1]], counter-clockwise: n - 2 triangles each."""
    made = 0
    for f in range(len(starts) - 1):
        ring = np.arange(starts[f], starts[f + 1])
        count, k, tried = len(ring), 0, 0
        while count > 2:
            a, b, c = ring[(k + count - 1) % count], ring[k % count], ring[(k + 1) % count]
            # after a full round without an ear the remainder has no area: cut off any corner
            if count == 3 or tried > count or _is_ear(a, b, c, ring, count, x):
                triangles[made, 0], triangles[made, 1], triangles[made, 2] = a, b, c
                made += 1
                k %= count
                for q in range(k, count - 1):
                    ring[q] = ring[q + 1]
                count -= 1
                tried = 0
                k += count - 1  # the previous corner may now be an ear
            else:
                tried += 1
                k += 1
    return made


def filled(outlines: list[Floats]) -> tuple[Floats, NDArray[np.int32], Integers]:
    """Vertices (n, 2), triangles (t, 3) and the polygon number of each vertex (n,) of filled polygons."""
    counts = np.array([len(outline) for outline in outlines])
    starts = np.concatenate([[0], np.cumsum(counts)])
    x = np.concatenate(outlines)
    triangles = np.zeros((int(np.sum(counts - 2)), 3), dtype=np.int64)
    _cut_ears(starts, x, triangles)
    return x, triangles.astype(np.int32), np.repeat(np.arange(len(outlines)), counts)


def film_curves(network: Network) -> tuple[Floats, Integers, Integers]:
    """Points along the films (n, 2) [m], the index of the first point of each curve and the number of points (m + 1,),
    and the film of each curve (m,). Parts of walls are omitted. A lone free bubble has one curve, its circle."""
    n = network
    if n.is_lone and n.is_closed:
        return np.zeros((0, 2)), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if n.is_lone:
        circle = cell_outlines(n)[0]
        return np.concatenate([circle, circle[:1]]), np.array([0, len(circle) + 1]), np.zeros(1, dtype=np.int64)
    chords, films, parts = n.chords(), np.flatnonzero(~n.is_wall), []
    for e in films:
        begin = n.positions[n.origin[2 * e]]
        points = np.concatenate([arc_points(begin, chords[e], float(n.half_angles[e])), [begin + chords[e]]])
        parts.append(points + box_translation(n, begin + 0.5 * chords[e]))
    return np.concatenate(parts), np.concatenate([[0], np.cumsum([len(part) for part in parts])]), films


def make(frame: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, NDArray[Any]]]:
    """Make the shapes of a frame."""
    n = checked_network(frame)
    x, triangles, owner = filled(cell_outlines(n))
    sides = n.sides() if not n.is_lone else np.array([0 if n.is_closed else 1])
    cells: dict[str, NDArray[Any]] = {
        "x": x, "triangles": triangles, "pressure": n.pressures[owner], "area": n.targets[owner],
        "sides": sides[owner], "label": n.labels[owner],
    }  # fmt: skip
    points, lines, films = film_curves(n)
    curve = np.repeat(np.arange(len(films)), np.diff(lines))
    if n.is_lone:
        length, drop = np.full(len(films), 2.0 * np.sqrt(np.pi * n.targets[0])), np.abs(n.pressures[: len(films)])
        left, right = n.labels[: len(films)], np.full(len(films), OUTSIDE)
    else:
        length, drop = film_lengths(n)[films], np.abs(pressure_differences(n)[films])
        label = np.append(n.labels, OUTSIDE)
        left, right = label[n.cell[2 * films]], label[n.cell[2 * films + 1]]
    arcs = {
        "x": points, "lines": lines, "length": length[curve], "pressure_drop": drop[curve], "left": left[curve],
        "right": right[curve],
    }  # fmt: skip
    return {"cells": cells, "arcs": arcs}


SHAPES = Shapes((CELLS, ARCS), make)
