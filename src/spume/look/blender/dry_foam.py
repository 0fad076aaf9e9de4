"""A dry foam by Cycles, as it is seen between two glass plates: films are walls of liquid on tinted bubbles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.cores import cores
from spume.dryfoam.drawing import cell_outlines
from spume.dryfoam.network.half_edges import Network, network_of
from spume.dryfoam.picture import COLOUR_MAPS, shading_values
from spume.dryfoam.shapes import filled, film_curves
from spume.extras import require
from spume.look.blender.render import traced
from spume.look.blender.studio import Job, lamps, look_table, rendering, view_table
from spume.look.finish import Finish, background
from spume.look.pictures.camera import View
from spume.look.pictures.drawing import Drawer, Picture
from spume.look.pictures.dry_foam_drawer import DryFoamDrawer
from spume.look.pictures.lettering import Legend
from spume.srgb import to_linear

Floats = NDArray[np.float64]
THICKNESS, HEIGHT = 0.08, 0.36
"""Of the walls, relative to the diameter of the average bubble."""
ROUND = 7
"""Points across the rounded top of a wall."""
FILM = Finish((0.93, 0.95, 0.97), subsurface=0.55, roughness=0.22)
GAS = Finish((1.0, 1.0, 1.0), roughness=0.12)
GROUND = Finish((0.16, 0.19, 0.23), roughness=0.9)
SATURATION = 0.95
"""How much of a colour map's colour the bubbles have; the rest is white."""
VIEW_ANGLE = 24.0
UP = np.array([0.0, 0.0, 1.0])
SLOPE = np.array([0.0, -0.85, 1.0])
"""Direction from the foam to the camera."""


@dataclass(frozen=True)
class CyclesFoamDrawer:
    """Draws the same as a DryFoamDrawer, by path tracing in a Blender process, from the same camera in all frames."""

    inner: DryFoamDrawer

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        return traced(self._job(network_of(self.inner.run[number]), number))

    def legend(self) -> Legend | None:
        """None: the colours follow each frame, as in fast pictures."""
        return None

    def covered(self, number: int) -> float:
        """1: the foam fills its window."""
        return 1.0

    def alike(self, drawers: Sequence[Drawer]) -> "CyclesFoamDrawer":
        """This drawer with a window that contains the foams of all drawers."""
        return replace(self, inner=self.inner.alike([getattr(each, "inner", each) for each in drawers]))

    def _job(self, network: Network, number: int) -> Job:
        lower, upper = np.array([*self.inner.lower, 0.0]), np.array([*self.inner.upper, 0.0])
        size, middle = float(np.linalg.norm(upper - lower)), 0.5 * (lower + upper)
        diameter = float(np.sqrt(np.mean(network.targets)))
        view = framing(lower, upper, self.inner.options.width / self.inner.options.height)
        ground = {
            "middle": [*middle[:2].tolist(), -0.02 * diameter],
            "far": 40 * size,
            "away": [0.0, 1.0, 0.0],
            "fade": [0.6 * size, 2.4 * size],
            "look": look_table(GROUND, size, False),
        }
        tables: dict[str, Any] = {
            "task": "render",
            "looks": {"films": look_table(FILM, size, False), "bubbles": look_table(GAS, size, True)},
            "items": [_item("0", "films"), _item("1", "bubbles")],
            "rate": float(self.inner.run.scene.frame_rate),
            "range": [number, number],
            "camera": {"frames": [number], "views": [view_table(view, np.eye(3))], "reach": size},
            "lights": lamps(middle, UP, view, np.eye(3), size),
            "ground": ground,
        }
        tables |= rendering(
            self.inner.options, list(background(self.inner.run.scene)), self.inner.options.samples, cores()
        )
        vertices, triangles, normals = walls(network, THICKNESS * diameter, HEIGHT * diameter)
        x, faces, owner = filled(cell_outlines(network, np.radians(2.0)))
        arrays: dict[str, NDArray[Any]] = {
            "0/vertices": vertices, "0/triangles": triangles, "0/normals": normals,
            "1/vertices": np.column_stack([x, np.zeros(len(x))]), "1/triangles": faces,
            "1/normals": np.tile(UP, (len(x), 1)), "1/colors": self._colors(network)[owner],
        }  # fmt: skip
        return Job(tables, arrays)

    def _colors(self, network: Network) -> Floats:
        """A colour for each bubble, linear RGB: that of the colour map, paler."""
        if self.inner.shading == "none":
            return np.full((network.cells, 3), 0.85)
        matplotlib = require("matplotlib", "the colours of a dry foam")
        values = shading_values(network, self.inner.shading)
        low, high = (3.0, 9.0) if self.inner.shading == "sides" else np.percentile(values, [5, 95])
        part = np.clip((values - low) / ((high - low) or 1.0), 0.0, 1.0)
        tints = to_linear(np.asarray(matplotlib.colormaps[COLOUR_MAPS[self.inner.shading]](part))[:, :3])
        return np.asarray(1.0 - SATURATION * (1.0 - tints))


