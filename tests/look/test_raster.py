"""The rasterizer against what a pinhole camera would see."""

import numpy as np
import pytest

from spume.look.pictures.camera import View
from spume.look.pictures.raster import ShadedMesh, rasterize
from spume.look.triangle_mesh import split_at_edges
from spume.srgb import to_srgb

BLACK = (0.0, 0.0, 0.0)
SIZE = (120, 80)
VIEW = View(np.array([0.0, 0.0, 5.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]), 40.0)
HALF = np.tan(np.radians(20.0))
"""Half the picture's height at a distance of one."""


def rectangle(width, height, z=0.0, color=(1.0, 1.0, 1.0), **more):
    x, y = width / 2, height / 2
    corners = np.array([[-x, -y, z], [x, -y, z], [x, y, z], [-x, y, z]])
    return ShadedMesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.tile(color, (4, 1)), **more)


@pytest.mark.parametrize("z", [0.0, 2.0, -3.0])
def test_a_rectangle_covers_what_a_pinhole_camera_sees_of_it(z):
    picture = rasterize([rectangle(1.0, 0.8, z)], VIEW, SIZE, BLACK)
    height = 0.8 / (2 * HALF * (5.0 - z)) * SIZE[1]
    width = 1.0 / (2 * HALF * (5.0 - z)) * SIZE[1]
    # an edge of the rectangle is off by half a sample at most, a quarter of a pixel
    assert (picture > 0).any(axis=(1, 2)).sum() == pytest.approx(height, abs=1.5)
    assert (picture > 0).any(axis=(0, 2)).sum() == pytest.approx(width, abs=1.5)


def test_the_nearer_of_two_meshes_is_seen_whatever_their_order():
    near, far = rectangle(1.0, 1.0, 1.0, (1.0, 0.0, 0.0)), rectangle(2.0, 2.0, 0.0, (0.0, 1.0, 0.0))
    pictures = [rasterize(parts, VIEW, SIZE, BLACK) for parts in ([near, far], [far, near])]
    np.testing.assert_array_equal(*pictures)
    assert tuple(pictures[0][40, 60]) == (255, 0, 0)


def test_colours_are_interpolated_on_the_surface_not_on_the_picture():
    """The middle of an edge that leads away from the camera has the mean colour of its ends."""
    x, near, far = 0.5, 3.0, -3.0
    corners = np.array([[-x, -1.0, near], [x, -1.0, near], [x, -1.0, far], [-x, -1.0, far]])
    light = np.array([[0.0] * 3, [0.0] * 3, [1.0] * 3, [1.0] * 3])
    floor = ShadedMesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), light)
    picture = rasterize([floor], VIEW, SIZE, BLACK)
    row = SIZE[1] / 2 + SIZE[1] / 2 * (1.0 / 5.0) / HALF  # of the point (0, -1, 0), half-way
    slope = np.abs(np.diff(picture[:, 60, 0].astype(int)))[int(row) - 2 : int(row) + 2].max()
    assert abs(int(picture[int(row), 60, 0]) - int(to_srgb(np.array([0.5]))[0])) <= slope


def test_a_mesh_that_reaches_behind_the_camera_is_cut_off_there():
    floor = np.array([[-50.0, -1.0, 50.0], [50.0, -1.0, 50.0], [50.0, -1.0, -50.0], [-50.0, -1.0, -50.0]])
    mesh = ShadedMesh(floor, np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.ones((4, 3)))
    picture = rasterize([mesh], VIEW, SIZE, BLACK)
    horizon = SIZE[1] / 2 + SIZE[1] / 2 * (1.0 / 55.0) / HALF
    assert (picture[int(horizon) + 2 :] == 255).all()
    assert (picture[: int(horizon) - 1] == 0).all()


def test_light_through_a_clear_mesh_is_blended_in_proportion_to_its_opacity():
    wall, pane = rectangle(9.0, 9.0, 0.0, (1.0, 0.0, 0.0)), rectangle(9.0, 9.0, 1.0, (0.0, 1.0, 0.0), opacity=0.25)
    for parts in ([wall, pane], [pane, wall]):
        seen = rasterize(parts, VIEW, SIZE, BLACK)[40, 60]
        np.testing.assert_array_equal(seen, to_srgb(np.array([0.75, 0.25, 0.0])))


def test_a_ball_covers_its_disc_and_is_brightest_towards_the_lamp():
    ball = ShadedMesh(np.zeros((1, 3)), np.empty((0, 3), np.int32), np.full((1, 3), 0.5), point_size=1.0)
    flat = rasterize([ball], VIEW, SIZE, BLACK)
    radius = 0.5 / (2 * HALF * 5.0) * SIZE[1]
    assert (flat > 0).any(axis=2).sum() == pytest.approx(np.pi * radius**2, rel=4 / radius)
    lit = rasterize([ball], VIEW, SIZE, BLACK, lamp=np.array([0.0, 1.0, 0.0]))
    assert int(lit[int(40 - radius / 2), 60, 0]) > int(lit[int(40 + radius / 2), 60, 0]) + 20


def test_a_lens_leaves_what_is_in_focus_and_spreads_what_is_not():
    lens = VIEW._replace(aperture=0.4, focus=5.0)
    sharp, blurred = rectangle(1.0, 1.0, 0.0), rectangle(1.0, 1.0, -4.0)
    np.testing.assert_array_equal(rasterize([sharp], lens, SIZE, BLACK)[40], rasterize([sharp], VIEW, SIZE, BLACK)[40])
    edges = [rasterize([blurred], view, SIZE, BLACK)[40, :, 0] for view in (VIEW, lens)]
    between = [int(((edge > 20) & (edge < 235)).sum()) for edge in edges]
    # the circle of confusion has the radius 0.2 · (1/5 − 1/9) / (2 HALF) of the picture's height: 2 pixels
    assert between[1] >= between[0] + 3


def test_a_cube_is_split_into_its_faces_and_a_smooth_strip_is_not():
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    split = split_at_edges(cube, triangles, 35.0)
    assert len(split.vertices) == 24
    np.testing.assert_allclose(np.abs(split.normals).max(axis=1), 1.0)
    assert len(split_at_edges(cube, triangles, 100.0).vertices) == 8
