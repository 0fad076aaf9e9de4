"""Meshes that deform: a sequence of mesh files with the same triangles, or the first mesh of an Alembic or USD file."""

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spume.errors import MissingExtra, SceneError
from spume.geometry.mesh_files.animated import read_alembic, read_usd
from spume.geometry.mesh_files.mesh_file import Floats, MeshFile
from spume.geometry.mesh_files.reading import check_mesh_file, read_mesh_file

ANIMATED = {".abc": read_alembic, ".usd": read_usd, ".usda": read_usd, ".usdc": read_usd}
"""Readers of files that contain all positions."""


class MeshSequence(NamedTuple):
    """Triangles whose vertices move."""

    first: MeshFile
    """the mesh at the first time, with what covers it"""
    times: Floats
    """(T,), increasing, from the first on [s]"""
    vertices: Floats
    """(T, n, 3), in the file's unit of length"""

    def at(self, time: float) -> tuple[Floats, Floats]:
        """Positions and velocities (n, 3) at a time [s] since the first: a cubic between the files, and at rest before
        the first and after the last."""
        t, x = self.times, self.vertices
        if not t[0] <= time < t[-1]:
            return x[0 if time < t[0] else -1], np.zeros_like(x[0])
        k = int(np.searchsorted(t, time, side="right")) - 1
        h = float(t[k + 1] - t[k])
        s = (time - float(t[k])) / h
        v0, v1 = (self._velocity(each) for each in (k, k + 1))
        rise = x[k + 1] - x[k]
        # Hermite: x0 + s h v0 + s² (3 rise − h (2 v0 + v1)) + s³ (h (v0 + v1) − 2 rise)
        square, cube = 3.0 * rise - h * (2.0 * v0 + v1), h * (v0 + v1) - 2.0 * rise
        position = x[k] + s * (h * v0 + s * (square + s * cube))
        return np.asarray(position), np.asarray(v0 + (s / h) * (2.0 * square + 3.0 * s * cube))

    def _velocity(self, k: int) -> Floats:
        low, high = max(k - 1, 0), min(k + 1, len(self.times) - 1)
        return np.asarray((self.vertices[high] - self.vertices[low]) / (self.times[high] - self.times[low]))


def sequence_files(files: str, folder: Path | None = None) -> list[Path]:
    """The files that a pattern such as "flag_*.obj" stands for, in the order of their numbers; or the one file that is
    named."""
    path = (folder or Path()) / files
    if "*" not in path.name:
        return [path.absolute()]
    try:
        found = [each for each in path.parent.glob(path.name) if not each.name.startswith(".")]
    except (OSError, ValueError) as error:
        raise SceneError(f"the files {str(path)!r:.200} cannot be listed: {error}") from None
    if len(found) < 2:
        count = "only one file is" if found else "no files are"
        raise SceneError(f"{count} called '{path}', and a mesh that deforms needs at least two")
    return sorted((each.absolute() for each in found), key=_order)


def _order(file: Path) -> tuple[list[int], str]:
    return [int(digits) for digits in re.findall(r"\d+", file.stem)], file.name


def read_sequence(files: str, frame_rate: float | None, folder: Path | None = None) -> MeshSequence:
    """The positions of a mesh that deforms. `frame_rate`: files per second, 24 if None; a file with all positions has
    its own times. Arrays are shared between calls."""
    paths = sequence_files(files, folder)
    if len(paths) == 1 and paths[0].suffix.lower() not in ANIMATED:
        raise SceneError(
            f"the files '{files}' of a mesh that deforms should be a pattern such as 'flag_*.obj', or an Alembic or "
            "USD file"
        )
    return _read(tuple(paths), tuple(_stamp(path) for path in paths), frame_rate)


def _stamp(path: Path) -> int:
    if path.suffix.lower() not in ANIMATED:
        return check_mesh_file(str(path), None)[1]
    if not path.is_file():
        raise SceneError(f"the mesh file '{path}' does not exist")
    return path.stat().st_mtime_ns


@lru_cache(maxsize=4)
def _read(paths: tuple[Path, ...], stamps: tuple[int, ...], frame_rate: float | None) -> MeshSequence:
    if len(paths) > 1:
        found = _from_files(paths, 24.0 if frame_rate is None else frame_rate)
    elif frame_rate is not None:
        raise SceneError(f"'{paths[0].name}' has times of its own: leave out 'frame_rate'")
    else:
        try:
            found = MeshSequence(*ANIMATED[paths[0].suffix.lower()](paths[0]))
        except (MissingExtra, SceneError):
            raise
        except Exception as error:  # the libraries pass on any exception
            reason = " ".join(str(error).split()) or type(error).__name__
            raise SceneError(f"the mesh file '{paths[0]}' cannot be read: {reason:.200}") from None
    if not np.isfinite(found.vertices).all():
        raise SceneError(f"'{paths[0]}' and the files after it have vertices that are not numbers")
    found.vertices.setflags(write=False)
    return found


def _from_files(paths: tuple[Path, ...], frame_rate: float) -> MeshSequence:
    first = read_mesh_file(str(paths[0]))
    vertices = np.empty((len(paths), *first.vertices.shape))
    for k, path in enumerate(paths):
        mesh = first if k == 0 else read_mesh_file(str(path))
        if not np.array_equal(first.triangles, mesh.triangles) or mesh.vertices.shape != first.vertices.shape:
            raise SceneError(
                f"'{path.name}' has {len(mesh.vertices)} vertices and {len(mesh.triangles)} triangles that are not "
                f"those of '{paths[0].name}' ({len(first.vertices)} and {len(first.triangles)}): the files of a mesh "
                "that deforms have the same triangles"
            )
        vertices[k] = mesh.vertices
    return MeshSequence(first, np.arange(len(paths)) / frame_rate, vertices)
