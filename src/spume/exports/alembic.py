"""Alembic: points or skins, obstacles and camera with time samples in one file (Ogawa), by alembic3d."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from spume.children import python_command
from spume.errors import CacheError, SceneError
from spume.exports.axes import camera_pose, pose_matrix, upright
from spume.exports.contents import ASPECT, Contents, Piece
from spume.exports.remark import is_current, leave_remark
from spume.extras import require
from spume.frames.names import Names, identifier
from spume.look.finish import Finish
from spume.look.triangle_mesh import TriangleMesh
from spume.terminal import readable_size
from spume.whole_files import whole_file
from spume.work import each_frame

COLOR = "Cd"
"""The colours of points and vertices, as other programs call them."""


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
    command = python_command("-c", f"from {__name__} import write_as_told; write_as_told()")
    with tempfile.NamedTemporaryFile("r", prefix="spume-alembic-", errors="replace") as said:
        task = pickle.dumps((contents, unfinished, said.name))
        ended = subprocess.run(command, input=task, stdout=subprocess.PIPE, check=False)
        if not ended.stdout and not ended.returncode:
            return
        error = pickle.loads(ended.stdout) if ended.stdout else None
        if error is not None and not isinstance(error, RuntimeError):
            raise error
        # the last line of its message is the reason; those above are the functions that led there
        lines = [line.strip() for line in (said.read() if error is None else str(error)).splitlines() if line.strip()]
    words = f"reports '{lines[-1]}'" if lines else f"stopped its process with {ended.returncode}"
    free = readable_size(shutil.disk_usage(file.parent).free)
    raise CacheError(f"'{file}' cannot be written: Alembic {words} ({free} is free there)") from error


def write_as_told() -> None:
    """Do what `_write_elsewhere` sends, and send back the error that was met, if any. Only the progress goes to the
    error stream; Alembic leaves its last words there, too, which are kept in a file."""
    contents, file, said = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(2), "w") as stream:
        os.dup2(os.open(said, os.O_WRONLY), 2)
        try:
            _write(contents, file, stream)
        except Exception as error:  # the process that waits for this one raises it
            sys.stdout.buffer.write(pickle.dumps(error))
            sys.stdout.flush()  # Alembic may still terminate the process


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
    names = Names("ground", "camera")
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
        name = contents.name if len(first) == 1 else f"{contents.name}_{piece.name}"
        objects.append(kind(top, names.add(name), index))
    surroundings = [*_obstacles(AbcGeom, top, contents, index, names), *_camera(AbcGeom, top, contents, index)]
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
        sample = _points(geom, piece) if piece.triangles is None else _mesh(geom, piece.x, piece.triangles)
        if "v" in piece.fields:
            sample.setVelocities(_vectors(piece.fields["v"]))
        schema.set(sample)
        _add_fields(geom, schema, known, {k: v for k, v in piece.fields.items() if k != "v"}, index)
        if piece.colors is not None and contents.has_paint:
            _add_colors(geom, schema, known, piece.colors, index)


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


def _obstacles(geom: Any, parent: Any, contents: Contents, index: int, names: Names) -> list[Any]:
    """The obstacles under their motions, and the ground."""
    made: list[Any] = []
    for solid, mesh in contents.obstacles():
        name = names.add(solid.name)
        places = [pose_matrix(*place) for place in solid.places(contents.poses)]
        xform = _moving(geom, parent, name, places, index)
        if solid.deforms(contents.poses[0]):
            shape = geom.OPolyMesh(xform, f"{name}_shape", index)
            for poses in contents.poses:
                v = poses.vertices[solid.number][1]
                _set_solid(geom, shape.getSchema(), solid.shaped(mesh, poses), v)
        else:
            shape = geom.OPolyMesh(xform, f"{name}_shape")
            _set_solid(geom, shape.getSchema(), mesh)
        _set_parts(geom, shape.getSchema(), mesh, solid.name, solid.finish)
        made += [shape, xform]
    if (ground := contents.ground()) is not None:
        made.append(geom.OPolyMesh(parent, "ground"))
        made[-1].getSchema().set(_mesh(geom, ground.vertices, ground.triangles))
    return made


def _camera(geom: Any, parent: Any, contents: Contents, index: int) -> list[Any]:
    """The camera of the pictures; its lens does not change in time."""
    views = list(contents.views().values())
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


def _mesh(geom: Any, x: NDArray[Any], triangles: NDArray[Any]) -> Any:
    import imath

    # Alembic winds faces clockwise.
    corners = imath.IntArrayFromBuffer(np.ascontiguousarray(triangles[:, ::-1].ravel(), dtype=np.int32))
    counts = imath.IntArrayFromBuffer(np.full(len(triangles), 3, np.int32))
    return geom.OPolyMeshSchemaSample(_vectors(x), corners, counts)


def _set_solid(geom: Any, schema: Any, mesh: TriangleMesh, v: NDArray[Any] | None = None) -> None:
    """The surface of an obstacle, with velocities `v` if it deforms; an imported mesh has its own vertices, texture
    coordinates and normals."""
    import imath

    vertices, triangles = mesh.welded()
    sample = _mesh(geom, vertices, triangles)
    if mesh.own is not None:
        corners = mesh.triangles[:, ::-1].ravel()  # as the faces
        varying = geom.GeometryScope.kFacevaryingScope
        sample.setNormals(geom.ON3fGeomParamSample(_vectors(mesh.normals[corners]), varying))
        if mesh.uv is not None:
            pairs = imath.V2fArrayFromBuffer(np.ascontiguousarray(mesh.uv[corners], dtype=np.float32))
            sample.setUVs(geom.OV2fGeomParamSample(pairs, varying))
    if v is not None:
        sample.setVelocities(_vectors(v))
    schema.set(sample)


def _set_parts(geom: Any, schema: Any, mesh: TriangleMesh, name: str, finish: Finish) -> None:
    """A set of faces for each material of an imported mesh."""
    import imath

    if mesh.cover is None:
        return
    names = Names()
    for cover, _ in mesh.parts(name, finish):
        faces = np.flatnonzero(mesh.cover == mesh.covers.index(cover)).astype(np.int32)
        listed = geom.OFaceSetSchemaSample(imath.IntArrayFromBuffer(faces))
        schema.createFaceSet(names.add(cover.name)).getSchema().set(listed)


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


def _add_colors(geom: Any, schema: Any, parameters: dict[str, Any], colors: NDArray[Any], index: int) -> None:
    """Linear colours of points or vertices, under the name that programs look for."""
    import imath

    scope = geom.GeometryScope.kVertexScope
    if COLOR not in parameters:
        parameters[COLOR] = geom.OC3fGeomParam(schema.getArbGeomParams(), COLOR, False, scope, 1, index)
    parameters[COLOR].set(geom.OC3fGeomParamSample(imath.C3fArray(_vectors(colors)), scope))


def _vectors(values: NDArray[Any]) -> Any:
    import imath

    return imath.V3fArrayFromBuffer(np.ascontiguousarray(values, dtype=np.float32))
