"""USD: points, skins, obstacles and materials with time samples, in one file or as value clips, a file for each frame.

Time codes are frame numbers; a second has `frame_rate` of them. Units are metres and kilograms.
"""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.exports.contents import Contents, Piece
from spume.exports.formats import Layout
from spume.exports.usd_surroundings import define_material, define_surroundings, texture_files
from spume.exports.usd_values import array, extent, ints, long_ints, primvar, set_mesh, vectors
from spume.extras import require
from spume.fields import VOLUME_RATIO
from spume.frames.names import Names
from spume.geometry.mesh_files.mesh_file import Texture
from spume.look.finish import Finish
from spume.terminal import readable_size
from spume.whole_files import whole_file
from spume.work import each_frame

SINGLE_LIMIT = 20_000_000
"""Total number of points in all frames above which 'auto' writes value clips."""
LINE_WIDTH = 0.3
"""Width of lines, relative to the distance between their points."""
RECIPE = "spumeRecipe"
ID = "id"
"""The persistent identifier of a point, for which USD has its own attribute."""


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
        layout = "payload" if _size(contents) <= SINGLE_LIMIT else "clips"
    recipe = contents.recipe("usd", layout)
    if not again and _recipe(file) == recipe:
        return False
    if layout in ("single", "payload"):
        _write_samples(contents, file, recipe, layout)
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


def _write_samples(contents: Contents, file: Path, recipe: str, layout: Layout) -> None:
    """All frames in `file`, or in a second file beside it that `file` refers to as a payload: programs then show the
    asset's name, extent and cameras at once and load the rest on demand."""
    stage = _new_stage(contents, recipe)
    textures = texture_files(contents, f"{file.stem}_textures")
    prims = _define(stage, contents, textures)
    _write_textures(file, textures)
    each_frame(lambda number: _sample(prims, contents, number), contents.numbers, "export")
    if layout == "single":
        _save(stage.GetRootLayer(), file)
        return
    heavy = file.with_name(f"{file.stem}_payload.usdc")
    _save(stage.GetRootLayer(), heavy, file)
    light = _new_stage(contents, recipe)
    root = light.GetDefaultPrim()
    root.GetPayloads().AddPayload(f"./{heavy.name}")
    _set_extent_hint(root, contents)
    _save(light.GetRootLayer(), file)


def _set_extent_hint(root: Any, contents: Contents) -> None:
    """The box of the points in all frames, for programs that have not loaded the payload."""
    from pxr import UsdGeom

    lower, upper = contents.box
    UsdGeom.ModelAPI.Apply(root).SetExtentsHint(vectors(np.array([lower, upper])))


def _write_clips(contents: Contents, file: Path, recipe: str, again: bool, processes: int, cluster: str | None) -> None:
    """A file for each frame, and one that plays them: the clips hold the values, the file holds the prims."""
    from pxr import Sdf, Usd

    folder = file.with_name(f"{file.stem}_clips")
    task = partial(write_clip, contents, folder.resolve() if cluster else folder, again)
    clips = each_frame(task, contents.numbers, "export", processes, cluster=cluster)
    stage = _new_stage(contents, recipe)
    textures = texture_files(contents, f"{file.stem}_textures")
    _define(stage, contents, textures)
    _write_textures(file, textures)
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
        _sample(_define(stage, one, {}), one, number)
        _save(stage.GetRootLayer(), file)
    return file


def _save(layer: Any, file: Path, asked: Path | None = None) -> None:
    """Write a layer beside `file`, see whether it can be read, and put it in place. `asked` is the file that was asked
    for, if this one belongs to it."""
    from pxr import Sdf, Tf

    with whole_file(file) as partial_file:
        cause = "USD cannot read it back"
        try:
            good = layer.Export(str(partial_file)) and Sdf.Layer.OpenAsAnonymous(str(partial_file)) is not None
        except Tf.ErrorException as error:
            good, cause = False, _cause(error)
        if not good:
            free = readable_size(shutil.disk_usage(file.parent).free)
            raise CacheError(f"'{asked or file}' cannot be written: {cause} ({free} is free there)")


