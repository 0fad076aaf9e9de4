"""Consistency checks of scenes with bodies, emitters and obstacles, before anything is computed."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spume.errors import SceneError
from spume.geometry.mesh_files.colors import has_colors
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.geometry.motion import check_motion
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.parts import own_mesh_of
from spume.geometry.shapes.sequences import placed_sequence
from spume.materials import BUILT_IN, LAWS
from spume.materials.table import Material
from spume.scene.emitter_checks import emitter_problems
from spume.scene.followers import follower_problems
from spume.scene.force import force_problems
from spume.scene.measure import measure_problems
from spume.scene.part_checks import check_filled, check_friction, check_spin, check_starts, check_vector, check_walls
from spume.scene.problems import Problem, dotted, shown

if TYPE_CHECKING:
    from spume.scene.bodies import Body
    from spume.scene.material_scene import MaterialScene

SPEED_OF_LIGHT = 299_792_458.0
"""[m/s]"""
SLOWEST_WAVE = 1e-6
"""Smallest ratio of the speed of elastic waves to that of the material; below it nothing limits the time step."""


def problems(scene: "MaterialScene") -> list[Problem]:
    """Problems of the scene as a whole."""
    if broken := list(_own_laws(scene)):
        return broken  # other checks use the laws
    return [
        *_gravity(scene),
        *check_walls(scene),
        *_stepping(scene),
        *_wave_speeds(scene),
        *_contents(scene),
        *_derived_branches(scene),
        *(problem for k, body in enumerate(scene.body) for problem in _body(body, f"body.{k}", scene)),
        *(
            problem
            for k, emitter in enumerate(scene.emitter)
            for problem in emitter_problems(emitter, f"emitter.{k}", scene)
        ),
        *_obstacles(scene),
        *follower_problems(scene),
        *force_problems(scene),
        *measure_problems(scene),
    ]


def with_known_laws(scene: "MaterialScene") -> list[Material]:
    """The materials whose laws are available; when a run is only viewed, those from a user's file are not."""
    return [material for material in scene.materials if material.law.family in LAWS]


def _own_laws(scene: "MaterialScene") -> Iterator[Problem]:
    """Functions of users' laws that cannot be used."""
    for material in with_known_laws(scene):
        if LAWS[material.law.family] not in BUILT_IN:
            from spume.materials.checks import failure  # compiles kernels

            if sentence := failure(material.law, material.parameters):
                yield Problem(
                    f"material.{material.name}.law", f"is '{material.law.name}', which cannot be used: {sentence}"
                )


def _with_derived_branches(scene: "MaterialScene") -> list[Material]:
    """Materials whose branches were made from the functions of their laws, in scenes whose steps use branches."""
    if scene.time.integrator == "explicit" and scene.method != "point-based":
        return []
    known = with_known_laws(scene)
    return [material for material in known if any(branch.by_differences for branch in material.law.branches)]


def _derived_branches(scene: "MaterialScene") -> Iterator[Problem]:
    """Branches made from the functions of a law have to reproduce them."""
    for material in _with_derived_branches(scene):
        from spume.materials.checks import branches_of_update  # compiles kernels

        if branches_of_update(material.law, material.parameters):
            yield Problem(
                f"material.{material.name}.law",
                f"is '{material.law.name}', whose stress is not a function of its elastic strain alone: use explicit "
                "steps of method 'mpm', or declare branches",
            )


def branch_notes(scene: "MaterialScene") -> list[str]:
    """What derivatives by differences cost."""
    return [
        f"material.{material.name}: law '{material.law.name}' declares no branches, so its derivatives are differences "
        "of its stress, which takes several times longer per point"
        for material in _with_derived_branches(scene)
    ]


def _gravity(scene: "MaterialScene") -> Iterator[Problem]:
    gravity = scene.gravity
    if gravity is None or isinstance(gravity, tuple):
        yield from check_vector(gravity, "gravity", scene.dimension)
        return
    for k, value in enumerate(gravity.values):
        yield from check_vector(value, f"gravity.values.{k}", scene.dimension)
    if len(gravity.times) != len(gravity.values):
        yield Problem(
            "gravity", f"has {len(gravity.times)} times and {len(gravity.values)} values: each time needs one value"
        )
    if any(later <= earlier for earlier, later in zip(gravity.times, gravity.times[1:])):
        yield Problem("gravity.times", f"is {shown(gravity.times)}: each time should be greater than the one before")


