"""A folder that the extension for Blender reads: `scene.json`, and a file of arrays for each frame.

Coordinates are Blender's: metres, z up. `scene.json` says what there is (pieces, materials, obstacles) and changes only
with the scene. `frame_00012.npz` has, for each piece, `NAME/x`, `NAME/v`, `NAME/triangles`, `NAME/material` (one for
each triangle or point), `NAME/color` of points and of the vertices of painted skins, and `NAME/@FIELD` for scalars; for
each obstacle `NAME/place`, a 4 × 4 matrix, and, if it deforms, `NAME/x` and `NAME/v`; and `camera/place` and
`camera/angle` [rad].
"""

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.cores import cores
from spume.exports.axes import camera_pose
from spume.exports.contents import Contents, Piece
from spume.frames.names import Names
from spume.look.blender.studio import look_table, to_blender
from spume.look.finish import Finish
from spume.look.obstacles import Solid
from spume.look.triangle_mesh import TriangleMesh
from spume.runs.folder import RunFolder
from spume.whole_files import whole_file
from spume.work import each_frame

Floats = NDArray[np.float64]
FORMAT = 1
"""Incremented whenever older folders must be written again; the extension reads this one."""
SCENE = "scene.json"


def frame_file(folder: Path, number: int) -> Path:
    """The file of a frame."""
    return folder / f"frame_{number:05d}.npz"


def write_cache(contents: Contents, folder: Path, processes: int | None = None, again: bool = False) -> int:
    """Write the frames that are missing or out of date, then the scene; returns how many frames were written.

    The scene comes first, too, so that a program that looks on can show the frames that there are."""
    folder.mkdir(parents=True, exist_ok=True)
    scene, arrays, listed = _scene(contents)
    recipe = hashlib.sha256(json.dumps([FORMAT, contents.what, contents.fields, scene]).encode()).hexdigest()[:16]
    for texture, data in arrays.pop("textures", {}).items():
        with whole_file(folder / texture) as unfinished:
            unfinished.write_bytes(data)
    _save(folder / "obstacles.npz", arrays)
    with whole_file(folder / SCENE) as unfinished:
        unfinished.write_text(json.dumps(scene | {"recipe": recipe}, indent=1))
    solids = [(entry["name"], solid) for entry, solid in zip(scene["obstacles"], listed)]
    task = partial(_write, contents, folder, recipe, solids, again)
    fitting = 1 if contents.what == "points" else min(2, cores())
    return sum(each_frame(task, contents.numbers, "export", processes or fitting).values())


def _write(
    contents: Contents, folder: Path, recipe: str, solids: list[tuple[str, Solid]], again: bool, number: int
) -> int:
    file = frame_file(folder, number)
    if not again and _is_current(contents, file, recipe, number):
        return 0
    turn = to_blender(contents.up)
    arrays: dict[str, NDArray[Any]] = {"time": np.array(contents.time(number))}
    for piece in contents.pieces(number, tensors=False):
        arrays |= {f"{piece.name}/{name}": values for name, values in _arrays(piece, turn).items()}
    poses = contents.poses[contents.numbers.index(number)]
    for name, solid in solids:
        R, p = solid.place(poses)
        arrays[f"{name}/place"] = _matrix(turn @ R @ turn.T, turn @ p)
        if solid.deforms(poses):
            x, v = poses.vertices[solid.number]
            arrays |= {f"{name}/x": _single(x @ turn.T), f"{name}/v": _single(v @ turn.T)}
    if (view := contents.views().get(number)) is not None:
        R, p = camera_pose(view)
        arrays["camera/place"] = _matrix(turn @ R, turn @ p)
        arrays["camera/angle"] = np.radians(np.array(view.angle))
        arrays["camera/focus"] = np.array(float(np.linalg.norm(view.target - view.position)))
    arrays["recipe"] = np.array(recipe)
    _save(file, arrays)
    return 1


def _is_current(contents: Contents, file: Path, recipe: str, number: int) -> bool:
    if not file.exists() or file.stat().st_mtime < RunFolder(contents.run.path).frame(number).stat().st_mtime:
        return False
    try:
        with np.load(file) as found:
            return bool(str(found["recipe"]) == recipe)
    except (OSError, ValueError, KeyError, EOFError):  # cut off, or of another version
        return False


