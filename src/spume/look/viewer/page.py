"""A self-contained page: runs packed into one HTML file that needs no server and no other files."""

import base64
import hashlib
import html
import json
import re
import zlib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.extras import require
from spume.frames.poses import ObstaclePoses, poses_in_frames
from spume.frames.reader import BodySkin
from spume.frames.selection import select_frames
from spume.look.finish import Finish, ground_finish
from spume.look.ground import ground_square
from spume.look.obstacles import Solid, ground_obstacle
from spume.look.pictures.camera import automatic_angle, automatic_view, scene_view
from spume.look.pictures.lettering import MAP
from spume.look.textures import painted
from spume.look.triangle_mesh import TriangleMesh
from spume.look.viewer.watched_run import MATERIAL, Show, Shown, WatchedRun, watch
from spume.scene.overrides import Changes
from spume.scene.surroundings import materials
from spume.srgb import to_srgb
from spume.whole_files import whole_file
from spume.work import each_frame

POINTS = 40_000
"""Maximum number of points packed per frame; of more, an even selection."""
STEPS = 65535
ASPECT = 1.4
"""Of the picture in a page, of which the controls take a part."""
MARK = re.compile(r"@(TITLE|STYLE|DATA|SCRIPT|HASH)@")


def write_page(
    folders: list[Path],
    file: Path,
    frames: str | None = None,
    shows: tuple[Show, ...] = ("surface", "points"),
    skin: BodySkin = "embedded",
    looks: Changes = (),
) -> int:
    """Write the runs in `folders` to one HTML file; returns its size [bytes]."""
    matplotlib = require("matplotlib", "colouring a page")
    runs = [_run(watch(folder, skin, looks), frames, shows) for folder in folders]
    ramp = np.asarray(matplotlib.colormaps[MAP](np.linspace(0, 1, 256)))[:, :3]
    data = {
        "runs": runs,
        "map": np.round(255 * ramp).astype(int).tolist(),
    }
    page = files("spume.look.viewer") / "template"
    script = f"\n{(page / 'page.js').read_text()}\n"
    parts = {
        "TITLE": html.escape(runs[0]["title"]),
        "STYLE": (page / "page.css").read_text(),
        # Any < inside the data may be the beginning of a tag or of a remark that ends the script that holds them.
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        "SCRIPT": script,
        # The browser runs this script and no other.
        "HASH": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
    # In one pass, because the text that replaces one mark may look like another mark.
    text = MARK.sub(lambda found: parts[found[1]], (page / "page.html").read_text())
    with whole_file(file) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return file.stat().st_size


def _run(watched: WatchedRun, frames: str | None, shows: tuple[Show, ...]) -> dict[str, Any]:
    run = watched.run
    numbers = select_frames(frames, len(run))
    for name in watched.names:
        watched.range(name)
    kinds = [show for show in shows if show == "points" or watched.spatial]
    times = [run.diagnostics[number]["time"] for number in numbers]
    poses = poses_in_frames(run, numbers)
    series = {name: [None if np.isnan(v) else v for v in values] for name, values in watched.series().items()}
    scene = run.scene
    return {
        "name": run.name,
        "title": run.title,
        "numbers": numbers,
        "times": times,
        "rate": float(scene.frame_rate) * (len(numbers) - 1) / max(numbers[-1] - numbers[0], 1) or 1.0,
        "names": watched.names,
        "limits": {name: watched.range(name) for name in watched.names},
        "colors": watched.colors.tolist(),
        "looks": [{"opacity": each.opacity, "roughness": each.roughness} for each in watched.finishes],
        "materials": [material.name for material in materials(scene)],
        "shows": {show: {"frames": _frames(watched, numbers, show)} for show in kinds},
        "solids": [part for k in range(len(watched.solids)) for part in _solid(watched, k, poses)],
        "ground": _ground(watched),
        "lower": watched.lower.tolist(),
        "upper": watched.upper.tolist(),
        "up": watched.up.tolist(),
        "flat": not watched.spatial,
        "view": _view(watched),
        "series": series,
    }


def _view(watched: WatchedRun) -> dict[str, Any] | None:
    """Where the page looks from at first: the scene's camera, or that of pictures; None for a 2D run."""
    if not watched.spatial:
        return None
    own = scene_view(watched.run.scene)
    angle = automatic_angle(watched.run.scene)
    view = own or automatic_view(watched.lower, watched.upper, watched.up, ASPECT, angle)
    return {"eye": view.position.tolist(), "target": view.target.tolist(), "angle": view.angle}


def _frames(watched: WatchedRun, numbers: list[int], show: Show) -> list[list[dict[str, Any]]]:
    return list(each_frame(partial(_frame, watched, show), numbers, f"pack {show}").values())


def _frame(watched: WatchedRun, show: Show, number: int) -> list[dict[str, Any]]:
    """The populations of a frame, packed one by one."""
    return [_population(watched, shown) for shown in watched.frame(number, show, watched.names).values()]


def _population(watched: WatchedRun, shown: Shown) -> dict[str, Any]:
    if len(shown.triangles) == 0 and len(shown.vertices) > POINTS:
        chosen = np.linspace(0, len(shown.vertices) - 1, POINTS).astype(int)
        values = {name: each[chosen] for name, each in shown.values.items()}
        shown = shown._replace(vertices=shown.vertices[chosen], values=values)
    scaled = {name: _scaled(values, name, watched) for name, values in shown.values.items()}
    plain = None if shown.plain is None else [part / 255 for part in shown.plain]
    return pack(shown.vertices, shown.triangles, shown.normals, scaled) | {"pointSize": shown.spacing, "plain": plain}


def _scaled(values: NDArray[Any], name: str, watched: WatchedRun) -> NDArray[np.uint8]:
    """A quantity in 256 steps between its limits; materials keep their numbers."""
    if name == MATERIAL:
        return np.clip(np.round(values), 0, 255).astype(np.uint8)
    low, high = watched.range(name)
    return np.round(255 * np.clip((np.asarray(values, float) - low) / ((high - low) or 1.0), 0, 1)).astype(np.uint8)


def pack(
    vertices: NDArray[Any], triangles: NDArray[Any], normals: NDArray[Any], values: dict[str, NDArray[np.uint8]]
) -> dict[str, Any]:
    """Vertices in 16 bits within their box, normals in 8, quantities in 8; all together compressed, as text."""
    lower = vertices.min(axis=0) if len(vertices) else np.zeros(3)
    extent = np.maximum(vertices.max(axis=0) - lower, 1e-12) if len(vertices) else np.ones(3)
    places = np.zeros((len(vertices), 4), np.uint16)
    places[:, :3] = np.round(STEPS * (vertices - lower) / extent)
    arrays: dict[str, NDArray[Any]] = {"places": places}
    if len(triangles):
        directions = np.zeros((len(vertices), 4), np.int8)
        directions[:, :3] = np.round(127 * normals)
        arrays |= {"normals": directions, "triangles": triangles.astype(np.uint32)}
    arrays |= {f"value {name}": each for name, each in values.items()}
    body, parts = b"", {}
    for name, array in arrays.items():
        parts[name] = (len(body), len(body) + array.nbytes)
        body += array.tobytes()
        body += bytes(-len(body) % 4)
    return {
        "vertices": len(vertices),
        "lower": np.asarray(lower, float).tolist(),
        "extent": np.asarray(extent, float).tolist(),
        "parts": parts,
        "bytes": base64.b64encode(zlib.compress(body, 6)).decode(),
    }


def _solid(watched: WatchedRun, index: int, poses: list[ObstaclePoses]) -> list[dict[str, Any]]:
    """An obstacle in parts of one colour; a textured part has the mean colour of its vertices."""
    mesh, solid = watched.meshes[index], watched.solids[index]
    places = []
    for each in poses:
        R, p = solid.place(each)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = R, p
        places.append(matrix.T.ravel().tolist())
    if not solid.deforms(poses[0]):
        return _parts(mesh, solid, places)
    # a mesh for each frame, which has no size in the others
    nowhere = np.diag([0.0, 0.0, 0.0, 1.0]).ravel().tolist()
    found = []
    for k, each in enumerate(poses):
        seen = [place if j == k else nowhere for j, place in enumerate(places)]
        found += _parts(solid.shaped(mesh, each), solid, seen)
    return found


def _parts(mesh: TriangleMesh, solid: Solid, places: list[list[float]]) -> list[dict[str, Any]]:
    found = []
    for part, finish in painted(mesh, solid.name, solid.finish):
        shown = finish if part.colors is None else finish._replace(color=tuple(part.colors.mean(axis=0).tolist()))
        about = {"places": places, "color": _tint(shown), "opacity": shown.opacity, "roughness": shown.roughness}
        found.append(pack(part.vertices, part.triangles, part.normals, {}) | about)
    return found


def _tint(finish: Finish) -> list[float]:
    shown: list[float] = (to_srgb(np.array(finish.color)) / 255).tolist()
    return shown


def _ground(watched: WatchedRun) -> dict[str, Any] | None:
    """A square under the run."""
    if watched.ground is None or not watched.spatial:
        return None
    up, reach = watched.up, 1.2 * float(np.max(watched.upper - watched.lower))
    square = ground_square(up, watched.ground, 0.5 * (watched.lower + watched.upper), reach)
    finish = ground_finish(watched.run.scene, ground_obstacle(watched.run.scene, up))
    return pack(square.vertices, square.triangles, square.normals, {}) | {"color": _tint(finish)}
