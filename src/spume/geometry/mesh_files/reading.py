"""Reads mesh files of every supported format, and refuses what is none in one sentence."""

import stat
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import MissingExtra, SceneError
from spume.extras import require
from spume.geometry.mesh_files.glb import read_glb
from spume.geometry.mesh_files.mesh_file import Floats, MeshFile
from spume.geometry.mesh_files.obj import read_obj
from spume.srgb import to_linear

FORMATS = (".glb", ".obj", ".ply", ".stl")


def check_mesh_file(file: str, folder: Path | None) -> tuple[Path, int]:
    """The path of a mesh file and its time of modification. Raises SceneError unless it is a file of a known format."""
    path = (folder or Path()) / file
    if path.suffix.lower() not in FORMATS:
        raise SceneError(f"the mesh file '{file}' is not an OBJ, PLY, STL or GLB file")
    try:
        found = path.stat()
    except FileNotFoundError:
        raise SceneError(f"the mesh file '{path}' does not exist") from None
    except (OSError, ValueError) as error:  # a cycle of links, a name that is too long or contains NUL
        raise SceneError(f"the mesh file {str(path)!r:.200} cannot be opened: {error}") from None
    if not stat.S_ISREG(found.st_mode):
        raise SceneError(f"the mesh file '{path}' is a folder or a device, not a file")
    return path.absolute(), found.st_mtime_ns


def read_mesh_file(file: str, folder: Path | None = None) -> MeshFile:
    """The contents of a mesh file. Arrays are shared between calls."""
    return _read(*check_mesh_file(file, folder))


@lru_cache(maxsize=16)
def _read(path: Path, stamp: int) -> MeshFile:
    readers = {".obj": read_obj, ".glb": read_glb}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # checked below
            found = readers.get(path.suffix.lower(), _by_trimesh)(path)
    except MissingExtra:
        raise
    except Exception as error:  # readers pass on any exception
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SceneError(f"the mesh file '{path}' cannot be read: {reason:.200}") from None
    faces, vertices = found.triangles, found.vertices
    if len(faces) == 0:
        raise SceneError(f"the mesh file '{path}' holds no triangles")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise SceneError(f"the mesh file '{path}' has triangles with corners that it does not define")
    if not np.isfinite(vertices[faces]).all():
        raise SceneError(f"the mesh file '{path}' has vertices that are not numbers")
    return found


def _by_trimesh(path: Path) -> MeshFile:
    """PLY and STL, which have no materials; the vertices that STL repeats for each triangle become one."""
    trimesh = require("trimesh", "a mesh shape")
    mesh = trimesh.load(path, force="mesh", process=False)
    faces = np.array(getattr(mesh, "faces", np.empty((0, 3))), dtype=np.int64).reshape(-1, 3)
    vertices = np.array(getattr(mesh, "vertices", np.empty((0, 3))), dtype=np.float64).reshape(-1, 3)
    if path.suffix.lower() == ".stl":
        return MeshFile(*_shared(vertices, faces))
    colors: Floats | None = None
    visual: Any = getattr(mesh, "visual", None)
    if getattr(visual, "kind", None) == "vertex":
        colors = to_linear(np.asarray(visual.vertex_colors)[:, :3] / 255)
    return MeshFile(vertices, faces, colors=colors)


def _shared(vertices: Floats, faces: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Each place once, in the order of the file."""
    _, first, number = np.unique(vertices + 0.0, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return vertices[np.sort(first)], rank[number.reshape(-1)][faces]
