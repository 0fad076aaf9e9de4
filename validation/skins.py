"""Skins: bodies at least three cells thick should keep their volume to three percent, and moving ones their shape."""

from typing import NamedTuple

import igl
import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Check, Outcome, Surroundings
from scipy.spatial.transform import Rotation

from spume.look.surface.skin import enclosed_volume, skin

SPACING = 0.01
"""Distance between points [m]: half a cell."""
ALLOWED = 0.03
FLICKER = 0.05
"""Allowed root mean square distance between skins of a moved body [spacings]: half a pixel where a spacing has ten."""
MOVED = ("sphere, 4 cells", "block, 4 cells", "sheet, 3 cells", "sphere, 3 cells, in disorder")
"""Shapes that are moved."""
BEFORE = {
    "sphere, 3 cells": -5.8,
    "block, 3 cells": -5.4,
    "rope, 3 cells": -3.3,
    "rope askew to the lattice, 3 cells": -0.1,
    "sheet, 3 cells": 1.0,
    "sheet askew, 3 cells": 4.1,
    "sphere, 4 cells": -2.8,
    "block, 4 cells": -2.6,
    "rope, 4 cells": -1.1,
    "rope askew to the lattice, 4 cells": 1.1,
    "sheet, 4 cells": 0.9,
    "sheet askew, 4 cells": 3.5,
    "sphere, 6 cells": -0.2,
    "block, 6 cells": -0.6,
    "rope, 6 cells": 0.6,
    "rope askew to the lattice, 6 cells": 1.9,
    "sheet, 6 cells": 0.8,
    "sheet askew, 6 cells": 2.6,
    "rope, 3 cells, in disorder": -1.8,
    "sheet, 3 cells, in disorder": 1.2,
    "sphere, 3 cells, in disorder": -3.5,
    "rope drawn to 1.5 times its length, 4 cells": -1.6,
    "rope drawn to 2 times its length, 4 cells": -37.8,
    "one of two materials of a tube 3 cells thick": 10.0,
    "one of two materials of a tube 6 cells thick": 4.7,
}
"""Error in percent of the volume of the former skin (pysplashsurf 0.14, level 0.55) of the same points."""


class Points(NamedTuple):
    """Points for which a skin is made."""

    x: NDArray[np.float64]
    kinds: NDArray[np.int64] | None = None
    """index of their material if there are two; the skin is that of the first"""
    volume: float = SPACING**3
    """volume of each point [m³]"""


def lattice(size: float) -> NDArray[np.float64]:
    """A cubic lattice around the origin."""
    line = (np.arange(-round(size / SPACING), round(size / SPACING)) + 0.5) * SPACING
    return np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)


def shapes() -> dict[str, Points]:
    """The points of each case."""
    found = {}
    x = lattice(0.3)
    random = np.random.default_rng(0)
    for cells in (3, 4, 6):
        half = cells * SPACING
        unit = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
        straight, askew = x[:, 2], x @ unit
        away, aside = np.hypot(x[:, 0], x[:, 1]), np.linalg.norm(x - np.outer(askew, unit), axis=1)
        found |= {
            f"sphere, {cells} cells": Points(x[np.linalg.norm(x, axis=1) < half]),
            f"block, {cells} cells": Points(x[(np.abs(x) < half).all(axis=1)]),
            f"rope, {cells} cells": Points(x[away < half]),
            f"rope askew to the lattice, {cells} cells": Points(x[(aside < half) & (np.abs(askew) < 0.28)]),
            f"sheet, {cells} cells": Points(x[(np.abs(straight) < half) & (away < 0.2)]),
            f"sheet askew, {cells} cells": Points(x[(np.abs(askew) < half) & (aside < 0.2)]),
        }
    for name in ("rope, 3 cells", "sheet, 3 cells", "sphere, 3 cells"):
        plain = found[name].x
        found[f"{name}, in disorder"] = Points(plain + 0.3 * SPACING * random.uniform(-1, 1, plain.shape))
    for stretch in (1.5, 2.0):
        rope = x[np.hypot(x[:, 0], x[:, 1]) < 4 * SPACING * stretch**0.5]
        found[f"rope drawn to {stretch:g} times its length, 4 cells"] = Points(
            rope * [stretch**-0.5, stretch**-0.5, stretch]
        )
    away = np.hypot(x[:, 0], x[:, 1])
    for cells in (3, 6):
        tube = x[(np.abs(away - 0.12) < cells * SPACING / 2) & (np.abs(x[:, 2]) < 0.15)]
        found[f"one of two materials of a tube {cells} cells thick"] = Points(
            tube, (np.hypot(tube[:, 0], tube[:, 1]) > 0.12).astype(np.int64)
        )
    return found


def missed(points: Points) -> float:
    """Relative error of the volume of the skin."""
    own = len(points.x) if points.kinds is None else int(np.count_nonzero(points.kinds == 0))
    kind = None if points.kinds is None else 0
    filled = np.full(len(points.x), points.volume)
    made = skin(points.x, SPACING / 2, "fine", volumes=filled, kinds=points.kinds, kind=kind)
    return enclosed_volume(made.vertices, made.triangles) / (own * points.volume) - 1.0


def flicker(x: NDArray[np.float64], seed: int) -> float:
    """Root mean square distance between the skin of points and that of the same points turned and displaced at random,
    turned back [spacings]. Zero if the skin does not depend on its grid."""
    random = np.random.default_rng(seed)
    turn, by = Rotation.random(rng=random).as_matrix(), random.uniform(0.0, SPACING, 3)
    filled = np.full(len(x), SPACING**3)
    first = skin(x, SPACING / 2, "fine", volumes=filled)
    second = skin(x @ turn.T + by, SPACING / 2, "fine", volumes=filled)
    back = (second.vertices - by) @ turn
    squares, _, _ = igl.point_mesh_squared_distance(back, first.vertices, first.triangles.astype(np.int64))
    return float(np.sqrt(np.mean(squares))) / SPACING


def run(around: Surroundings) -> Outcome:
    """Every shape."""
    outcome = Outcome()
    for name, points in shapes().items():
        around.say(name)
        error = missed(points)
        before = f"{BEFORE[name]:+.1f} %" if name in BEFORE else "-"
        outcome.checks.append(
            Check(f"volume, {name}", f"{100 * error:+.2f} %", "the points'", f"before: {before}",
                  f"±{100 * ALLOWED:g} %", abs(error) <= ALLOWED)
        )  # fmt: skip
    for name in MOVED:
        around.say(f"{name}, moved")
        away = max(flicker(shapes()[name].x, seed) for seed in range(3))
        outcome.checks.append(
            Check(f"change of the skin of a body that moves, {name}", f"{away:.3f} spacings", "0", "",
                  f"≤ {FLICKER:g}", away <= FLICKER)
        )  # fmt: skip
    return outcome


CASE = Case(
    "skins",
    "Volumes and steadiness of skins",
    "The volume inside the fine skin of points, compared with the sum of the points' volumes, for shapes of a few "
    "cells (two points per cell along each axis); and how much the skin changes when a body is turned and displaced "
    "as a whole, the worst of three random motions: skins of moving bodies flicker by as much.",
    run,
)
