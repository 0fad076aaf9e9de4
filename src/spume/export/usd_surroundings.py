"""Contents of a USD file other than points and skins: materials, camera, obstacles, ground."""

from typing import Any

import numpy as np

from spume.export.axes import camera_pose, pose_matrix
from spume.export.contents import Contents, identifier
from spume.export.usd_values import set_mesh
from spume.frames.quantities import spatial
from spume.look.appearance import Appearance
from spume.look.pictures.camera import View

ASPECT = 16 / 9
"""Of the camera's picture; USD's cameras have one."""


def define_material(stage: Any, path: str, looks: Appearance) -> Any:
    """A UsdPreviewSurface that takes its colour from displayColor; properties it cannot express are in customData."""
    from pxr import Sdf, UsdShade

    types = Sdf.ValueTypeNames
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/preview")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("roughness", types.Float).Set(looks.roughness)
    shader.CreateInput("metallic", types.Float).Set(looks.metallic)
    shader.CreateInput("opacity", types.Float).Set(looks.opacity)
    shader.CreateInput("ior", types.Float).Set(1.33 if looks.transparency > 0.5 else 1.45)
    color = shader.CreateInput("diffuseColor", types.Color3f)
    color.Set(tuple(looks.color))
    if looks.variation > 0 or looks.grain > 0:
        reader = UsdShade.Shader.Define(stage, f"{path}/color")
        reader.CreateIdAttr("UsdPrimvarReader_float3")
        reader.CreateInput("varname", types.String).Set("displayColor")
        reader.CreateInput("fallback", types.Float3).Set(tuple(looks.color))
        reader.CreateOutput("result", types.Float3)
        color.ConnectToSource(reader.ConnectableAPI(), "result")
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    kept = {"subsurface": looks.subsurface, "transparency": looks.transparency, "grain": looks.grain}
    material.GetPrim().SetCustomDataByKey("spume", {name: float(value) for name, value in kept.items()})
    return material


def define_surroundings(stage: Any, contents: Contents, root: str) -> None:
    """Obstacles with their motion, the ground and the camera."""
    from pxr import Gf, UsdGeom, UsdShade

    obstacles = list(contents.obstacles())
    if obstacles:
        UsdGeom.Xform.Define(stage, f"{root}/obstacles")
    for solid, mesh in obstacles:
        name = identifier(solid.name)
        prim = UsdGeom.Mesh.Define(stage, f"{root}/obstacles/{name}")
        prim.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        set_mesh(prim, mesh.vertices, mesh.triangles, mesh.normals, None)
        prim.CreateDisplayColorAttr([solid.appearance.color])
        material = define_material(stage, f"{root}/materials/obstacle_{name}", solid.appearance)
        UsdShade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(material)
        transform = prim.AddTransformOp()
        for number in contents.numbers if solid.motion is not None else ():
            transform.Set(Gf.Matrix4d(pose_matrix(*solid.place(contents.time(number))).tolist()), number)
    height = contents.ground()
    if height is not None:
        _define_ground(stage, contents, root, height)
    define_camera(stage, contents, f"{root}/camera")


def _define_ground(stage: Any, contents: Contents, root: str, height: float) -> None:
    """A square, ten times as wide as the extent of the first frame's points."""
    from pxr import UsdGeom, UsdShade

    x = np.concatenate([spatial(each["x"]) for each in contents.run[contents.numbers[0]].of_kind("points", "mesh")])
    corners = contents.ground_corners(x, height)
    ground = UsdGeom.Mesh.Define(stage, f"{root}/ground")
    ground.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    set_mesh(ground, corners, np.array([[0, 1, 2], [0, 2, 3]]), np.tile(contents.up, (4, 1)), None)
    looks = contents.ground_looks
    ground.CreateDisplayColorAttr([looks.color])
    material = define_material(stage, f"{root}/materials/ground_look", looks)
    UsdShade.MaterialBindingAPI.Apply(ground.GetPrim()).Bind(material)


def define_camera(stage: Any, contents: Contents, path: str) -> None:
    """The camera of the pictures, with time samples where it moves."""
    from pxr import Gf, Usd, UsdGeom

    views = contents.views(ASPECT)
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
