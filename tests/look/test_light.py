"""Light in fast pictures: shadows, the ground, clear bodies, panes."""

import numpy as np
import pytest

from spume.look.finish import Finish
from spume.look.pictures.camera import View
from spume.look.pictures.glass import GLASS, box, glass_panes
from spume.look.pictures.lighting import Occupancy
from spume.look.pictures.raster import ShadedMesh, Stage, rasterize
from spume.srgb import to_linear

UP = np.array([0.0, 1.0, 0.0])
SIZE = (160, 90)
WHITE, GREY = Finish((0.9, 0.9, 0.9), 0.6, 0.8), Finish((0.3, 0.3, 0.3), 0.0, 1.0)
BACKDROP = (0.2, 0.25, 0.3)
VIEW = View(np.array([0.0, 1.2, 3.0]), np.array([0.0, 0.3, 0.0]), UP, 40.0)


def stage(ground: float | None = 0.0) -> Stage:
    """A lamp at the upper left, and nothing on the lattice of occupied volume."""
    empty = np.zeros((8, 8, 8), np.float32)
    lights = np.array([[-0.6, 1.0, 0.5], [0.6, 0.4, 0.8], [0.5, 0.4, -0.8], [0.0, 1.0, 0.0]])
    lights /= np.linalg.norm(lights, axis=1)[:, None]
    room = np.array([-0.6, 0.0, -0.6]), np.array([0.6, 1.0, 0.6])
    return Stage(lights, Occupancy(np.full(3, -2.0), 0.5, empty, empty), room, ground, GREY, (1.0, 6.0))


def lit(mesh, finish: Finish) -> ShadedMesh:
    colors = np.tile(finish.color, (len(mesh.vertices), 1))
    return ShadedMesh(mesh.vertices, mesh.triangles, colors, normals=mesh.normals, finish=finish)


def draw(parts: list[ShadedMesh], ground: float | None = 0.0, view: View = VIEW) -> np.ndarray:
    return rasterize(parts, view, SIZE, BACKDROP, None, stage(ground)).astype(int)


def test_a_box_throws_its_shadow_away_from_the_lamp() -> None:
    floating = box(np.array([-0.2, 0.3, -0.2]), np.array([0.2, 0.6, 0.2]))
    with_box, without = draw([lit(floating, WHITE)]), draw([])
    darker = (without - with_box).sum(axis=2) > 30
    columns = np.nonzero(darker)[1]
    assert len(columns) > 100
    assert columns.mean() > 80, "the lamp is at the left, and the shadow at the right"


def test_the_ground_has_no_dark_ellipse() -> None:
    """Along each row the empty ground is even: it fades with the distance behind the scene alone."""
    picture = draw([])
    lower = picture[60:]
    assert np.ptp(lower, axis=1).max() <= 6
    assert (np.diff(picture[:, 80, 0]) < 0).sum() < 60


def test_white_foam_in_full_light_is_nearly_white_and_keeps_its_shape() -> None:
    cube = box(np.array([-0.3, 0.0, -0.3]), np.array([0.3, 0.6, 0.3]))
    picture = draw([lit(cube, WHITE)])
    top, front = picture[33, 80].mean(), picture[62, 80].mean()
    assert 225 <= top <= 252
    assert top > front + 8


@pytest.mark.parametrize("channel", [0, 2])
def test_deeper_water_is_darker_and_bluer(channel: int) -> None:
    water = Finish((0.16, 0.45, 0.67), 0.0, 0.02, 1.0)
    wall = box(np.array([-2.0, -1.0, -1.2]), np.array([2.0, 2.0, -1.0]))
    seen = []
    for deep in (0.05, 0.3, 0.9):
        body = box(np.array([-0.5, 0.0, 0.6 - deep]), np.array([0.5, 0.8, 0.6]))
        straight = View(np.array([0.0, 0.4, 4.0]), np.array([0.0, 0.4, 0.0]), UP, 20.0)
        seen.append(to_linear(draw([lit(wall, WHITE), lit(body, water)], None, straight)[45, 80] / 255))
    red, blue = np.array(seen)[:, 0], np.array(seen)[:, 2]
    assert (np.diff(red) < 0).all()
    assert (np.diff(blue / red) > 0).all()


def test_a_pane_stands_at_each_wall_that_the_material_touches() -> None:
    lower, upper = np.array([-1.0, 0.0, -0.5]), np.array([2.0, 3.0, 0.5])
    material = np.array([[-1.0, 0.0, -0.49], [0.4, 0.7, 0.49]])
    panes = glass_panes(lower, upper, material, UP, eye=np.array([0.5, 5.0, 0.0]))
    assert len(panes) == 3
    tops = [float(pane.vertices[:, 1].max()) for pane in panes]
    assert max(tops) < 1.0
    assert GLASS.transparency > 0.9


def test_no_pane_stands_between_the_eye_and_the_material() -> None:
    lower, upper = np.array([-1.0, 0.0, -0.5]), np.array([2.0, 3.0, 0.5])
    material = np.array([[-1.0, 0.0, -0.49], [0.4, 0.7, 0.49]])
    for eye, left in (((-3.0, 1.0, 3.0), 1), ((3.0, 1.0, 3.0), 2), ((3.0, 1.0, 0.0), 3)):
        panes = glass_panes(lower, upper, material, UP, np.array(eye))
        assert len(panes) == left
        for pane in panes:
            middle = 0.5 * (pane.vertices.min(axis=0) + pane.vertices.max(axis=0))
            side = int(np.argmax([abs(np.clip(m, a, b) - m) for m, a, b in zip(middle, lower, upper)]))
            beyond = lower[side] if middle[side] < lower[side] else upper[side]
            # the eye is on the inner side of each wall that is left
            assert (np.array(eye)[side] - beyond) * (middle[side] - beyond) < 0.0


def test_panes_leave_what_is_behind_them_visible() -> None:
    cube = lit(box(np.array([-0.3, 0.0, -0.3]), np.array([0.3, 0.6, 0.3])), WHITE)
    pane = lit(box(np.array([-0.5, 0.0, 0.5]), np.array([0.5, 0.7, 0.51])), GLASS)
    difference = np.abs(draw([cube, pane]) - draw([cube]))[30:70, 60:100]
    assert difference.mean() < 12
