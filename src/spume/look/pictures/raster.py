"""Meshes with finished colours to pixels, by VTK without a window: no X server is needed."""

import os
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SpumeError
from spume.look.appearance import Color, to_srgb
from spume.look.extras import require
from spume.look.pictures.camera import View

OVERSAMPLING = 2
"""Pixels are averages of so many, squared: smooth edges on every machine, software rendering included."""


class ShadedMesh(NamedTuple):
    """A mesh, or points, with the light it sends to the camera."""

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int32]
    """empty for points"""
    light: NDArray[np.float64]
    """linear RGB of each vertex"""
    point_size: float = 0.0
    """diameter of points [m]"""
    opacity: float = 1.0
    """of a mesh; below 1 it is seen through"""


@lru_cache(maxsize=1)
def headless() -> Any:
    """pyvista, told to draw off screen."""
    if os.name == "posix" and not os.environ.get("DISPLAY"):
        # Without this VTK first tries to reach an X server and complains that there is none.
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    pyvista: Any = require("pyvista", "drawing pictures")
    pyvista.OFF_SCREEN = True
    return pyvista


def rasterize(
    parts: list[ShadedMesh],
    view: View,
    size: tuple[int, int],
    background: Color,
    lamp: NDArray[np.float64] | None = None,
) -> NDArray[np.uint8]:
    """The picture of `parts`, sRGB, shape (height, width, 3).

    Points are shaded as balls under a lamp in the direction `lamp`, or as discs without one."""
    pyvista = headless()
    scale = OVERSAMPLING
    plotter = pyvista.Plotter(off_screen=True, window_size=[scale * size[0], scale * size[1]], lighting="none")
    try:
        plotter.set_background([int(byte) for byte in to_srgb(np.array(background))])
        for part in parts:
            _add(pyvista, plotter, part, None if lamp is None else _in_view(lamp, view))
        camera = plotter.camera
        camera.position, camera.focal_point, camera.up = view.position, view.target, view.up
        camera.view_angle = view.angle
        plotter.renderer.ResetCameraClippingRange()
        if view.aperture > 0:
            camera.SetFocalDisk(view.aperture)
            camera.SetFocalDistance(view.focus)
            plotter.enable_depth_of_field(automatic_focal_distance=False)
        pixels = plotter.screenshot(return_img=True)
    finally:
        plotter.close()
    if pixels is None or pixels.shape[:2] != (scale * size[1], scale * size[0]):
        raise SpumeError("VTK drew no picture: it needs EGL or OSMesa (Debian: apt install libegl1 libgl1-mesa-dri)")
    return _averaged(np.asarray(pixels)[..., :3], scale)


def _in_view(direction: NDArray[np.float64], view: View) -> NDArray[np.float64]:
    """A direction in the camera's coordinates: to the right, up, towards the eye."""
    back = view.position - view.target
    back = back / np.linalg.norm(back)
    right = np.cross(view.up, back)
    right = right / np.linalg.norm(right)
    return np.array([direction @ right, direction @ np.cross(back, right), direction @ back])


BALL = """//VTK::Color::Impl
float away = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);
if (away > 1.0) {{ discard; }}
float facing = dot(vec3(offsetVCVSOutput.xy, sqrt(1.0 - away)), vec3({:.6f}, {:.6f}, {:.6f}));
float shade = 0.62 + 0.44 * facing;
ambientColor *= shade;
diffuseColor *= shade;
"""
"""Shades a point as a ball lit from one side: its mean over the visible half is about 1 for a lamp above the eye."""


def _add(pyvista: Any, plotter: Any, part: ShadedMesh, lamp: NDArray[np.float64] | None) -> None:
    if len(part.vertices) == 0:
        return
    colors = to_srgb(part.light)
    if len(part.triangles):
        faces = np.column_stack([np.full(len(part.triangles), 3, np.int64), part.triangles])
        mesh = pyvista.PolyData(part.vertices, faces.ravel())
        plotter.add_mesh(mesh, scalars=colors, rgb=True, lighting=False, copy_mesh=False, opacity=part.opacity)
        return
    points = pyvista.PolyData(part.vertices)
    actor = plotter.add_mesh(
        points,
        scalars=colors,
        rgb=True,
        style="points_gaussian",
        emissive=False,
        render_points_as_spheres=True,
        lighting=False,
    )
    actor.mapper.scale_factor = 0.5 * part.point_size
    if lamp is not None:
        actor.mapper.SetSplatShaderCode(BALL.format(*lamp))


def _averaged(pixels: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    height, width = pixels.shape[0] // factor, pixels.shape[1] // factor
    blocks = pixels.reshape(height, factor, width, factor, 3).astype(np.uint16)
    return np.asarray((blocks.sum(axis=(1, 3)) + factor * factor // 2) // (factor * factor), dtype=np.uint8)
