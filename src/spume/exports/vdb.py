"""OpenVDB: a file of volumes for each frame, written by Blender's own module.

fog       fraction of space filled by the points, spread over the eight nodes around each (trilinear weights)
velocity  velocity [m/s], the average of the points by mass with the same weights
surface   level set of the skins, in a band of three voxels on both sides

Voxels are as wide as the distance between points; axes are Blender's, z up, and lengths are in metres.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.exports.contents import Contents, Piece
from spume.exports.remark import is_current, leave_remark
from spume.frames.extent import point_spacing, run_dimension
from spume.frames.names import Names
from spume.frames.populations import PopulationArrays
from spume.frames.quantities import volumes
from spume.look.blender.process import needed_blender, run_script
from spume.look.blender.studio import to_blender
from spume.whole_files import whole_file
from spume.work import each_frame

Floats = NDArray[np.float64]
MOST_VOXELS = 100_000_000
"""Largest number of voxels of the box around the points."""
PURPOSE = "writing OpenVDB"


class Splat:
    """Points on the nodes of a lattice, whose nodes are at integer multiples of the spacing."""

    def __init__(self, x: Floats, spacing: float) -> None:
        self.spacing = spacing
        self.first = np.floor(x.min(axis=0) / spacing).astype(np.int64)
        self.shape = np.floor(x.max(axis=0) / spacing).astype(np.int64) + 2 - self.first
        if np.prod(self.shape.astype(float)) > MOST_VOXELS:
            raise SceneError(
                f"the points are in a box of {' × '.join(str(n) for n in self.shape)} voxels of {spacing:.3g} m, and "
                f"OpenVDB files of more than {MOST_VOXELS:,} are not written"
            )
        place = x / spacing - self.first
        low = np.floor(place).astype(np.int64)
        part = place - low
        corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        self._index = [np.ravel_multi_index(tuple((low + corner).T), tuple(self.shape)) for corner in corners]
        self._weight = [np.prod(np.where(corner, part, 1.0 - part), axis=1) for corner in np.array(corners)]

    def spread(self, values: Floats) -> Floats:
        """The sum of the values of the points at each node."""
        total = np.zeros(int(np.prod(self.shape)))
        for index, weight in zip(self._index, self._weight):
            total += np.bincount(index, weight * values, len(total))
        return total.reshape(self.shape)


def write_vdb(contents: Contents, folder: Path, processes: int | None = None, again: bool = False) -> int:
    """Write the frames that are missing or out of date; returns how many were written."""
    if run_dimension(contents.run) == 2:
        raise SceneError(f"'{contents.run.path}' is 2D, and volumes can be written only for 3D runs")
    needed_blender(PURPOSE)
    folder.mkdir(parents=True, exist_ok=True)
    task = partial(_write, contents, folder, again)
    return sum(each_frame(task, contents.numbers, "export", processes or 1).values())


def frame_file(contents: Contents, folder: Path, number: int) -> Path:
    """The file of a frame."""
    return folder / f"{contents.name}_{number:05d}.vdb"


def _write(contents: Contents, folder: Path, again: bool, number: int) -> int:
    file = frame_file(contents, folder, number)
    one = Contents(contents.run, [number], contents.what, contents.fields)
    recipe = one.recipe("vdb")
    if not again and is_current(file, recipe):
        return 0
    turn = to_blender(contents.up)
    grids, arrays = _clouds(contents, number, turn)
    for piece in contents.pieces(number, tensors=False) if contents.what == "surface" else ():
        if piece.triangles is not None and len(piece.triangles):
            name = _named(piece, len(contents.piece_names))
            grids.append({"name": name, "kind": "polygons", "spacing": piece.spacing})
            arrays |= {
                f"0/{name}/x": (piece.x @ turn.T).astype(np.float32),
                f"0/{name}/triangles": piece.triangles.astype(np.uint32),
            }
    with whole_file(file) as unfinished:
        job = {"files": [{"key": "0", "out": str(unfinished.resolve()), "grids": grids}]}
        run_script("volumes", job, arrays, PURPOSE)
    leave_remark(file, recipe)
    return 1


def _named(piece: Piece, count: int) -> str:
    return "surface" if count == 1 else piece.name


def _clouds(contents: Contents, number: int, turn: Floats) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """The grids of the points of a frame; those of several populations have their names."""
    clouds = [each for each in contents.run[number].of_kind("points") if len(each["x"])]
    grids: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    names = Names()
    for cloud in clouds:
        spacing = point_spacing(contents.run, cloud.declared)
        splat = Splat(np.asarray(cloud["x"], dtype=np.float64) @ turn.T, spacing)
        end = "" if len(clouds) == 1 else f"_{names.add(cloud.declared.name)}"
        fog = splat.spread(np.asarray(volumes(cloud, spacing), dtype=np.float64)) / spacing**3
        about = {"spacing": spacing, "first": splat.first.tolist(), "background": 0.0}
        grids.append({"name": f"fog{end}", "kind": "fog", **about})
        arrays[f"0/fog{end}"] = fog.astype(np.float32)
        if "v" in cloud:
            arrays[f"0/velocity{end}"] = _velocity(cloud, splat, turn).astype(np.float32)
            grids.append({"name": f"velocity{end}", "kind": "vector", **about})
    return grids, arrays


def _velocity(cloud: PopulationArrays, splat: Splat, turn: Floats) -> Floats:
    v = np.asarray(cloud["v"], dtype=np.float64) @ turn.T
    mass = np.asarray(cloud["mass"], dtype=np.float64) if "mass" in cloud else np.ones(len(v))
    total = splat.spread(mass)
    momentum = np.stack([splat.spread(mass * v[:, k]) for k in range(3)], axis=-1)
    return np.asarray(momentum / np.where(total > 0.0, total, 1.0)[..., None])
