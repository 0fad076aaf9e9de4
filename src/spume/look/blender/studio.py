"""A run as a scene of Blender: what a SpaceDrawer shows, with materials, lights and a camera, to render or save."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.frames.poses import ObstaclePoses, moved, poses_in_frames
from spume.frames.reader import Frame
from spume.geometry.mesh_files.mesh_file import Texture
from spume.look.finish import Finish
from spume.look.grains import scattered
from spume.look.obstacles import Solid
from spume.look.pictures.camera import View
from spume.look.pictures.clear import TINTED
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.shading import GLOW
from spume.look.pictures.space_drawer import FADE, PLAIN, ColoredMesh, SpaceDrawer
from spume.look.triangle_mesh import TriangleMesh, placed

Floats = NDArray[np.float64]
REFRACTION = {"clear": 1.33, "solid": 1.45}
"""Refractive indices: of water for what light passes through, of plastics for the rest."""
SUBSURFACE_DEPTH = 0.008
"""Scattering distance of light below a surface, relative to the size of the scene."""
BUBBLES = 0.0025
"""Size of the bubbles that roughen foams, relative to the size of the scene."""
KEY, FILL, RIM = 3.0, 0.4, 2.0
"""Irradiance of a surface that faces each lamp [1]: a white one sends π times less to the camera."""
PREVIEW_SAMPLES = 16
"""Most light paths per pixel in the quality 'preview'."""
APERTURE = 0.008
"""Diameter of the lens relative to the distance in focus, where the scene gives none."""
GRAINS_PER_POINT = 30
"""Number of grains for each point of sand in .blend files."""
GRAINS, MOST_GRAINS = (10, 250), 1_500_000
"""Number of grains drawn for each point of sand inside and at its surface, and of grains in a picture if there are
fewer points."""


@dataclass
class Job:
    """Input of the script in Blender: the job and its arrays."""

    tables: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


def to_blender(up: Floats) -> Floats:
    """The rotation that takes `up`, one of the axes, to Blender's z, and y up to y away from the viewer."""
    if abs(up[2]) > 0.5:
        return np.diag([1.0, np.sign(up[2]), np.sign(up[2])])
    if abs(up[1]) > 0.5:
        s = float(np.sign(up[1]))
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -s], [0.0, s, 0.0]])
    s = float(np.sign(up[0]))
    return np.array([[0.0, s, 0.0], [0.0, 0.0, 1.0], [s, 0.0, 0.0]])


def studio(
    drawer: SpaceDrawer, numbers: list[int], task: str, samples: int, threads: int, material: bool = True
) -> Job:
    """The scene of the frames `numbers`; a frame's own meshes are seen in that frame alone. Without `material`, only
    what surrounds it: obstacles, ground, lights and camera."""
    turn = to_blender(drawer.up)
    size = float(np.linalg.norm(drawer.upper - drawer.lower))
    options, run = drawer.options, drawer.run
    times = {number: float(run.diagnostics[number]["time"]) for number in numbers}
    job = Job({"task": task, "looks": {}, "items": []})
    for k, number in enumerate(numbers if material else ()):
        until = numbers[k + 1] if k + 1 < len(numbers) else number + 1
        only = None if len(numbers) == 1 else [number, until]
        _add_frame(job, drawer, run[number], turn, size, only)
    _add_obstacles(job, drawer, numbers, turn, size)
    if len(numbers) == 1:
        interval = 1.0 / float(run.scene.frame_rate)
        times = {numbers[0] + k: max(times[numbers[0]] + k * interval, 0.0) for k in (-1, 0, 1)}
    views = {number: drawer.view_at(time) for number, time in times.items()}
    if len({_view_key(view) for view in views.values()}) == 1:
        views = {numbers[0]: views[numbers[0]]}
    camera = {
        "frames": list(views),
        "views": [view_table(lens(view), turn) for view in views.values()],
        "reach": size,
    }
    job.tables |= {
        "rate": float(run.scene.frame_rate),
        "range": [numbers[0], numbers[-1]],
        "camera": camera,
        "lights": lamps(0.5 * (drawer.lower + drawer.upper), drawer.up, drawer.view, turn, size),
        "ground": None if drawer.ground is None else _ground(drawer, turn, size),
    }
    key, _, rim, _ = drawer.lights()
    panels = [
        {"direction": (turn @ key).tolist(), "strength": 3.0, "from": 0.80, "to": 0.90},
        {"direction": (turn @ rim).tolist(), "strength": 1.8, "from": 0.82, "to": 0.92},
    ]
    job.tables |= rendering(options, list(drawer.backdrop), samples, threads, panels)
    return job


