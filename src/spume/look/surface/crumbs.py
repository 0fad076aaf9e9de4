"""What becomes of crumbs: parts of a skin with the volume of a few points."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.look.surface.finishing import connected_parts, with_vertices

Floats = NDArray[np.float64]
Triangles = NDArray[np.int32]


class Crumbs(NamedTuple):
    """Which parts of a skin are crumbs, and what becomes of them."""

    fate: Literal["drops", "shapes", "none"] = "drops"
    """round drops of the same volume, the shapes that the level set gives them, or nothing"""
    points: float = 8.0
    """parts with a volume of fewer points than this are crumbs"""
    gap: float = 0.0
    """distance from a larger part, in point spacings, up to which drops are left out"""


DROPS = Crumbs()
"""What becomes of crumbs where nothing else is chosen."""


def without_crumbs(
    vertices: Floats, triangles: Triangles, crumbs: Crumbs, spacing: float, x: Floats
) -> tuple[Floats, Triangles, NDArray[np.bool_]]:
    """Mesh without the parts that are not to be seen, and which of the points at `x` [m] it shows.

    Points of drops that are left out because they are close to a larger part count as shown: that part has their
    volume.
    """
    from scipy.spatial import cKDTree

    shown = np.ones(len(x), bool)
    parts = connected_parts(vertices, triangles)
    is_crumb = ((parts.volumes > 0) & (parts.volumes < crumbs.points * spacing**3))[parts.of_vertex]
    if not is_crumb.any():
        return vertices, triangles, shown
    if crumbs.fate == "none":
        shown = ~is_crumb[cKDTree(vertices).query(x, workers=-1)[1]]
        return *with_vertices(vertices, triangles, ~is_crumb), shown
    if crumbs.fate == "shapes" or crumbs.gap <= 0.0 or is_crumb.all():
        return vertices, triangles, shown
    away = np.full(len(vertices), np.inf)
    away[is_crumb] = cKDTree(vertices[~is_crumb]).query(vertices[is_crumb], workers=-1)[0]
    nearest = np.full(parts.number, np.inf)
    np.minimum.at(nearest, parts.of_vertex, away)
    return *with_vertices(vertices, triangles, nearest[parts.of_vertex] >= crumbs.gap * spacing), shown


def with_drops(vertices: Floats, triangles: Triangles, crumbs: Crumbs, spacing: float) -> Floats:
    """Vertices of the mesh; crumbs that become drops are balls of the same volume about the same middle."""
    if crumbs.fate != "drops" or len(triangles) == 0:
        return vertices
    parts = connected_parts(vertices, triangles)
    is_crumb = (parts.volumes > 0) & (parts.volumes < crumbs.points * spacing**3)
    if not is_crumb.any():
        return vertices
    number = np.bincount(parts.of_vertex, minlength=parts.number)
    total = [np.bincount(parts.of_vertex, weights=vertices[:, k], minlength=parts.number) for k in range(3)]
    middle = np.stack(total, axis=1) / np.maximum(number, 1)[:, None]
    away = vertices - middle[parts.of_vertex]
    length = np.sqrt(np.einsum("ij,ij->i", away, away))
    radius = np.cbrt(3.0 * np.maximum(parts.volumes, 0.0) / (4.0 * np.pi))[parts.of_vertex]
    chosen = is_crumb[parts.of_vertex] & (length > 0)
    rounded = middle[parts.of_vertex] + away * (radius / np.where(length > 0, length, 1.0))[:, None]
    return np.where(chosen[:, None], rounded, vertices)
