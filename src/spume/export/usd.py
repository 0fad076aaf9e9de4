"""USD: points, skins, obstacles and materials with time samples, in one file or as value clips, a file for each frame.

Time codes are frame numbers; a second has `frame_rate` of them. Units are metres and kilograms.
"""

import itertools
import shutil
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spume.cores import cores
from spume.errors import CacheError
from spume.export.contents import Contents, Piece, identifier
from spume.fields import VOLUME_RATIO
from spume.frames.quantities import DRAWN, spatial
from spume.look.appearance import GROUND, Appearance
from spume.look.atomic import whole_file
from spume.look.extras import require
from spume.look.work import each_frame
from spume.terminal import readable_size

Layout = Literal["auto", "single", "clips"]
SINGLE_LIMIT = 20_000_000
"""Points in all frames together above which 'auto' writes value clips."""
LINE_WIDTH = 0.3
"""Width of lines, over the distance of their points."""
RECIPE = "spumeRecipe"
INTEGERS = "biuB"
ID = "id"
"""The field that names a point for its whole life; USD has an attribute of its own for it."""


def write_usd(
    contents: Contents,
    file: Path,
    layout: Layout = "auto",
    again: bool = False,
    processes: int = 1,
    cluster: str | None = None,
) -> bool:
    """Write the frames to `file` (.usdc, .usda or .usd); returns whether that was needed. Clips are written by the
    workers of a `cluster` if one is given."""
    require("pxr", "writing USD")
    if layout == "auto":
        layout = "single" if _size(contents) <= SINGLE_LIMIT else "clips"
    recipe = contents.recipe("usd", layout)
    if not again and _recipe(file) == recipe:
        return False
    if layout == "single":
        _write_single(contents, file, recipe)
    else:
        _write_clips(contents, file, recipe, again, processes, cluster)
    return True


def _size(contents: Contents) -> int:
    return sum(int(contents.run.diagnostics[number].get("points", 0)) for number in contents.numbers)


def _recipe(file: Path) -> str | None:
    from pxr import Sdf, Tf

    if not file.exists():
        return None
    try:
        layer = Sdf.Layer.OpenAsAnonymous(str(file), metadataOnly=True)
    except Tf.ErrorException:
        return None
    return str(layer.customLayerData.get(RECIPE)) if layer else None


def _write_single(contents: Contents, file: Path, recipe: str) -> None:
    stage = _new_stage(contents, recipe)
    prims = _define(stage, contents)
    each_frame(lambda number: _sample(prims, contents, number), contents.numbers, "export")
    _save(stage.GetRootLayer(), file)


def _write_clips(contents: Contents, file: Path, recipe: str, again: bool, processes: int, cluster: str | None) -> None:
    """A file for each frame, and one that plays them: clips hold the numbers, the file the things they belong to."""
    from pxr import Sdf, Usd

    folder = file.with_name(f"{file.stem}_clips")
    task = partial(write_clip, contents, folder.resolve() if cluster else folder, again)
    clips = each_frame(task, contents.numbers, "export", processes or min(2, cores()), cluster=cluster)
    stage = _new_stage(contents, recipe)
    _define(stage, contents)
    root = stage.GetDefaultPrim()
    manifest = Sdf.Layer.CreateAnonymous(".usda")
    manifest.TransferContent(stage.GetRootLayer())
    manifest_file = folder / "manifest.usda"
    _save(manifest, manifest_file)
    api = Usd.ClipsAPI(root)
    api.SetClipAssetPaths([Sdf.AssetPath(f"./{folder.name}/{clips[number].name}") for number in contents.numbers])
    api.SetClipManifestAssetPath(Sdf.AssetPath(f"./{folder.name}/{manifest_file.name}"))
    api.SetClipPrimPath(str(root.GetPath()))
    api.SetClipActive([(number, k) for k, number in enumerate(contents.numbers)])
    api.SetClipTimes([(number, number) for number in contents.numbers])
    _save(stage.GetRootLayer(), file)


