"""Sand is seen as grains: shades by number, darker where wet, in pictures and in the viewer."""

from pathlib import Path

import numpy as np
import synthetic_run

from spume.look.finish import Finish
from spume.look.grains import LOOSE, SHARE, WET, exposed, point_colors, scattered, shades
from spume.look.viewer.watched_run import watch
from spume.srgb import to_linear

SAND = Finish((0.5, 0.4, 0.3), roughness=1.0, grain=1.0, variation=0.4)


def test_shades_fill_the_range_and_stay_with_the_point() -> None:
    """Brightness is within ±variation/2 of 1, 1 on average, and a function of the number alone."""
    ids = np.arange(10_000)
    found = shades(ids, 0.4)
    assert found.min() >= 0.8
    assert found.max() <= 1.2
    # multiples of the golden ratio are equidistributed: the mean of n of them is off by O(log n / n)
    assert abs(found.mean() - 1.0) < 0.4 * np.log(1e4) / 1e4
    np.testing.assert_array_equal(shades(ids[::-1], 0.4), found[::-1])


def test_wet_grains_are_darker() -> None:
    ids = np.arange(100)
    dry, wet = (point_colors(SAND, ids, np.full(100, s)) for s in (0.0, 1.0))
    np.testing.assert_allclose(wet, (1.0 - WET) * dry)


def lattice(count: int) -> np.ndarray:
    return np.stack(np.meshgrid(*[np.arange(float(count))] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def test_points_are_at_the_surface_within_a_layer_of_it() -> None:
    """Neighbours within REACH = 1.9 spacings of a point three layers deep are the same on all sides."""
    x = lattice(12)
    outer, inner = ((x < 0.5) | (x > 10.5)).any(axis=1), ((x > 2.5) & (x < 8.5)).all(axis=1)
    for moved in (x, x @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]):
        found = exposed(moved, 1.0)
        assert found[outer].all()
        assert not found[inner].any()
    assert exposed(x[x[:, 2] < 1.5], 1.0).all()  # a sheet of two layers
    assert exposed(x[:5], 1.0).all()


def test_grains_have_the_volume_of_their_points_and_several_sizes() -> None:
    """The cubes of n sizes, each uniform in its logarithm over ±SPREAD, have a mean with a relative standard error
    below 1/√n for SPREAD < 1, here below a quarter of the tolerance."""
    x = 0.01 * lattice(12)
    made = scattered(x, np.ones((len(x), 3)), 0.01, 0.4, (10, 200), 10**6)
    of_point = np.bincount(made.point)
    assert (of_point.min(), of_point.max()) == (10, 200)
    for number in (10, 200):
        cubes = made.sizes[of_point[made.point] == number] ** 3
        assert abs(cubes.mean() * number / (LOOSE * 0.01) ** 3 - 1.0) < 4 / np.sqrt(len(cubes))
    assert np.abs(made.x - x[made.point]).max() <= SHARE * 0.01
    outer = made.sizes[of_point[made.point] == 200]
    assert outer.max() > 2.5 * outer.min()
    assert outer.max() < 0.01


def test_grains_stay_with_their_points() -> None:
    """More points, and so fewer grains for each, do not move those that are left."""
    x = lattice(9)
    many = scattered(x, np.ones((len(x), 3)), 1.0, 0.4, (5, 300), 60_000)
    few = scattered(x, np.ones((len(x), 3)), 1.0, 0.4, (5, 300), 30_000)
    assert len(few.x) <= 30_000 < len(many.x) <= 60_000
    for point in (0, 100, 364):
        left = few.x[few.point == point]
        np.testing.assert_array_equal(left, many.x[many.point == point][: len(left)])


def test_a_single_grain_is_its_point() -> None:
    x = lattice(5)
    made = scattered(x, np.ones((len(x), 3)), 1.0, 0.4, (5, 300), 130)
    np.testing.assert_array_equal(made.x, x)
    np.testing.assert_array_equal(made.sizes, 1.0)


def test_the_viewer_shows_sand_as_grains_in_their_own_colours(tmp_path: Path) -> None:
    """A surface is asked for, and points are shown, since the material is granular; their colours differ."""
    look = {"color": "#c0a070", "grain": 1.0, "variation": 0.5}
    bodies = [{**body, "look": look} for body in synthetic_run.scene_tables()["body"]]
    watched = watch(synthetic_run.write_run(tmp_path / "sand", body=bodies))
    (shown,) = watched.frame(0, "surface", ["material"]).values()
    assert len(shown.triangles) == 0
    colors = watched.color(shown, "material")
    brightness = to_linear(colors / 255).mean(axis=1)
    assert brightness.max() > 1.4 * brightness.min()
