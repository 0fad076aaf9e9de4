"""The first mesh of an Alembic or USD file at all its times, where the file's transforms put it."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.extras import require
from spume.geometry.mesh_files.mesh_file import Floats, MeshFile

Animation = tuple[MeshFile, Floats, Floats]
"""The mesh at the first time, the times [s] and the positions (T, n, 3)."""


def read_alembic(path: Path) -> Animation:
    """The first polygon mesh of an Alembic file."""
    require("alembic3d", "a mesh of an Alembic file")
    from alembic3d import Abc, AbcGeom

    archive = Abc.IArchive(str(path))
    found = _first_mesh(AbcGeom, archive.getTop(), [])
    if found is None:
        raise SceneError(f"the Alembic file '{path}' holds no polygon mesh")
    mesh, above = found
    schema = mesh.getSchema()
    times = sorted({time for each in (schema, *above) for time in _times(each)})
    positions, faces = [], None
    for time in times:
        sample = schema.getValue(Abc.ISampleSelector(float(time)))
        x = np.array([tuple(place) for place in sample.getPositions()], dtype=np.float64).reshape(-1, 3)
        if faces is None:
            # Alembic winds faces clockwise
            faces = fans(np.array(sample.getFaceCounts()), np.array(sample.getFaceIndices()))[:, ::-1]
        for xform in reversed(above):
            matrix = np.array(
                [list(row) for row in xform.getValue(Abc.ISampleSelector(float(time))).getMatrix()], dtype=np.float64
            )
            x = x @ matrix[:3, :3] + matrix[3, :3]
        positions.append(x)
    return _animation(path, positions, np.array(times), faces)


def _first_mesh(geom: Any, node: Any, above: list[Any]) -> tuple[Any, list[Any]] | None:
    for child in node.children:
        if geom.IPolyMesh.matches(child.getMetaData()):
            return geom.IPolyMesh(node, child.getName()), above
        here = above
        if geom.IXform.matches(child.getMetaData()):
            here = [*above, geom.IXform(node, child.getName()).getSchema()]
        if (found := _first_mesh(geom, child, here)) is not None:
            return found
    return None


def _times(schema: Any) -> list[float]:
    sampling = schema.getTimeSampling()
    return [float(sampling.getSampleTime(k)) for k in range(max(1, schema.getNumSamples()))]


def read_usd(path: Path) -> Animation:
    """The first mesh of a USD file."""
    require("pxr", "a mesh of a USD file")
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    mesh = next((UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)), None)
    if mesh is None:
        raise SceneError(f"the USD file '{path}' holds no mesh")
    codes = set(mesh.GetPointsAttr().GetTimeSamples())
    prim = mesh.GetPrim()
    while prim and prim.IsA(UsdGeom.Xformable):
        codes |= set(UsdGeom.Xformable(prim).GetTimeSamples())
        prim = prim.GetParent()
    rate, metres = stage.GetTimeCodesPerSecond(), UsdGeom.GetStageMetersPerUnit(stage)
    positions = []
    listed = sorted(codes) or [0.0]
    for code in listed:
        x = np.array(mesh.GetPointsAttr().Get(code), dtype=np.float64).reshape(-1, 3)
        matrix = np.array(mesh.ComputeLocalToWorldTransform(code))
        positions.append(metres * (x @ matrix[:3, :3] + matrix[3, :3]))
    faces = fans(np.array(mesh.GetFaceVertexCountsAttr().Get()), np.array(mesh.GetFaceVertexIndicesAttr().Get()))
    if mesh.GetOrientationAttr().Get() == "leftHanded":
        faces = faces[:, ::-1]
    return _animation(path, positions, np.array(listed) / rate, faces)


def fans(counts: NDArray[Any], corners: NDArray[Any]) -> NDArray[np.int64]:
    """Triangles (t, 3) of polygons with `counts` corners each, as fans around their first corners."""
    counts = counts.astype(np.int64)
    first = np.repeat(np.cumsum(counts) - counts, np.maximum(counts - 2, 0))
    number = np.concatenate([np.arange(count - 2) for count in counts if count > 2] or [np.empty(0, np.int64)])
    return np.stack([corners[first], corners[first + number + 1], corners[first + number + 2]], axis=1).astype(np.int64)


def _animation(path: Path, positions: list[Floats], times: Floats, faces: NDArray[np.int64] | None) -> Animation:
    if len(times) < 2:
        raise SceneError(f"the mesh of '{path}' does not deform: give it as 'mesh'")
    if faces is None or len(faces) == 0:
        raise SceneError(f"the mesh file '{path}' holds no triangles")
    if len({len(x) for x in positions}) > 1 or faces.max() >= len(positions[0]) or faces.min() < 0:
        raise SceneError(f"the mesh of '{path}' has other vertices at other times: it should only move them")
    x = np.array(positions)
    return MeshFile(x[0], np.ascontiguousarray(faces)), times - times[0], x
