"""Contents of a USD file other than points and skins: materials, camera, obstacles, ground."""

from typing import Any

import numpy as np

from spume.exports.axes import camera_pose, pose_matrix
from spume.exports.contents import ASPECT, Contents
from spume.exports.usd_values import ints, pairs, set_mesh, vectors
from spume.frames.names import Names
from spume.geometry.mesh_files.mesh_file import Texture
from spume.look.finish import Finish
from spume.look.obstacles import Solid
from spume.look.pictures.camera import View
from spume.look.triangle_mesh import Cover, TriangleMesh

ST = "st"
"""USD's name of texture coordinates."""


def define_material(stage: Any, path: str, finish: Finish, texture: str | None = None, painted: bool = False) -> Any:
    """A UsdPreviewSurface that takes its colour from displayColor if that varies (`painted`), or from a texture, the
    path of a picture; properties it cannot express are in customData."""
    from pxr import Sdf, UsdShade

    types = Sdf.ValueTypeNames
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/preview")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("roughness", types.Float).Set(finish.roughness)
    shader.CreateInput("metallic", types.Float).Set(finish.metallic)
    shader.CreateInput("opacity", types.Float).Set(finish.opacity)
    shader.CreateInput("ior", types.Float).Set(1.33 if finish.transparency > 0.5 else 1.45)
    color = shader.CreateInput("diffuseColor", types.Color3f)
    color.Set(tuple(finish.color))
    if texture is not None:
        _connect_texture(stage, path, finish, texture, color)
    elif painted or finish.variation > 0 or finish.grain > 0:
        reader = UsdShade.Shader.Define(stage, f"{path}/color")
        reader.CreateIdAttr("UsdPrimvarReader_float3")
        reader.CreateInput("varname", types.String).Set("displayColor")
        reader.CreateInput("fallback", types.Float3).Set(tuple(finish.color))
        reader.CreateOutput("result", types.Float3)
        color.ConnectToSource(reader.ConnectableAPI(), "result")
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    kept = {"subsurface": finish.subsurface, "transparency": finish.transparency, "grain": finish.grain}
    material.GetPrim().SetCustomDataByKey("spume", {name: float(value) for name, value in kept.items()})
    return material


def _connect_texture(stage: Any, path: str, finish: Finish, texture: str, color: Any) -> None:
    """Let a picture, times the colour of the finish, be the input `color`."""
    from pxr import Sdf, UsdShade

    types = Sdf.ValueTypeNames
    reader = UsdShade.Shader.Define(stage, f"{path}/st")
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", types.String).Set(ST)
    reader.CreateOutput("result", types.Float2)
    picture = UsdShade.Shader.Define(stage, f"{path}/texture")
    picture.CreateIdAttr("UsdUVTexture")
    picture.CreateInput("file", types.Asset).Set(Sdf.AssetPath(texture))
    picture.CreateInput("sourceColorSpace", types.Token).Set("sRGB")
    for wrap in ("wrapS", "wrapT"):
        picture.CreateInput(wrap, types.Token).Set("repeat")
    picture.CreateInput("scale", types.Float4).Set((*finish.color, 1.0))
    picture.CreateInput("st", types.Float2).ConnectToSource(reader.ConnectableAPI(), "result")
    picture.CreateOutput("rgb", types.Float3)
    color.ConnectToSource(picture.ConnectableAPI(), "rgb")


def texture_files(contents: Contents, folder: str) -> dict[Texture, str]:
    """The paths of the obstacles' textures in the folder `folder` beside the file."""
    names = Names()
    covers = [cover for _, mesh in contents.obstacles() for cover in mesh.covers]
    found: dict[Texture, str] = {}
    for cover in covers:
        if cover.texture is not None and cover.texture not in found:
            found[cover.texture] = f"./{folder}/{names.add(cover.texture.name)}{cover.texture.suffix}"
    return found


def define_surroundings(stage: Any, contents: Contents, root: str, textures: dict[Texture, str]) -> None:
    """Obstacles with their motion, the ground and the camera. `textures`: the path of each texture's file."""
    from pxr import Gf, UsdGeom

    obstacles = list(contents.obstacles())
    names, materials = Names(), Names(*contents.material_names)
    if obstacles:
        UsdGeom.Xform.Define(stage, f"{root}/obstacles")
    for solid, mesh in obstacles:
        name = names.add(solid.name)
        prim = _define_mesh(stage, f"{root}/obstacles/{name}", mesh)
        parts = mesh.parts(f"obstacle_{name}", solid.finish)
        paths = [f"{root}/materials/{materials.add(cover.name)}" for cover, _ in parts]
        _cover(stage, prim, mesh, [cover for cover, _ in parts], paths, textures)
        transform = prim.AddTransformOp()
        places = [Gf.Matrix4d(pose_matrix(*place).tolist()) for place in solid.places(contents.poses)]
        if len(places) == 1:
            transform.Set(places[0])
        else:
            for number, place in zip(contents.numbers, places):
                transform.Set(place, number)
        if solid.deforms(contents.poses[0]):
            _deform(prim, contents, solid, mesh)
    if (ground := contents.ground()) is not None:
        place, finish = f"{root}/ground", contents.ground_finish
        path = f"{root}/materials/{materials.add('ground_look')}"
        _cover(stage, _define_mesh(stage, place, ground), ground, [Cover("ground", finish)], [path], textures)
    define_camera(stage, contents, f"{root}/camera")