def _cause(error: Exception) -> str:
    """The reason that USD gives: its first message, without the place in its source."""
    first = str(error).strip().splitlines()[0]
    return first.rpartition(" : ")[2].strip("'")


def _new_stage(contents: Contents, recipe: str) -> Any:
    from pxr import Kind, Usd, UsdGeom, UsdPhysics

    # payloads are referred to before they are where the file will be
    stage = Usd.Stage.CreateInMemory(Usd.Stage.LoadNone)
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


def _write_textures(file: Path, textures: dict[Texture, str]) -> None:
    """Write the textures of obstacles beside `file`."""
    for texture, path in textures.items():
        with whole_file(file.parent / path) as unfinished:
            unfinished.write_bytes(texture.data)


def _define(stage: Any, contents: Contents, textures: dict[Texture, str]) -> dict[str, Any]:
    """Everything but the time samples of points or skin: materials bound, obstacles with their motion, ground."""
    from pxr import UsdGeom, UsdShade

    root = f"/{contents.name}"
    # every prim has a type: importers lose the axis conversion of what stands below one without
    UsdGeom.Scope.Define(stage, f"{root}/materials")
    listed = list(zip(contents.material_names, (finish for _, finish in contents.materials)))
    painted = contents.has_paint
    materials = [define_material(stage, f"{root}/materials/{name}", finish, None, painted) for name, finish in listed]
    prims: dict[str, Any] = {}
    names = Names("materials", "obstacles", "ground", "camera")
    for piece in contents.pieces(contents.numbers[0], tensors=False):
        path = f"{root}/{names.add(piece.name)}"
        if piece.lines is not None:
            prims[piece.name] = _define_curves(stage, path, piece)
            continue
        if piece.triangles is None:
            UsdGeom.Xform.Define(stage, path)
            for k in piece.materials:
                name, finish = listed[k]
                points = UsdGeom.Points.Define(stage, f"{path}/{name}")
                _color(points, finish, painted)
                UsdShade.MaterialBindingAPI.Apply(points.GetPrim()).Bind(materials[k])
                prims[f"{piece.name}/points {k}"] = points
                _declare(points, piece)
            continue
        mesh = UsdGeom.Mesh.Define(stage, path)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        binding = UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim())
        binding.Bind(materials[piece.materials[0]])
        if piece.colors is not None:
            mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex)
        elif len(piece.materials) == 1:
            _, finish = listed[piece.materials[0]]
            mesh.CreateDisplayColorAttr([finish.color])
            mesh.CreateDisplayOpacityAttr([finish.opacity])
        prims[piece.name] = mesh
        _declare_mesh(mesh, piece)
        for k in piece.materials if len(piece.materials) > 1 else ():
            subset = binding.CreateMaterialBindSubset(listed[k][0], ints(np.zeros(0)))
            subset.GetIndicesAttr().Clear()  # a value here would be stronger than those of clips
            UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(materials[k])
            prims[f"{piece.name}/subset {k}"] = subset
    define_surroundings(stage, contents, root, textures)
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
        primvar(curves, name, values)
    return curves


def _sample_curves(curves: Any, piece: Piece, number: int) -> None:
    assert piece.lines is not None
    curves.GetPointsAttr().Set(vectors(piece.x), number)
    curves.GetCurveVertexCountsAttr().Set(ints(np.diff(piece.lines)), number)
    curves.GetExtentAttr().Set(extent(piece.x, 0.5 * LINE_WIDTH * piece.spacing), number)
    for name, values in piece.fields.items():
        primvar(curves, name, values).Set(array(values), number)


def _color(points: Any, finish: Finish, painted: bool) -> None:
    """One colour for all points, or the promise of one for each."""
    from pxr import UsdGeom

    if painted or finish.variation > 0 or finish.grain > 0:
        points.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex)
    else:
        points.CreateDisplayColorAttr([finish.color])