def _stepping(scene: "MaterialScene") -> Iterator[Problem]:
    if scene.time.dt != "auto" and scene.time.max_dt is not None:
        yield Problem("time.max_dt", f"is {scene.time.max_dt:g} beside a fixed dt: it only limits dt = 'auto'")


def _wave_speeds(scene: "MaterialScene") -> Iterator[Problem]:
    """Materials too stiff or too soft to be simulated."""
    _, gravity = scene.gravity_keyframes
    bodies = [body.velocity for body in scene.body if body.velocity is not None]
    given = [*bodies, *(velocity for emitter in scene.emitter for velocity in emitter.velocities)]
    fall = max(math.hypot(*map(float, vector)) for vector in gravity) * scene.duration
    fastest = max([fall, *(math.hypot(*velocity) for velocity in given)])
    for material in with_known_laws(scene):
        speed = material.law.wave_speed(material.parameters)
        path = dotted(("material", material.name))
        if not speed <= SPEED_OF_LIGHT:
            yield Problem(
                path,
                f"has elastic waves of {speed:.3g} m/s, faster than light: its moduli are too large for its density",
            )
        elif speed < SLOWEST_WAVE * fastest:
            yield Problem(
                path,
                f"has elastic waves of {speed:.3g} m/s, where material may move at {fastest:.3g} m/s in this scene: "
                "its moduli are too small for its density",
            )


def _contents(scene: "MaterialScene") -> Iterator[Problem]:
    if not scene.body and not scene.emitter:
        yield Problem("body", "is missing: a scene needs a [[body]] or an [[emitter]]")
    for kind in ("body", "emitter", "obstacle", "force"):
        places: dict[str, int] = {}
        for k, item in enumerate(getattr(scene, kind)):
            if item.name and places.setdefault(item.name, k) != k:
                yield Problem(f"{kind}.{k}.name", f"is '{item.name}', the name of {kind}.{places[item.name]} already")


def _body(body: "Body", path: str, scene: "MaterialScene") -> Iterator[Problem]:
    yield from check_filled(body, path, scene)
    if body.surface == "embedded" and scene.dimension == 2:
        yield Problem(f"{path}.surface", "is 'embedded' in a 2D scene: embedded surfaces need a 3D scene")
    yield from _colors(body, path)
    yield from check_vector(body.velocity, f"{path}.velocity", scene.dimension)
    yield from check_spin(body.spin, f"{path}.spin", scene.dimension)
    if body.wave is not None:
        for key, value in body.wave:
            yield from check_vector(value, f"{path}.wave.{key}", scene.dimension)
    yield from check_starts(body.start, path, scene)


def _colors(body: "Body", path: str) -> Iterator[Problem]:
    if body.colors != "mesh":
        return
    found = own_mesh_of(body.shape)
    if found is None:
        yield Problem(
            f"{path}.colors", "is 'mesh', but the shape is not a mesh: give it a 'mesh', also a displaced one"
        )
    elif not has_colors(read_mesh_file(found[0].file)):
        yield Problem(f"{path}.colors", f"is 'mesh', but '{found[0].file}' has no colours of its own")


def _obstacles(scene: "MaterialScene") -> Iterator[Problem]:
    for k, obstacle in enumerate(scene.obstacle):
        path = f"obstacle.{k}"
        yield from check_friction(obstacle.contact, obstacle.friction, path)
        try:
            bounds(obstacle.shape, scene.dimension)
            placed_sequence(obstacle.shape)
        except SceneError as error:
            yield Problem(f"{path}.shape", f"is wrong: {error}")
        try:
            if obstacle.motion is not None:
                check_motion(obstacle.motion, scene.dimension)
        except SceneError as error:
            yield Problem(f"{path}.motion", f"is wrong: {error}")