def _deform(prim: Any, contents: Contents, solid: Solid, mesh: TriangleMesh) -> None:
    """Time samples of the vertices, velocities and normals of an obstacle that deforms."""
    for number, poses in zip(contents.numbers, contents.poses):
        shaped = solid.shaped(mesh, poses)
        x, v = poses.vertices[solid.number]
        prim.CreatePointsAttr().Set(vectors(x), number)
        prim.CreateVelocitiesAttr().Set(vectors(v), number)
        prim.CreateNormalsAttr().Set(vectors(shaped.normals[mesh.triangles.ravel()]), number)
        prim.CreateExtentAttr().Set(vectors(np.array([x.min(axis=0), x.max(axis=0)])), number)


def _define_mesh(stage: Any, path: str, mesh: TriangleMesh) -> Any:
    """A mesh that does not change; an imported one has its own vertices, and normals at the corners of triangles."""
    from pxr import Sdf, UsdGeom

    prim = UsdGeom.Mesh.Define(stage, path)
    prim.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if mesh.own is None:
        set_mesh(prim, mesh.vertices, mesh.triangles, mesh.normals, None)
        return prim
    vertices, triangles = mesh.welded()
    corners = mesh.triangles.ravel()
    set_mesh(prim, vertices, triangles, mesh.normals[corners], None)
    prim.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying)
    if mesh.uv is not None:
        kind, varying = Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.faceVarying
        coordinates = UsdGeom.PrimvarsAPI(prim.GetPrim()).CreatePrimvar(ST, kind, varying)
        coordinates.Set(pairs(mesh.uv[corners]))
    return prim


def _cover(
    stage: Any, prim: Any, mesh: TriangleMesh, covers: list[Cover], paths: list[str], textures: dict[Texture, str]
) -> None:
    """Bind a material to a mesh, or one to each of several parts of it."""
    from pxr import UsdGeom, UsdShade

    painted = mesh.colors is not None
    materials = [
        define_material(stage, path, each.finish, textures.get(each.texture) if each.texture else None, painted)
        for path, each in zip(paths, covers)
    ]
    binding = UsdShade.MaterialBindingAPI.Apply(prim.GetPrim())
    binding.Bind(materials[0])
    if mesh.colors is not None:
        colors = prim.CreateDisplayColorPrimvar(UsdGeom.Tokens.faceVarying)
        colors.Set(vectors(mesh.colors[mesh.triangles.ravel()]))
    else:
        prim.CreateDisplayColorAttr([covers[0].finish.color])
    if len(covers) == 1 or mesh.cover is None:
        return
    for material, path, each in zip(materials, paths, covers):
        faces = np.flatnonzero(mesh.cover == mesh.covers.index(each))
        subset = binding.CreateMaterialBindSubset(path.rpartition("/")[2], ints(faces))
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material)


def define_camera(stage: Any, contents: Contents, path: str) -> None:
    """The camera of the pictures, with time samples where it moves."""
    from pxr import Gf, Usd, UsdGeom

    views = contents.views()
    if not views:
        return
    camera = UsdGeom.Camera.Define(stage, path)
    moves = len({_key(view) for view in views.values()}) > 1
    transform = camera.AddTransformOp()
    for number, view in views.items() if moves else list(views.items())[:1]:
        time = Usd.TimeCode(number) if moves else Usd.TimeCode.Default()
        optics = Gf.Camera()
        optics.SetPerspectiveFromAspectRatioAndFieldOfView(ASPECT, view.angle, Gf.Camera.FOVVertical, 36.0)
        camera.CreateHorizontalApertureAttr().Set(optics.horizontalAperture, time)
        camera.CreateVerticalApertureAttr().Set(optics.verticalAperture, time)
        camera.CreateFocalLengthAttr().Set(optics.focalLength, time)
        distance = float(np.linalg.norm(view.target - view.position))
        camera.CreateFocusDistanceAttr().Set(view.focus if view.aperture > 0 else distance, time)
        # USD's lens is a tenth of a unit: its diameter is focal length / 10 / fStop
        stop = 0.1 * optics.focalLength / view.aperture if view.aperture > 0 else 0.0
        camera.CreateFStopAttr().Set(stop, time)
        camera.CreateClippingRangeAttr().Set(Gf.Vec2f(1e-3 * distance, 1e3 * distance), time)
        transform.Set(Gf.Matrix4d(pose_matrix(*camera_pose(view)).tolist()), time)


def _key(view: View) -> tuple[Any, ...]:
    return (*view.position, *view.target, *view.up, view.angle, view.aperture, view.focus)
