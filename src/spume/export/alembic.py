"""Alembic: points or skins, obstacles and camera with time samples in one file (Ogawa), by alembic3d."""

import os
import pickle
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError, SceneError, SpumeError
from spume.export.axes import camera_pose, pose_matrix, upright
from spume.export.contents import Contents, Piece, identifier
from spume.export.remark import is_current, leave_remark
from spume.look.atomic import whole_file
from spume.look.extras import require
from spume.look.work import each_frame
from spume.terminal import readable_size

ASPECT = 16 / 9
"""Of the camera's picture."""


def write_alembic(contents: Contents, file: Path, again: bool = False) -> bool:
    """Write the frames to `file`; returns whether that was needed."""
    require("alembic3d", "writing Alembic")
    recipe = contents.recipe("alembic")
    if not again and is_current(file, recipe):
        return False
    with whole_file(file) as unfinished:
        _write_elsewhere(contents, unfinished, file)
    # Alembic has no room for a remark that its bindings can read.
    leave_remark(file, recipe)
    return True


def _write_elsewhere(contents: Contents, unfinished: Path, file: Path) -> None:
    """Write the file in a separate process, because Alembic terminates its process when it cannot write."""
    command = [sys.executable, "-c", f"from {__name__} import write_as_told; write_as_told()"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    task = pickle.dumps((contents, unfinished))
    ended = subprocess.run(command, input=task, stdout=subprocess.PIPE, env=environment, check=False)
    if ended.stdout:
        raise CacheError(ended.stdout.decode())
    if ended.returncode:
        free = readable_size(shutil.disk_usage(file.parent).free)
        raise CacheError(f"'{file}' cannot be written: Alembic failed, and {free} is free there")


def write_as_told() -> None:
    """Do what `_write_elsewhere` sends; an error of ours goes back as its sentence. Only the progress goes to the error
    stream, where Alembic would leave its last words."""
    contents, file = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(2), "w") as stream:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            _write(contents, file, stream)
        except SpumeError as error:
            sys.stdout.buffer.write(str(error).encode())


def _write(contents: Contents, file: Path, stream: TextIO) -> None:
    from alembic3d import Abc, AbcCoreAbstract, AbcGeom

    times = [contents.time(number) for number in contents.numbers]
    archive = Abc.OArchive(str(file))
    listed = AbcCoreAbstract.TimeVector()
    listed[:] = times
    acyclic = AbcCoreAbstract.TimeSamplingType(AbcCoreAbstract.AcyclicFlag.kAcyclic)
    sampling = AbcCoreAbstract.TimeSampling(acyclic, listed)
    index = archive.addTimeSampling(sampling)
    first = contents.pieces(contents.numbers[0], tensors=False)
    objects = []
    # programs take y to be up in Alembic; what has another axis up stands below a rotation
    top = archive.getTop()
    if contents.up[1] < 0.5:
        top = AbcGeom.OXform(top, "upright")
        _set_matrix(AbcGeom, top, upright(contents.up))
    for piece in first:
        if piece.lines is not None:
            raise SceneError(
                f"'{piece.name}' are lines, which Alembic export does not support: export to usd, vtkhdf, ply or obj"
            )
        kind = AbcGeom.OPoints if piece.triangles is None else AbcGeom.OPolyMesh
        name = contents.name if len(first) == 1 else f"{contents.name}_{identifier(piece.name)}"
        objects.append(kind(top, name, index))
    surroundings = [*_obstacles(AbcGeom, top, contents, index), *_camera(AbcGeom, top, contents, index)]
    schemas = [each.getSchema() for each in objects]
    parameters: list[dict[str, Any]] = [{} for _ in first]
    task = partial(_add, AbcGeom, schemas, parameters, contents, index)
    each_frame(task, contents.numbers, "export", stream=stream)
    # The file is whole once the last of these is gone.
    parameters.clear()
    schemas.clear()
    objects.clear()
    surroundings.clear()
    del top, archive


def _add(
    geom: Any, schemas: list[Any], parameters: list[dict[str, Any]], contents: Contents, index: int, number: int
) -> None:
    for piece, schema, known in zip(contents.pieces(number, tensors=False), schemas, parameters):
        sample = _points(geom, piece) if piece.triangles is None else _mesh(geom, piece, piece.triangles)
        if "v" in piece.fields:
            sample.setVelocities(_vectors(piece.fields["v"]))
        schema.set(sample)
        _add_fields(geom, schema, known, {k: v for k, v in piece.fields.items() if k != "v"}, index)