def write_clip(contents: Contents, folder: Path, again: bool, number: int) -> Path:
    """Write the file of one frame, unless it is there."""
    one = Contents(contents.run, [number], contents.what, contents.fields)
    recipe = one.recipe("usd-clip")
    file = folder / f"frame_{number:05d}.usdc"
    if again or _recipe(file) != recipe:
        stage = _new_stage(one, recipe)
        _sample(_define(stage, one), one, number)
        _save(stage.GetRootLayer(), file)
    return file


def _save(layer: Any, file: Path) -> None:
    """Write a layer beside `file`, see whether it can be read, and put it in place."""
    from pxr import Sdf, Tf

    with whole_file(file) as partial_file:
        try:
            good = layer.Export(str(partial_file)) and Sdf.Layer.OpenAsAnonymous(str(partial_file)) is not None
        except Tf.ErrorException:
            good = False
        if not good:
            free = readable_size(shutil.disk_usage(file.parent).free)
            raise CacheError(f"'{file}' cannot be written: USD gave up, and {free} is free there")


def _new_stage(contents: Contents, recipe: str) -> Any:
    from pxr import Kind, Usd, UsdGeom, UsdPhysics

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, UsdGeom.LinearUnits.meters)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if abs(contents.up[2]) > 0.5 else UsdGeom.Tokens.y)
    rate = float(contents.run.scene.frame_rate)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(contents.numbers[0])
    stage.SetEndTimeCode(contents.numbers[-1])
    root = UsdGeom.Xform.Define(stage, f"/{contents.name}").GetPrim()
    Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
    stage.SetDefaultPrim(root)
    data = {RECIPE: recipe, "title": contents.run.title, "method": contents.run.method}
    stage.GetRootLayer().customLayerData = data
    return stage


def _define(stage: Any, contents: Contents) -> dict[str, Any]:
    """Everything but the time samples of points or skin: materials bound, obstacles with their motion, ground."""
    from pxr import UsdGeom, UsdShade

    root = f"/{contents.name}"
    materials = [_material(stage, f"{root}/materials/{identifier(name)}", looks) for name, looks in contents.materials]
    prims: dict[str, Any] = {}
    for piece in contents.pieces(contents.numbers[0], tensors=False):
        path = f"{root}/{identifier(piece.name)}"
        if piece.lines is not None:
            prims[piece.name] = _define_curves(stage, path, piece)
            continue
        if piece.triangles is None:
            for (name, looks), material in zip(contents.materials, materials):
                points = UsdGeom.Points.Define(stage, f"{path}/{identifier(name)}")
                points.CreateDisplayColorAttr([looks.color])
                UsdShade.MaterialBindingAPI.Apply(points.GetPrim()).Bind(material)
                prims[f"{piece.name}/{name}"] = points
                _declare(points, piece)
            continue
        mesh = UsdGeom.Mesh.Define(stage, path)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        binding = UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim())
        binding.Bind(materials[0])
        prims[piece.name] = mesh
        for k, (name, _) in enumerate(contents.materials if len(materials) > 1 else []):
            subset = binding.CreateMaterialBindSubset(identifier(name), _ints(np.zeros(0)))
            UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(materials[k])
            prims[f"{piece.name}/subset {k}"] = subset
    _define_obstacles(stage, contents, root)
    return prims


def _define_curves(stage: Any, path: str, piece: Piece) -> Any:
    from pxr import UsdGeom

    curves = UsdGeom.BasisCurves.Define(stage, path)
    curves.CreateTypeAttr(UsdGeom.Tokens.linear)
    curves.CreateWrapAttr(UsdGeom.Tokens.nonperiodic)
    curves.CreateDisplayColorAttr([(0.0, 0.0, 0.0)])
    curves.CreatePointsAttr()
    curves.CreateCurveVertexCountsAttr()
    curves.CreateExtentAttr()
    curves.CreateWidthsAttr([LINE_WIDTH * piece.spacing])
    curves.SetWidthsInterpolation(UsdGeom.Tokens.constant)
    for name, values in piece.fields.items():
        _primvar(curves, name, values)
    return curves


