"""Checks of the emitters of a scene."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from spume.errors import SceneError
from spume.geometry.motion import check_motion
from spume.geometry.nozzles import NOZZLES, SlotNozzle, nozzle_area, nozzle_axes
from spume.scene.emitter import Emitter, OutflowKeyframes, RateKeyframes, VelocityKeyframes
from spume.scene.part_checks import check_filled, check_spin, check_starts, check_vector
from spume.scene.problems import Problem, shown
from spume.tables import Vector

if TYPE_CHECKING:
    from spume.scene.material_scene import MaterialScene

SAMPLES = 33
"""Times between two keyframes at which a smooth velocity is tested."""


def emitter_problems(emitter: Emitter, path: str, scene: "MaterialScene") -> Iterator[Problem]:
    """Problems of an emitter."""
    if (emitter.shape is None) == (emitter.nozzle is None):
        found = "neither 'shape' nor 'nozzle'" if emitter.shape is None else "both 'shape' and 'nozzle'"
        yield Problem(path, f"has {found}: material needs one of them to come out of")
        return
    yield from _outflow(emitter, path)
    yield from check_spin(emitter.spin, f"{path}.spin", scene.dimension)
    yield from check_starts(emitter.start, path, scene)
    if emitter.rate is not None and emitter.copies is not None:
        yield Problem(path, "has both 'rate' and 'copies': give one of them")
    if emitter.barrel > 0 and emitter.copies is not None:
        yield Problem(f"{path}.barrel", f"is {emitter.barrel:g} m beside 'copies': only a flow has a barrel")
    if emitter.stop is not None and emitter.stop <= emitter.start:
        yield Problem(f"{path}.stop", f"is {emitter.stop:g} s: it should be after the start, {emitter.start:g} s")
    if emitter.shape is not None:
        yield from check_filled(emitter, path, scene)
    elif emitter.copies is not None:
        yield Problem(f"{path}.nozzle", "is given with 'copies': a nozzle is for a flow, and copies are of a 'shape'")
    try:
        if emitter.motion is not None:
            check_motion(emitter.motion, scene.dimension)
    except SceneError as error:
        yield Problem(f"{path}.motion", f"is wrong: {error}")
    malformed = [
        *_keyframes(emitter.rate, f"{path}.rate"),
        *_keyframes(emitter.velocity, f"{path}.velocity"),
        *_keyframes(emitter.outflow, f"{path}.outflow"),
        *_vectors(emitter, path, scene.dimension),
    ]
    yield from malformed
    if emitter.copies is None:
        if emitter.spin is not None:
            yield Problem(f"{path}.spin", "is given for a flow: only copies can spin")
        if emitter.fill.pattern != "lattice":
            yield Problem(f"{path}.fill.pattern", f"is '{emitter.fill.pattern}' for a flow: its layers are lattices")
        if not malformed and emitter.velocity is not None:
            yield from _direction(emitter, path, scene)


def _outflow(emitter: Emitter, path: str) -> Iterator[Problem]:
    """A flow out of a surface has no other direction, opening or rate."""
    if emitter.outflow is None:
        if emitter.velocity is None:
            yield Problem(
                path, "has neither 'velocity' nor 'outflow': a flow needs one of them to leave the emitter with"
            )
        if emitter.within is not None:
            yield Problem(f"{path}.within", "is given without 'outflow': only a surface is limited by it")
        return
    for other in ("velocity", "nozzle", "copies", "rate"):
        if getattr(emitter, other) is not None:
            yield Problem(
                f"{path}.outflow", f"is given with '{other}': material leaves the surface of a 'shape' at this speed"
            )


def _keyframes(
    given: float | Vector | RateKeyframes | VelocityKeyframes | OutflowKeyframes | None, path: str
) -> Iterator[Problem]:
    if not isinstance(given, RateKeyframes | VelocityKeyframes | OutflowKeyframes):
        return
    if len(given.times) != len(given.values):
        yield Problem(path, f"has {len(given.times)} times and {len(given.values)} values: each time needs one value")
    if any(later <= earlier for earlier, later in zip(given.times, given.times[1:])):
        yield Problem(f"{path}.times", f"is {shown(given.times)}: each time should be greater than the one before")


def _vectors(emitter: Emitter, path: str, dimension: int) -> Iterator[Problem]:
    if isinstance(emitter.velocity, tuple):
        yield from check_vector(emitter.velocity, f"{path}.velocity", dimension)
    elif emitter.velocity is not None:
        for k, value in enumerate(emitter.velocity.values):
            yield from check_vector(value, f"{path}.velocity.values.{k}", dimension)
    nozzle = emitter.nozzle
    if nozzle is None:
        return
    name = next(key for key, model in NOZZLES.items() if isinstance(nozzle, model))
    if dimension not in nozzle.dimensions:
        yield Problem(f"{path}.nozzle", f"is a {name} in a 2D scene: the opening of a 2D flow is a 'slot'")
        return
    where = f"{path}.nozzle.{name}"
    yield from check_vector(nozzle.center, f"{where}.center", dimension)
    if isinstance(nozzle, SlotNozzle) and (nozzle.thickness is None) != (dimension == 2):
        what = "is given in a 2D scene, where a slot has a width only" if dimension == 2 else "is missing in a 3D scene"
        yield Problem(f"{where}.thickness", what)
    along = getattr(nozzle, "along", None)
    if along is not None:
        if dimension == 2:
            yield Problem(f"{where}.along", "is given in a 2D scene, where a slot lies across the flow")
        yield from check_vector(along, f"{where}.along", dimension)


def _direction(emitter: Emitter, path: str, scene: "MaterialScene") -> Iterator[Problem]:
    """Whether material leaves the opening at all times, and whether the opening holds a point."""
    moving = [velocity for velocity in emitter.velocities if any(velocity)]
    if not moving:
        yield Problem(f"{path}.velocity", "is zero: a flow needs a velocity to leave the emitter with")
        return
    normal = np.array(moving[0]) / np.linalg.norm(moving[0])
    if isinstance(emitter.velocity, VelocityKeyframes):
        track = emitter.velocity_track
        times = np.interp(np.linspace(0, len(track.times) - 1, 1 + SAMPLES * (len(track.times) - 1)),
                          np.arange(len(track.times)), track.times)  # fmt: skip
        speeds = np.array([np.dot(track.at(time)[0], normal) for time in times])
        worst = int(np.argmin(speeds))
        if speeds[worst] < 0:
            yield Problem(
                f"{path}.velocity",
                f"points back into the emitter at {times[worst]:g} s: it should never turn by more than 90 degrees "
                "from where it points first",
            )
        elif emitter.rate is not None and speeds[worst] == 0:
            yield Problem(
                f"{path}.velocity",
                f"is zero at {times[worst]:g} s: beside a rate it gives the direction, so let the rate be zero instead",
            )
    if emitter.nozzle is not None:
        try:
            nozzle_axes(emitter.nozzle, normal)
        except ValueError as error:
            name = next(key for key, model in NOZZLES.items() if isinstance(emitter.nozzle, model))
            yield Problem(f"{path}.nozzle.{name}.along", str(error))
        spacing = scene.cell / emitter.fill.points_per_axis
        if nozzle_area(emitter.nozzle) < 0.5 * spacing ** (scene.dimension - 1):
            yield Problem(
                f"{path}.nozzle",
                f"is smaller than one point at cells of {scene.cell:g} m: make it larger or the cells smaller",
            )