def _set_matrix(geom: Any, xform: Any, matrix: NDArray[np.float64]) -> None:
    """Add a sample to a transform; rows of `matrix` are the images of the axes and the displacement."""
    import imath

    sample = geom.XformSample()
    sample.setMatrix(imath.M44d(*matrix.ravel().tolist()))
    xform.getSchema().set(sample)


def _moving(geom: Any, parent: Any, name: str, places: list[NDArray[np.float64]], index: int) -> Any:
    """A transform through `places`, at the times of the frames if there are several."""
    xform = geom.OXform(parent, name, index) if len(places) > 1 else geom.OXform(parent, name)
    for place in places:
        _set_matrix(geom, xform, place)
    return xform


def _obstacles(geom: Any, parent: Any, contents: Contents, index: int) -> list[Any]:
    """The obstacles under their motions, and the ground."""
    made: list[Any] = []
    for solid, mesh in contents.obstacles():
        numbers = contents.numbers if solid.motion is not None else contents.numbers[:1]
        places = [pose_matrix(*solid.place(contents.time(number))) for number in numbers]
        xform = _moving(geom, parent, identifier(solid.name), places, index)
        shape = geom.OPolyMesh(xform, f"{identifier(solid.name)}_shape")
        shape.getSchema().set(_triangles(geom, mesh.vertices, mesh.triangles))
        made += [shape, xform]
    height = contents.ground()
    if height is not None and contents.views(1.0):
        ground = geom.OPolyMesh(parent, "ground")
        corners = contents.ground_corners(np.array(contents.box), height)
        ground.getSchema().set(_triangles(geom, corners, np.array([[0, 1, 2], [0, 2, 3]])))
        made.append(ground)
    return made


def _camera(geom: Any, parent: Any, contents: Contents, index: int) -> list[Any]:
    """The camera of the pictures; its lens does not change in time."""
    views = list(contents.views(ASPECT).values())
    if not views:
        return []
    places = [pose_matrix(*camera_pose(view)) for view in views]
    moves = any(not np.array_equal(place, places[0]) for place in places)
    xform = _moving(geom, parent, "camera", places if moves else places[:1], index)
    camera = geom.OCamera(xform, "camera_shape")
    sample = geom.CameraSample()
    wide = 3.6  # cm
    sample.setHorizontalAperture(wide)
    sample.setVerticalAperture(wide / ASPECT)
    sample.setFocalLength(5 * wide / ASPECT / np.tan(np.radians(views[0].angle) / 2))  # mm
    camera.getSchema().set(sample)
    return [camera, xform]


def _points(geom: Any, piece: Piece) -> Any:
    import imath

    ids = piece.fields.get("id", np.arange(len(piece.x)))
    return geom.OPointsSchemaSample(_vectors(piece.x), imath.IntArrayFromBuffer(ids.astype(np.int32)))


def _mesh(geom: Any, piece: Piece, triangles: NDArray[np.int32]) -> Any:
    return _triangles(geom, piece.x, triangles)


def _triangles(geom: Any, x: NDArray[Any], triangles: NDArray[Any]) -> Any:
    import imath

    # Alembic winds faces clockwise.
    corners = imath.IntArrayFromBuffer(np.ascontiguousarray(triangles[:, ::-1].ravel(), dtype=np.int32))
    counts = imath.IntArrayFromBuffer(np.full(len(triangles), 3, np.int32))
    return geom.OPolyMeshSchemaSample(_vectors(x), corners, counts)


def _add_fields(
    geom: Any, schema: Any, parameters: dict[str, Any], fields: dict[str, NDArray[Any]], index: int
) -> None:
    """Scalars of the points, one value for each."""
    import imath

    for name, values in fields.items():
        if values.ndim != 1:
            continue
        if name not in parameters:
            parent = schema.getArbGeomParams()
            scope = geom.GeometryScope.kVertexScope
            parameters[name] = geom.OFloatGeomParam(parent, identifier(name), False, scope, 1, index)
        floats = imath.FloatArrayFromBuffer(np.ascontiguousarray(values, dtype=np.float32))
        parameters[name].set(geom.OFloatGeomParamSample(floats, geom.GeometryScope.kVertexScope))


def _vectors(values: NDArray[Any]) -> Any:
    import imath

    return imath.V3fArrayFromBuffer(np.ascontiguousarray(values, dtype=np.float32))