def _declare(points: Any, piece: Piece) -> None:
    """Declare the attributes whose values are in the clips: a manifest must name them."""
    points.CreatePointsAttr()
    points.CreateVelocitiesAttr()
    points.CreateWidthsAttr()
    points.CreateExtentAttr()
    if ID in piece.fields:
        points.CreateIdsAttr()
    for name, values in piece.fields.items():
        if name not in (ID, "v"):
            primvar(points, name, values)


def _declare_mesh(mesh: Any, piece: Piece) -> None:
    """The same for a mesh."""
    mesh.CreatePointsAttr()
    mesh.CreateFaceVertexCountsAttr()
    mesh.CreateFaceVertexIndicesAttr()
    mesh.CreateNormalsAttr()
    mesh.CreateExtentAttr()
    for name, values in piece.fields.items():
        if name == "v":
            mesh.CreateVelocitiesAttr()
        else:
            primvar(mesh, name, values)


def _sample(prims: dict[str, Any], contents: Contents, number: int) -> None:
    """Set the values of one frame."""
    for piece in contents.pieces(number, tensors=False):
        if piece.lines is not None:
            _sample_curves(prims[piece.name], piece, number)
            continue
        if piece.triangles is not None and piece.normals is not None:
            _sample_mesh(prims, piece, piece.triangles, piece.normals, number)
            continue
        for k in piece.materials:
            _, finish = contents.materials[k]
            members = slice(None) if len(piece.materials) == 1 else np.flatnonzero(piece.kinds == k)
            _sample_points(prims[f"{piece.name}/points {k}"], piece.take(members), finish, number)


def _sample_mesh(
    prims: dict[str, Any], piece: Piece, triangles: NDArray[np.int32], normals: NDArray[Any], number: int
) -> None:
    mesh = prims[piece.name]
    set_mesh(mesh, piece.x, triangles, normals, number)
    if piece.colors is not None:
        mesh.GetDisplayColorPrimvar().Set(vectors(piece.colors), number)
    for name, values in piece.fields.items():
        if name == "v":
            mesh.CreateVelocitiesAttr().Set(vectors(values), number)
        else:
            primvar(mesh, name, values).Set(array(values), number)
    faces = piece.kinds[triangles[:, 0]]
    for k in piece.materials if len(piece.materials) > 1 else ():
        prims[f"{piece.name}/subset {k}"].GetIndicesAttr().Set(ints(np.flatnonzero(faces == k)), number)


def _sample_points(points: Any, piece: Piece, finish: Finish, number: int) -> None:
    shades = points.GetDisplayColorPrimvar()
    if piece.colors is not None and shades.GetInterpolation() == "vertex":
        shades.Set(vectors(piece.colors), number)
    points.GetPointsAttr().Set(vectors(piece.x), number)
    if "v" in piece.fields:
        points.GetVelocitiesAttr().Set(vectors(piece.fields["v"]), number)
    if ID in piece.fields:
        points.GetIdsAttr().Set(long_ints(piece.fields[ID]), number)
    widths = _widths(piece)
    points.GetWidthsAttr().Set(array(widths), number)
    half = 0.5 * float(widths.max(initial=0.0))
    points.GetExtentAttr().Set(extent(piece.x, half), number)
    for name, values in piece.fields.items():
        if name not in (ID, "v"):
            primvar(points, name, values).Set(array(values), number)


def _widths(piece: Piece) -> NDArray[np.float64]:
    """Diameters [m] of balls with the points' volumes."""
    if "volume" not in piece.fields:
        return np.full(len(piece.x), piece.spacing)
    volume = piece.fields["volume"] * piece.fields.get(VOLUME_RATIO.name, 1.0)
    if piece.dimension == 2:
        return np.asarray(2 * np.sqrt(volume / np.pi))
    return np.asarray(np.cbrt(6 * volume / np.pi))