def _sample_curves(curves: Any, piece: Piece, number: int) -> None:
    assert piece.lines is not None
    curves.GetPointsAttr().Set(_vectors(piece.x), number)
    curves.GetCurveVertexCountsAttr().Set(_ints(np.diff(piece.lines)), number)
    curves.GetExtentAttr().Set(_extent(piece.x, 0.5 * LINE_WIDTH * piece.spacing), number)
    for name, values in piece.fields.items():
        _primvar(curves, name, values).Set(_array(values), number)


def _declare(points: Any, piece: Piece) -> None:
    """The attributes clips give values to: a manifest must name them."""
    points.CreatePointsAttr()
    points.CreateVelocitiesAttr()
    points.CreateWidthsAttr()
    points.CreateExtentAttr()
    if ID in piece.fields:
        points.CreateIdsAttr()
    for name, values in piece.fields.items():
        if name not in (ID, "v"):
            _primvar(points, name, values)


def _material(stage: Any, path: str, looks: Appearance) -> Any:
    from pxr import Gf, Sdf, UsdShade

    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/preview")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*looks.color))
    shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(max(0.15, 0.9 - 1.5 * looks.gloss))
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def _define_obstacles(stage: Any, contents: Contents, root: str) -> None:
    from pxr import Gf, UsdGeom

    for solid, mesh in contents.obstacles():
        prim = UsdGeom.Mesh.Define(stage, f"{root}/obstacles/{identifier(solid.name)}")
        prim.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        _set_mesh(prim, mesh.vertices, mesh.triangles, mesh.normals, None)
        prim.CreateDisplayColorAttr([solid.appearance.color])
        transform = prim.AddTransformOp()
        for number in contents.numbers if solid.motion is not None else ():
            R, p = solid.place(contents.time(number))
            matrix = np.eye(4)
            matrix[:3, :3], matrix[3, :3] = R.T, p
            transform.Set(Gf.Matrix4d(matrix.tolist()), number)
    height = contents.ground()
    if height is not None:
        _define_ground(stage, contents, f"{root}/ground", height)