def rendering(
    options: PictureOptions,
    backdrop: list[float],
    samples: int,
    threads: int,
    panels: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The size of the picture, the sky around the scene, and the way from light to pixels."""
    panels = panels or []
    samples = min(samples, PREVIEW_SAMPLES) if options.quality == "preview" else samples
    return {
        "size": [options.width, options.height],
        "samples": samples,
        "threads": threads,
        "world": {
            "background": _before_toe(backdrop),
            "above": [0.42, 0.45, 0.5],
            "below": [0.12, 0.12, 0.12],
            "panels": panels,
            "glow": list(GLOW),
        },
        "transform": "Khronos PBR Neutral",
        "contrast": "None",
        "exposure": 0.0,
        "shutter": options.shutter,
    }


def _before_toe(color: list[float]) -> list[float]:
    """The light that the transform 'Khronos PBR Neutral' shows as a colour: for the smallest channel x it takes
    x − 6.25 x² off all channels, 0.04 from x = 0.08 on."""
    least = min(color)
    offset = 0.04 if least > 0.04 else float(np.sqrt(least / 6.25)) - least
    return [channel + offset for channel in color]


def _add_frame(job: Job, drawer: SpaceDrawer, frame: Frame, turn: Floats, size: float, only: list[int] | None) -> None:
    for k, (part, finish) in enumerate(drawer.material_parts(frame)):
        name = f"{drawer.run.name} {k}" if only is None else f"{drawer.run.name} {k} frame {frame.number}"
        if len(part.triangles) == 0:
            _add_grains(job, name, part, finish, turn, size, only)
            continue
        is_painted = finish is PLAIN or bool((part.colors != part.colors[:1]).any())
        item = _item(job, name, "mesh", _look(job, finish, is_painted, size), only)
        _set_mesh(job, item, part, turn)
        _set_velocity(job, item, part.v, turn)
        if is_painted:
            job.arrays[f"{item}/colors"] = part.colors


def _add_grains(
    job: Job, name: str, part: ColoredMesh, finish: Finish, turn: Floats, size: float, only: list[int] | None
) -> None:
    item = _item(job, name, "grains", _look(job, finish, True, size), only)
    counts = GRAINS if finish.grain else (1, 1)
    made = scattered(part.vertices, part.colors, part.spacing, finish.variation, counts, MOST_GRAINS)
    job.arrays[f"{item}/vertices"] = made.x @ turn.T
    job.arrays[f"{item}/colors"] = made.colors
    job.arrays[f"{item}/radii"] = 0.5 * (finish.grain or 1.0) * made.sizes
    _set_velocity(job, item, None if part.v is None else part.v[made.point], turn)


def _add_obstacles(job: Job, drawer: SpaceDrawer, numbers: list[int], turn: Floats, size: float) -> None:
    poses = poses_in_frames(drawer.run, numbers)
    keys = numbers
    if len(numbers) == 1:  # as they move around the time of the picture
        interval = 1.0 / float(drawer.run.scene.frame_rate)
        poses = [moved(poses[0], k * interval) for k in (-1, 0, 1)]
        keys = [numbers[0] + k for k in (-1, 0, 1)]
    for solid, mesh in zip(drawer.solids, drawer.meshes):
        if len(mesh.triangles) == 0:
            continue
        if solid.deforms(poses[0]):
            _add_deforming(job, solid, mesh, dict(zip(keys, poses)), numbers, turn, size)
            continue
        item = _add_solid(job, solid.name, mesh, solid.finish, turn, size)
        found = solid.places(poses)
        places = np.tile(np.eye(4), (len(found), 1, 1))
        for place, (R, p) in zip(places, found):
            place[:3, :3], place[:3, 3] = turn @ R @ turn.T, turn @ p
        job.arrays[f"{item}/places"] = places
        job.tables["items"][-1]["frames"] = keys[: len(found)]


def _add_deforming(
    job: Job, solid: Solid, mesh: TriangleMesh, poses: dict[int, ObstaclePoses], numbers: list[int], turn: Floats,
    size: float,
) -> None:  # fmt: skip
    """An obstacle that deforms: a mesh for each frame, with the velocities of its vertices, which stands still."""
    for k, number in enumerate(numbers):
        each = poses[number]
        R, p = solid.place(each)
        name = solid.name if len(numbers) == 1 else f"{solid.name} frame {number}"
        item = _add_solid(job, name, placed(solid.shaped(mesh, each), R, p), solid.finish, turn, size)
        x, v = each.vertices[solid.number]
        turning = np.cross(each.angular_velocity[solid.number], x @ R.T)
        _set_velocity(job, item, v @ R.T + turning + each.velocity[solid.number], turn)
        if len(numbers) > 1:
            until = numbers[k + 1] if k + 1 < len(numbers) else number + 1
            job.tables["items"][-1]["only"] = [number, until]


def _add_solid(job: Job, name: str, mesh: TriangleMesh, finish: Finish, turn: Floats, size: float) -> str:
    """An obstacle; an imported mesh has its own vertices, normals and texture coordinates at the corners of its
    triangles, and its own materials."""
    painted = mesh.colors is not None
    parts = mesh.parts(name, finish)
    looks = [_look(job, cover.finish, painted, size, cover.texture, cover.name) for cover, _ in parts]
    item = _item(job, name, "mesh", looks[0], None)
    if mesh.own is None:
        _set_mesh(job, item, mesh, turn)
        return item
    vertices, triangles = mesh.welded()
    corners = mesh.triangles.ravel()
    job.arrays[f"{item}/vertices"], job.arrays[f"{item}/triangles"] = vertices @ turn.T, triangles
    job.arrays[f"{item}/corner normals"] = mesh.normals[corners] @ turn.T
    if mesh.uv is not None:
        job.arrays[f"{item}/uv"] = mesh.uv[corners]
    if mesh.colors is not None:
        job.arrays[f"{item}/corner colors"] = mesh.colors[corners]
    if mesh.cover is not None:
        job.tables["items"][-1]["looks"] = looks
        shown = [mesh.covers.index(cover) for cover, _ in parts]
        job.arrays[f"{item}/cover"] = np.searchsorted(shown, mesh.cover).astype(np.int32)
    return item


def _item(job: Job, name: str, kind: str, look: str, only: list[int] | None) -> str:
    key = str(len(job.tables["items"]))
    job.tables["items"].append({"key": key, "name": name, "kind": kind, "look": look, "only": only, "frames": []})
    return key


def _set_mesh(job: Job, item: str, mesh: Any, turn: Floats) -> None:
    job.arrays[f"{item}/vertices"] = mesh.vertices @ turn.T
    job.arrays[f"{item}/normals"] = mesh.normals @ turn.T
    job.arrays[f"{item}/triangles"] = mesh.triangles


def _set_velocity(job: Job, item: str, v: Floats | None, turn: Floats) -> None:
    """The velocities of the vertices [m/s], by which Cycles blurs what has other vertices in every frame."""
    if v is not None:
        job.arrays[f"{item}/v"] = v @ turn.T


def _look(
    job: Job, finish: Finish, is_painted: bool, size: float, texture: Texture | None = None, wanted: str = "look"
) -> str:
    """The name of a material with this finish, which is created if needed, called `wanted` if that is free."""
    table = look_table(finish, size, is_painted)
    if texture is not None:
        key = f"texture/{hashlib.sha256(texture.data).hexdigest()[:16]}{texture.suffix}"
        job.arrays[key] = np.frombuffer(texture.data, np.uint8)
        table["texture"] = key
    for name, known in job.tables["looks"].items():
        if known == table:
            return str(name)
    name = wanted if wanted not in job.tables["looks"] else f"{wanted} {len(job.tables['looks'])}"
    job.tables["looks"][name] = table
    return name


def look_table(finish: Finish, size: float, is_painted: bool) -> dict[str, Any]:
    """The finish as parameters of Blender's principled shader, for a scene of `size` [m]."""
    # clear matter is tinted inside, not where light goes in and comes out
    pale = 1.0 if finish.transparency > 0.5 else 0.6 * finish.transparency
    return {
        "color": [channel + pale * (1.0 - channel) for channel in finish.color],
        "roughness": finish.roughness,
        "metallic": finish.metallic,
        "transparency": finish.transparency,
        "subsurface": finish.subsurface * (1.0 - finish.transparency),
        "refraction": REFRACTION["clear" if finish.transparency > 0.5 else "solid"],
        # light goes further the less of it is absorbed
        "radius": [0.3 + 0.7 * channel for channel in finish.color],
        "depth": SUBSURFACE_DEPTH * size,
        "absorption": _absorption(finish, size) if finish.transparency > 0.5 else None,
        "bubbles": BUBBLES * size if finish.subsurface >= 0.6 and finish.roughness >= 0.4 and not is_painted else 0.0,
        "colored": is_painted,
    }


def _absorption(finish: Finish, size: float) -> dict[str, Any]:
    """Colour and density [1/m] of Blender's absorption, exp(−density (1 − colour) d): light has the colour of the body
    after TINTED times the size of the scene."""
    rate = -np.log(np.clip(finish.color, 0.02, 0.98)) / (TINTED * size)
    return {"density": float(rate.max()), "color": (1.0 - rate / rate.max()).tolist()}


def _view_key(view: View) -> tuple[Any, ...]:
    return (*view.position, *view.target, *view.up, view.angle, view.aperture, view.focus)


def view_table(view: View, turn: Floats) -> dict[str, Any]:
    return {
        "position": (turn @ view.position).tolist(),
        "target": (turn @ view.target).tolist(),
        "up": (turn @ view.up).tolist(),
        "angle": view.angle,
        "aperture": view.aperture,
        "focus": view.focus,
    }


def lens(view: View) -> View:
    """The view through a lens of moderate width, if the scene gives none."""
    if view.aperture > 0:
        return view
    distance = float(np.linalg.norm(view.target - view.position))
    return view._replace(aperture=APERTURE * distance, focus=distance)


def lamps(middle: Floats, up: Floats, view: View, turn: Floats, size: float) -> list[dict[str, Any]]:
    """A large lamp from the upper left, a weaker one from the right, and one from behind that lights the outline."""
    back = view.position - view.target
    back = back - (back @ up) * up
    back = back / (float(np.linalg.norm(back)) or 1.0)
    side = np.cross(up, back)
    placed = (
        ("key", 0.65 * up + 0.75 * back - 0.85 * side, 2.6, 1.2, KEY, (1.0, 0.96, 0.9)),
        ("fill", 0.5 * up + 0.6 * back + 0.9 * side, 1.8, 1.2, FILL, (0.86, 0.93, 1.0)),
        ("rim", 0.55 * up - 1.0 * back + 0.6 * side, 1.7, 0.8, RIM, (1.0, 1.0, 1.0)),
    )
    found = []
    for name, direction, away, wide, irradiance, color in placed:
        distance = away * size
        position = middle + distance * direction / np.linalg.norm(direction)
        # a lamp of power P that shines by Lambert's law gives an irradiance of P/(π d²) straight ahead
        power = irradiance * np.pi * distance**2
        found.append(
            {
                "name": name, "position": (turn @ position).tolist(), "target": (turn @ middle).tolist(),
                "size": wide * size, "power": power, "color": list(color),
                "reaches": "all" if name == "key" else "things",
            }
        )  # fmt: skip
    return found


def _ground(drawer: SpaceDrawer, turn: Floats, size: float) -> dict[str, Any]:
    middle = 0.5 * (drawer.lower + drawer.upper)
    away = drawer.view.target - drawer.view.position
    away = away - (away @ drawer.up) * drawer.up
    away = away / (float(np.linalg.norm(away)) or 1.0)
    middle = middle + ((drawer.ground or 0.0) - middle @ drawer.up) * drawer.up
    return {
        "middle": (turn @ middle).tolist(),
        "far": 40 * size,
        "away": (turn @ away).tolist(),
        "fade": [FADE[0] * size, FADE[1] * size],
        "look": look_table(drawer.soil, size, False),
    }