def _save(file: Path, arrays: dict[str, NDArray[Any]]) -> None:
    with whole_file(file) as unfinished, open(unfinished, "wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]  # names of arrays are never allow_pickle


def _arrays(piece: Piece, turn: Floats) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {"x": _single(piece.x @ turn.T)}
    if "v" in piece.fields:
        found["v"] = _single(piece.fields["v"] @ turn.T)
    if piece.triangles is not None:
        found |= {"triangles": piece.triangles, "material": piece.kinds[piece.triangles[:, 0]].astype(np.int32)}
        if piece.normals is not None:
            found["normals"] = _single(piece.normals @ turn.T)
    else:
        found["material"] = piece.kinds.astype(np.int32)
    if piece.colors is not None:
        found["color"] = _single(piece.colors)
    if piece.lines is not None:
        found["lines"] = piece.lines
    for name, values in piece.fields.items():
        if values.ndim == 1 and name not in ("material", "body"):
            found[f"@{name}"] = values.astype(np.int32 if values.dtype.kind in "iu" else np.float32)
    return found


def _scene(contents: Contents) -> tuple[dict[str, Any], dict[str, Any], list[Solid]]:
    """The tables, the arrays of obstacles with the bytes of textures, and the obstacles."""
    run, turn = contents.run, to_blender(contents.up)
    lower, upper = contents.box
    size = float(np.linalg.norm(upper - lower)) or 1.0
    first = contents.pieces(contents.numbers[0], tensors=False)
    pieces = [
        {
            "name": piece.name,
            "kind": "lines" if piece.lines is not None else "points" if piece.triangles is None else "mesh",
            "materials": list(piece.materials),
            "spacing": piece.spacing,
        }
        for piece in first
    ]
    materials = [
        {"name": name, **look_table(finish, size, contents.has_paint)}
        for name, (_, finish) in zip(contents.material_names, contents.materials)
    ]
    arrays: dict[str, Any] = {"textures": {}}
    names, obstacles, solids = Names("camera", "ground", *contents.piece_names), [], []
    for solid, mesh in contents.obstacles():
        solids.append(solid)
        obstacles.append(_obstacle(contents, names.add(solid.name), solid, mesh, turn, size, arrays))
    ground = contents.ground()
    if ground is not None:
        arrays |= {"ground/x": _single(ground.vertices @ turn.T), "ground/triangles": ground.triangles}
    return (
        {
            "format": FORMAT,
            "name": contents.name,
            "title": run.title,
            "rate": float(run.scene.frame_rate),
            "size": size,
            "lower": np.minimum(turn @ lower, turn @ upper).tolist(),
            "upper": np.maximum(turn @ lower, turn @ upper).tolist(),
            "pieces": pieces,
            "materials": materials,
            "obstacles": obstacles,
            "ground": None if ground is None else _look(contents.ground_finish, size),
        },
        arrays,
        solids,
    )


def _obstacle(
    contents: Contents, name: str, solid: Solid, mesh: TriangleMesh, turn: Floats, size: float, arrays: dict[str, Any]
) -> dict[str, Any]:
    vertices, triangles = mesh.welded()
    arrays |= {f"{name}/x": _single(vertices @ turn.T), f"{name}/triangles": triangles}
    corners = mesh.triangles.ravel()
    arrays[f"{name}/normals"] = _single(mesh.normals[corners] @ turn.T)
    if mesh.uv is not None:
        arrays[f"{name}/uv"] = _single(mesh.uv[corners])
    parts = mesh.parts(solid.name, solid.finish)
    looks = []
    for cover, _ in parts:
        look = {"name": cover.name, **_look(cover.finish, size)}
        if cover.texture is not None:
            file = f"{hashlib.sha256(cover.texture.data).hexdigest()[:16]}{cover.texture.suffix}"
            arrays["textures"][file] = cover.texture.data
            look["texture"] = file
        looks.append(look)
    if mesh.cover is not None:
        shown = [mesh.covers.index(cover) for cover, _ in parts]
        arrays[f"{name}/material"] = np.searchsorted(shown, mesh.cover).astype(np.int32)
    return {"name": name, "title": solid.name, "looks": looks, "deforms": solid.deforms(contents.poses[0])}


def _look(finish: Finish, size: float) -> dict[str, Any]:
    return look_table(finish, size, False)


def _matrix(R: Floats, p: Floats) -> Floats:
    """world = matrix · own, for column vectors as in Blender."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = R, p
    return matrix


def _single(values: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
