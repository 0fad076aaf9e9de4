"""Path-traced pictures with Mitsuba: foam is a scattering medium inside its skin, so that it is translucent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from spume.extras import require
from spume.frames.reader import Frame
from spume.look.finish import Finish
from spume.look.pictures.drawing import Drawer, Picture
from spume.look.pictures.lettering import Legend
from spume.look.pictures.raster import ShadedMesh, rasterize
from spume.look.pictures.space_drawer import PLAIN, ColoredMesh, SpaceDrawer
from spume.srgb import to_linear, to_srgb

VARIANT = "scalar_rgb"
"""The variant of Mitsuba that runs on every machine."""
MEAN_FREE_PATH = 0.3
"""Mean free path of light in foam, in point spacings."""
DEPTH = 160
"""Maximum number of scattering events of a path."""
PASSES = 8
"""Pictures that are averaged."""
FOAM = 0.4
"""Opaque materials with at least this much subsurface light are drawn as scattering media."""


@dataclass(frozen=True)
class BeautyDrawer:
    """Draws the same as a SpaceDrawer, by path tracing."""

    inner: SpaceDrawer

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        mitsuba: Any = require("mitsuba", "--beauty")
        mitsuba.set_variant(VARIANT)
        frame = self.inner.run[number]
        scene = {"type": "scene", "integrator": {"type": "volpath", "max_depth": DEPTH, "rr_depth": 64}}
        scene |= self._camera(mitsuba, frame.time) | self._lights(mitsuba)
        for k, (mesh, finish) in enumerate(self._parts(frame)):
            scene[f"foam {k}"] = self._foam(mitsuba, mesh, finish, f"foam {k}")
        for k, (solid, finish) in enumerate(self.inner.placed_obstacles(frame)):
            color = _rgb(finish.color) if solid.colors is None else {"type": "mesh_attribute", "name": "vertex_color"}
            scene[f"solid {k}"] = _mesh(mitsuba, f"solid {k}", solid, _principled(color, finish), solid.colors)
        if self.inner.ground is not None:
            scene["ground"] = self._ground(mitsuba)
        light = _robust_mean(mitsuba, mitsuba.load_dict(scene), self.inner.options.samples)
        return to_srgb(light + self._haze(frame)[..., None] * (np.array(self.inner.backdrop) - light))

    def legend(self) -> Legend | None:
        """The colour bar, if a quantity is shown."""
        return self.inner.legend()

    def covered(self, number: int) -> float:
        """Part of the picture of a frame that the material covers."""
        return self.inner.covered(number)

    def alike(self, drawers: Sequence[Drawer]) -> "BeautyDrawer":
        """This drawer with the camera and the ground that all of `drawers` share."""
        return replace(self, inner=self.inner.alike([getattr(each, "inner", each) for each in drawers]))

    def _parts(self, frame: Frame) -> list[tuple[ColoredMesh, Finish]]:
        """The meshes to draw; single points become balls."""
        parts = self.inner.material_parts(frame)
        return [(mesh if len(mesh.triangles) else balls(mesh, finish.grain or 1.0), finish) for mesh, finish in parts]

    def _haze(self, frame: Frame) -> NDArray[np.float64]:
        """Fraction by which each pixel fades into the background, as the distant ground does."""
        options = self.inner.options
        near: list[Any] = [mesh for mesh, _ in [*self._parts(frame), *self.inner.placed_obstacles(frame)]]
        parts = [ShadedMesh(mesh.vertices, mesh.triangles, np.zeros((len(mesh.vertices), 3))) for mesh in near]
        if self.inner.ground is not None:
            ground, fade = self.inner.ground_mesh()
            parts.append(ShadedMesh(ground.vertices, ground.triangles, np.repeat(fade[:, None], 3, axis=1)))
        sharp = self.inner.view_at(frame.time)._replace(aperture=0.0)
        mask = rasterize(parts, sharp, (options.width, options.height), (1.0, 1.0, 1.0))
        return to_linear(mask[..., 0] / 255)

    def _camera(self, mitsuba: Any, time: float) -> dict[str, Any]:
        view, options = self.inner.view_at(time), self.inner.options
        look = mitsuba.ScalarTransform4f().look_at(view.position.tolist(), view.target.tolist(), view.up.tolist())
        film = {"type": "hdrfilm", "width": options.width, "height": options.height, "rfilter": {"type": "gaussian"}}
        sampler = {"type": "independent", "sample_count": options.samples}
        sensor = {"type": "perspective", "fov": view.angle, "fov_axis": "y", "to_world": look}
        if view.aperture > 0:
            sensor |= {"type": "thinlens", "aperture_radius": 0.5 * view.aperture, "focus_distance": view.focus}
        return {"sensor": sensor | {"film": film | {"pixel_format": "rgb"}, "sampler": sampler}}

    def _lights(self, mitsuba: Any) -> dict[str, Any]:
        """An even sky and a round lamp about as wide as the scene."""
        lower, upper = self.inner.lower, self.inner.upper
        size = float(np.linalg.norm(upper - lower))
        middle = 0.5 * (lower + upper)
        place = middle + 2.2 * size * self.inner.lamp_direction()
        aim = mitsuba.ScalarTransform4f().look_at(place.tolist(), middle.tolist(), _any_across(place - middle).tolist())
        shape = aim @ mitsuba.ScalarTransform4f().scale(0.7 * size)
        lamp = {"type": "disk", "to_world": shape, "emitter": {"type": "area", "radiance": _rgb((7.0, 6.7, 6.2))}}
        return {"sky": {"type": "constant", "radiance": _rgb((0.5, 0.53, 0.56))}, "lamp": lamp}

    def _foam(self, mitsuba: Any, mesh: ColoredMesh, finish: Finish, name: str) -> Any:
        painted = {"type": "mesh_attribute", "name": "vertex_color"}
        if finish == PLAIN:
            return _mesh(mitsuba, name, mesh, {"type": "diffuse", "reflectance": painted}, mesh.colors)
        if finish.subsurface < FOAM or finish.transparency > 0 or finish.grain:
            return _mesh(mitsuba, name, mesh, _principled(painted, finish), mesh.colors)
        # Multiple scattering darkens a tint: the albedo of one event is much nearer to one than the reflectance.
        albedo = tuple(1.0 - 0.03 * (1.0 - channel) ** 2 - 0.0005 for channel in finish.color)
        medium = {
            "type": "homogeneous",
            "albedo": _rgb(albedo),
            "sigma_t": 1.0 / (MEAN_FREE_PATH * mesh.spacing),
            "phase": {"type": "isotropic"},
        }
        return _mesh(mitsuba, name, mesh, {"type": "null"}, interior=medium)

    def _ground(self, mitsuba: Any) -> Any:
        ground, _ = self.inner.ground_mesh()
        return _mesh(mitsuba, "ground", ground, {"type": "diffuse", "reflectance": _rgb(self.inner.soil.color)})


def _robust_mean(mitsuba: Any, scene: Any, samples: int) -> NDArray[np.float64]:
    """The mean of several pictures, linear RGB, without the fireflies of rare paths that hit the lamp.

    This loses a little light: values of a pixel above three times the median of its pictures.
    """
    passes = min(PASSES, samples)
    shares = [samples // passes + (k < samples % passes) for k in range(passes)]
    rendered = [np.asarray(mitsuba.render(scene, spp=share, seed=k))[..., :3] for k, share in enumerate(shares)]
    pictures = np.stack(rendered).astype(np.float64)
    most = 3.0 * np.median(pictures, axis=0) + 0.02
    return np.asarray(np.mean(np.minimum(pictures, most), axis=0))


def _any_across(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    """A direction perpendicular to the given one."""
    return np.cross(direction, np.eye(3)[int(np.argmin(np.abs(direction)))])


def _rgb(color: Any) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(channel) for channel in color]}


def _principled(color: dict[str, Any], finish: Finish) -> dict[str, Any]:
    bsdf = {"type": "principled", "base_color": color, "roughness": max(0.05, finish.roughness)}
    if finish.transparency > 0:
        return bsdf | {"spec_trans": finish.transparency, "eta": 1.33}
    return {"type": "twosided", "bsdf": bsdf | {"metallic": finish.metallic}}


def balls(points: ColoredMesh, size: float) -> ColoredMesh:
    """An icosahedron around each point, `size` spacings wide, with the normals of a ball."""
    golden = 0.5 * (1 + 5**0.5)
    corners = [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    unit = np.array([[c[(k + turn) % 3] for k in range(3)] for turn in range(3) for c in corners])
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    faces = ConvexHull(unit).simplices
    inward = (
        np.einsum(
            "ij,ij->i",
            np.cross(unit[faces[:, 1]] - unit[faces[:, 0]], unit[faces[:, 2]] - unit[faces[:, 0]]),
            unit[faces[:, 0]],
        )
        < 0
    )
    faces[inward] = faces[inward][:, ::-1]
    count = len(points.vertices)
    vertices = points.vertices[:, None] + 0.5 * size * points.spacing * unit
    triangles = faces[None] + 12 * np.arange(count)[:, None, None]
    return ColoredMesh(
        vertices.reshape(-1, 3), triangles.reshape(-1, 3).astype(np.int32), np.tile(unit, (count, 1)),
        np.repeat(points.colors, 12, axis=0), points.spacing,
    )  # fmt: skip


def _mesh(
    mitsuba: Any,
    name: str,
    mesh: Any,
    bsdf: dict[str, Any],
    colors: NDArray[np.float64] | None = None,
    interior: dict[str, Any] | None = None,
) -> Any:
    """A mesh of Mitsuba with the given surface and, optionally, a medium inside."""
    properties = mitsuba.Properties()
    properties["bsdf"] = mitsuba.load_dict(bsdf)
    if interior is not None:
        properties["interior"] = mitsuba.load_dict(interior)
    made = mitsuba.Mesh(name, len(mesh.vertices), len(mesh.triangles), properties, has_vertex_normals=True)
    if colors is not None:
        made.add_attribute("vertex_color", 3, np.ascontiguousarray(colors, np.float32).ravel())
    values = mitsuba.traverse(made)
    values["vertex_positions"] = np.ascontiguousarray(mesh.vertices, np.float32).ravel()
    values["faces"] = np.ascontiguousarray(mesh.triangles, np.uint32).ravel()
    values["vertex_normals"] = np.ascontiguousarray(mesh.normals, np.float32).ravel()
    values.update()
    return made
