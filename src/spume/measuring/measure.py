"""The measurements of a scene at one time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spume.measuring.quantities import QUANTITIES
from spume.measuring.sample import Sample
from spume.scene.material_scene import MaterialScene
from spume.scene.measure import Discharge, Force, Torque

Plane = tuple[tuple[float, ...], tuple[float, ...]]


def measured_planes(scene: MaterialScene) -> dict[str, Plane]:
    """Point and normal of the planes whose discharge is measured, by the name of the measurement."""
    listed = ((table.name, table.what) for table in scene.measure)
    return {name: (what.point, what.normal) for name, what in listed if isinstance(what, Discharge)}


def measures_loads(scene: MaterialScene) -> bool:
    """Whether the scene asks for the force or the torque on an obstacle."""
    return any(isinstance(table.what, Force | Torque) for table in scene.measure)


def measured_values(scene: MaterialScene, points: Callable[[], Sample], passed: dict[str, float]) -> dict[str, Any]:
    """Measurements of a scene for its diagnostics, by name: the value at this time; for a discharge, the mass that has
    `passed` since the start [kg]. Forces and torques are in the diagnostics of the obstacles."""
    tables = [table for table in scene.measure if type(table.what) in QUANTITIES]
    if not scene.measure:
        return {}
    values: dict[str, Any] = dict(passed)
    if tables:
        whole = points()
        sources = [*(body.name for body in scene.body), *(emitter.name for emitter in scene.emitter)]
        for table in tables:
            name = getattr(table.what, "body", None)
            chosen = whole if name is None else whole.of(np.asarray(whole.body == sources.index(name)))
            values[table.name] = QUANTITIES[type(table.what)](table.what, chosen)
    return {"measured": values} if values else {}