def _define_ground(stage: Any, contents: Contents, path: str, height: float) -> None:
    """A square, ten times as wide as the first frame's points reach."""
    from pxr import UsdGeom

    x = np.concatenate([spatial(each["x"]) for each in contents.run[contents.numbers[0]].of_kind(*DRAWN)])
    reach = 5 * float(np.ptp(x, axis=0).max()) if len(x) else 1.0
    up = contents.up
    one = np.eye(3)[int(np.argmin(np.abs(up)))]
    two = np.cross(up, one)
    middle = x.mean(axis=0) if len(x) else np.zeros(3)
    middle = middle + (height - middle @ up) * up
    corners = np.array([middle + reach * (a * one + b * two) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    ground = UsdGeom.Mesh.Define(stage, path)
    ground.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    _set_mesh(ground, corners, np.array([[0, 1, 2], [0, 2, 3]]), np.tile(up, (4, 1)), None)
    ground.CreateDisplayColorAttr([GROUND])


def _sample(prims: dict[str, Any], contents: Contents, number: int) -> None:
    """Set the values of one frame."""
    for piece in contents.pieces(number, tensors=False):
        if piece.lines is not None:
            _sample_curves(prims[piece.name], piece, number)
            continue
        if piece.triangles is not None and piece.normals is not None:
            _sample_mesh(prims, piece, piece.triangles, piece.normals, number)
            continue
        kinds = piece.fields.get("material")
        for k, (name, _) in enumerate(contents.materials):
            members = slice(None) if kinds is None or len(contents.materials) == 1 else np.flatnonzero(kinds == k)
            # Points that carry no material belong to the first one.
            shown = piece.take(slice(0) if kinds is None and k > 0 else members)
            _sample_points(prims[f"{piece.name}/{name}"], shown, number)


def _sample_mesh(
    prims: dict[str, Any], piece: Piece, triangles: NDArray[np.int32], normals: NDArray[Any], number: int
) -> None:
    mesh = prims[piece.name]
    _set_mesh(mesh, piece.x, triangles, normals, number)
    for name, values in piece.fields.items():
        if name == "v":
            mesh.CreateVelocitiesAttr().Set(_vectors(values), number)
        else:
            _primvar(mesh, name, values).Set(_array(values), number)
    kinds = piece.fields.get("material", np.zeros(len(piece.x)))
    faces = np.round(kinds[triangles[:, 0]])
    for k in itertools.count():
        subset = prims.get(f"{piece.name}/subset {k}")
        if subset is None:
            break
        subset.GetIndicesAttr().Set(_ints(np.flatnonzero(faces == k)), number)


def _sample_points(points: Any, piece: Piece, number: int) -> None:
    points.GetPointsAttr().Set(_vectors(piece.x), number)
    if "v" in piece.fields:
        points.GetVelocitiesAttr().Set(_vectors(piece.fields["v"]), number)
    if ID in piece.fields:
        points.GetIdsAttr().Set(_long_ints(piece.fields[ID]), number)
    widths = _widths(piece)
    points.GetWidthsAttr().Set(_array(widths), number)
    half = 0.5 * float(widths.max(initial=0.0))
    points.GetExtentAttr().Set(_extent(piece.x, half), number)
    for name, values in piece.fields.items():
        if name not in (ID, "v"):
            _primvar(points, name, values).Set(_array(values), number)


def _widths(piece: Piece) -> NDArray[np.float64]:
    """Diameters [m] of balls with the points' volumes."""
    if "volume" not in piece.fields:
        return np.full(len(piece.x), piece.spacing)
    volume = piece.fields["volume"] * piece.fields.get(VOLUME_RATIO.name, 1.0)
    if piece.dimension == 2:
        return np.asarray(2 * np.sqrt(volume / np.pi))
    return np.asarray(np.cbrt(6 * volume / np.pi))


def _set_mesh(
    prim: Any, vertices: NDArray[Any], triangles: NDArray[Any], normals: NDArray[Any], number: int | None
) -> None:
    from pxr import Usd, UsdGeom

    time = Usd.TimeCode.Default() if number is None else Usd.TimeCode(number)
    prim.CreatePointsAttr().Set(_vectors(vertices), time)
    prim.CreateFaceVertexCountsAttr().Set(_ints(np.full(len(triangles), 3)), time)
    prim.CreateFaceVertexIndicesAttr().Set(_ints(triangles.ravel()), time)
    prim.CreateNormalsAttr().Set(_vectors(normals), time)
    prim.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    prim.CreateExtentAttr().Set(_extent(vertices, 0.0), time)


def _extent(x: NDArray[Any], half: float) -> Any:
    if len(x) == 0:
        return _vectors(np.zeros((2, 3)))
    return _vectors(np.array([x.min(axis=0) - half, x.max(axis=0) + half]))


def _primvar(prim: Any, name: str, values: NDArray[Any]) -> Any:
    from pxr import Sdf, UsdGeom

    types = Sdf.ValueTypeNames
    if values.ndim == 1:
        kind = types.IntArray if values.dtype.kind in INTEGERS else types.FloatArray
    elif values.shape[1:] == (3,):
        kind = types.Vector3fArray
    else:
        kind = types.FloatArray
    size = int(np.prod(values.shape[1:])) if kind == types.FloatArray and values.ndim > 1 else -1
    api = UsdGeom.PrimvarsAPI(prim.GetPrim())
    return api.CreatePrimvar(identifier(name), kind, UsdGeom.Tokens.vertex, size)


def _array(values: NDArray[Any]) -> Any:
    from pxr import Vt

    if values.ndim == 2 and values.shape[1] == 3:
        return _vectors(values)
    if values.dtype.kind in INTEGERS:
        return _ints(values)
    return Vt.FloatArray.FromNumpy(np.ascontiguousarray(values.reshape(-1), dtype=np.float32))


def _vectors(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


def _long_ints(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.Int64Array.FromNumpy(np.ascontiguousarray(values, dtype=np.int64))


def _ints(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(values, dtype=np.int32))