def _item(key: str, name: str) -> dict[str, Any]:
    return {"key": key, "name": name, "kind": "mesh", "look": name, "only": None, "frames": []}


def walls(network: Network, thickness: float, height: float) -> tuple[Floats, NDArray[np.int32], Floats]:
    """Walls along the films with a round top: vertices, triangles and normals."""
    points, lines, _ = film_curves(network)
    angle = np.linspace(0.0, np.pi, ROUND)
    # across the wall from right to left: distance from its middle, height, and the normal there
    across = np.concatenate([[0.5], 0.5 * np.cos(angle), [-0.5]]) * thickness
    level = np.concatenate([[0.0], height - 0.5 * thickness + 0.5 * thickness * np.sin(angle), [0.0]])
    lean = np.concatenate([[1.0], np.cos(angle), [-1.0]])
    rise = np.concatenate([[0.0], np.sin(angle), [0.0]])
    ahead, behind = np.arange(len(points)) + 1, np.arange(len(points)) - 1
    ahead[lines[1:] - 1] -= 1
    behind[lines[:-1]] += 1
    along = points[ahead] - points[behind]
    right = np.stack([along[:, 1], -along[:, 0]], axis=1)
    right /= np.maximum(np.linalg.norm(right, axis=1), 1e-300)[:, None]
    count = len(across)
    vertices = np.zeros((len(points), count, 3))
    vertices[:, :, :2] = points[:, None] + across[None, :, None] * right[:, None]
    vertices[:, :, 2] = level
    normals = np.zeros_like(vertices)
    normals[:, :, :2] = lean[None, :, None] * right[:, None]
    normals[:, :, 2] = rise
    first = np.delete(np.arange(len(points)), lines[1:] - 1)  # the last point of a film begins no piece
    a = (first[:, None] * count + np.arange(count - 1)).ravel()
    b, c, d = a + 1, a + count, a + count + 1
    triangles = np.concatenate([np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)])
    return vertices.reshape(-1, 3), triangles.astype(np.int32), normals.reshape(-1, 3)


def framing(lower: Floats, upper: Floats, aspect: float) -> View:
    """A camera above and in front of the foam that has all of its corners in the picture."""
    back = SLOPE / np.linalg.norm(SLOPE)
    right = np.array([1.0, 0.0, 0.0])
    above = np.cross(back, right)
    middle = 0.5 * (lower + upper)
    corners = np.array([[x, y, 0.0] for x in (lower[0], upper[0]) for y in (lower[1], upper[1])]) - middle
    half = np.tan(np.radians(0.5 * VIEW_ANGLE))
    # a corner is in the picture if |right| ≤ half aspect (d − depth), |above| ≤ half (d − depth)
    needed = np.maximum(np.abs(corners @ right) / (half * aspect), np.abs(corners @ above) / half) + corners @ back
    distance = 1.02 * float(needed.max())
    return View(middle + distance * back, middle, np.array([0.0, 1.0, 0.0]), VIEW_ANGLE)
