"""Small clouds of points and scenes for the tests of the point-based method."""

from typing import Any

import numpy as np

from spume.points.method import PointBased
from spume.scene.common import Scene

ELASTIC = {
    "law": "corotated-plastic", "density": 1000.0, "youngs_modulus": 1e5, "poisson_ratio": 0.3, "flow_rate": 0.0,
    "yield_stress": 1e9,
}  # fmt: skip
SPACING = 0.01
UNDAMPED = {"damping": 0.0, "artificial_viscosity": 0.0}
"""Forces that conserve energy while the reference stays the same."""


def jittered_lattice(per_axis: int, dimension: int, rng: np.random.Generator, jitter: float = 0.3) -> np.ndarray:
    """A lattice of spacing 1 with random displacements."""
    axes = np.meshgrid(*[np.arange(per_axis, dtype=float)] * dimension, indexing="ij")
    x = np.stack([a.ravel() for a in axes], axis=1)
    return x + jitter * rng.uniform(-0.5, 0.5, x.shape)


def scene_of_box(size: list[int], **tables: Any) -> Scene:
    """A free elastic box of size[k] spacings along each axis, centred at the origin, without gravity."""
    d = len(size)
    edges = [n * SPACING for n in size]
    shape = {"box": {"center": [0.0] * 3, "size": edges}} if d == 3 else {
        "rectangle": {"center": [0.0] * 2, "size": edges}
    }  # fmt: skip
    body = {"material": "elastic", "shape": shape, **tables.pop("body", {})}
    points = {"spacing": SPACING, **tables.pop("points", {})}
    material = {**ELASTIC, **tables.pop("material", {})}
    defaults = {
        "title": "test", "method": "point-based", "dimension": d, "duration": 100.0, "gravity": [0.0] * d,
        "points": points, "material": {"elastic": material}, "body": [body],
    }  # fmt: skip
    return Scene(**(defaults | tables))


def box(size: list[int], **tables: Any) -> PointBased:
    """The method of `scene_of_box`."""
    return PointBased(scene_of_box(size, **tables))


def advance(method: PointBased, until: float) -> None:
    assert method.advance(until, lambda: False, lambda progress: None)


def run_stages(method: PointBased, names: str, dt: float) -> None:
    """Run the stages of a step with these names, separated by spaces, over dt [s]."""
    for stage in method.step.stages:
        if stage.name in names.split():
            stage.run(method.world, dt)
