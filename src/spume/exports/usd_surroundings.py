"""Contents of a USD file other than points and skins: materials, camera, obstacles, ground."""

from typing import Any

import numpy as np

from spume.exports.axes import camera_pose, pose_matrix
from spume.exports.contents import ASPECT, Contents
from spume.exports.usd_values import set_mesh
from spume.frames.names import Names
from spume.look.finish import Finish
from spume.look.obstacles import TriangleMesh
from spume.look.pictures.camera import View


def define_material(stage: Any, path: str, finish: Finish) -> Any:
    """A UsdPreviewSurface that takes its colour from displayColor; properties it cannot express are in customData."""
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
    if finish.variation > 0 or finish.grain > 0:
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


def define_surroundings(stage: Any, contents: Contents, root: str) -> None:
    """Obstacles with their motion, the ground and the camera."""
    from pxr import Gf, UsdGeom

    obstacles = list(contents.obstacles())
    names, materials = Names(), Names(*contents.material_names)
    if obstacles:
        UsdGeom.Xform.Define(stage, f"{root}/obstacles")
    for solid, mesh in obstacles:
        name = names.add(solid.name)
        material = f"{root}/materials/{materials.add(f'obstacle_{name}')}"
        prim = _define_mesh(stage, f"{root}/obstacles/{name}", mesh, solid.finish, material)
        transform = prim.AddTransformOp()
        places = [Gf.Matrix4d(pose_matrix(*place).tolist()) for place in solid.places(contents.poses)]
        if len(places) == 1:
            transform.Set(places[0])
        else:
            for number, place in zip(contents.numbers, places):
                transform.Set(place, number)
    if (ground := contents.ground()) is not None:
        place, finish = f"{root}/ground", contents.ground_finish
        _define_mesh(stage, place, ground, finish, f"{root}/materials/{materials.add('ground_look')}")
    define_camera(stage, contents, f"{root}/camera")


def _define_mesh(stage: Any, path: str, mesh: TriangleMesh, finish: Finish, material: str) -> Any:
    """A mesh that does not change, with its own material at the path `material`."""
    from pxr import UsdGeom, UsdShade

    prim = UsdGeom.Mesh.Define(stage, path)
    prim.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    set_mesh(prim, mesh.vertices, mesh.triangles, mesh.normals, None)
    prim.CreateDisplayColorAttr([finish.color])
    UsdShade.MaterialBindingAPI.Apply(prim.GetPrim()).Bind(define_material(stage, material, finish))
    return prim


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
