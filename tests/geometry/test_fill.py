"""Filling shapes with points."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from shape_cases import BY_NAME, A, read

from spume.errors import SceneError
from spume.geometry.filling.darts import MARGIN
from spume.geometry.filling.fill import fill
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes.volume import volume

FILLED = {
    "sphere": 0.08,
    "rounded box": 0.08,
    "torus": 0.08,
    "union with a difference": 0.08,
    "plate with holes": 0.05,
    "rectangle": 0.05,
    "polygon": 0.05,
    "ring": 0.05,
}
"""Shapes and the cells [m] to fill them with."""
PATTERNS = ["lattice", "poisson-disk"]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", FILLED)
def test_points_are_inside_and_their_volumes_sum_to_that_of_the_shape(name, pattern):
    case = BY_NAME[name]
    filling = fill(case.shape, case.dimension, FILLED[name], pattern)
    assert filling.positions.shape == (len(filling.volume), case.dimension)
    assert distances(compile_shape(case.shape, case.dimension), filling.positions).max() <= 0.0
    assert filling.volume.sum() == pytest.approx(filling.shape.volume, rel=1e-12)
    assert filling.shape.volume == volume(case.shape, case.dimension)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_filling_is_reproducible_from_the_seed(pattern):
    shape = BY_NAME["torus"].shape
    one, same, other = (fill(shape, 3, 0.08, pattern, jitter=0.7, rng=seed).positions for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert one.shape != other.shape or not np.array_equal(one, other)
    generator = fill(shape, 3, 0.08, pattern, jitter=0.7, rng=np.random.default_rng(1)).positions
    np.testing.assert_array_equal(one, generator)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 1), st.integers(0, 1000))
def test_jitter_keeps_every_point_in_its_lattice_cell_and_in_the_shape(jitter, seed):
    case = BY_NAME["torus"]
    plain = fill(case.shape, 3, 0.1).positions
    moved = fill(case.shape, 3, 0.1, jitter=jitter, rng=seed).positions
    # The torus is 1.4 and 0.4 wide, so its cells are cubes of 0.05 along its own axes.
    assert np.linalg.norm(moved - plain, axis=1).max() <= math.sqrt(3) * jitter * 0.05 / 2 + 1e-15
    assert case.inside(moved).all()
    if jitter > 0.01:
        # Uniform in ± a: the mean of |move| is about a/2 less what is halved at the surface.
        assert np.abs(moved - plain).mean() > 0.3 * jitter * 0.05 / 2


@pytest.mark.parametrize(("name", "cell"), [("sphere", 0.06), ("rounded box", 0.06), ("circle", 0.02), ("ring", 0.02)])
def test_poisson_disk_points_keep_their_distance_and_leave_no_hole(name, cell):
    """Count within 2 % of points_per_axis^d a cell. The least distance r follows from the count: at saturation
    n r^d / V is 0.734 (0.697 in 2D) [Zhang13], more near the surface: so r^d is at least 0.697/1.02 > 0.68 of the
    spacing's. No inside place is further than r from a point, but for the smallest boxes of the search, whose
    diagonal is √d/(1024 α) r < 0.002 r."""
    case = BY_NAME[name]
    d = case.dimension
    filling = fill(case.shape, d, cell, "poisson-disk", rng=3)
    spacing = cell / 2
    count = filling.shape.volume / spacing**d
    assert abs(len(filling.positions) - count) <= 0.02 * count + 1
    tree = cKDTree(filling.positions)
    r = tree.query(filling.positions, k=2)[0][:, 1].min()
    assert r >= 0.68 ** (1 / d) * spacing
    x = np.random.default_rng(4).uniform(-1, 1, (40_000, d))
    assert tree.query(x[case.inside(x)])[0].max() < 1.002 * r


def test_poisson_disk_fills_parts_that_are_far_apart():
    far = read({"union": {"of": [A, {"translate": {"shape": A, "by": [500, 300, 0]}}]}})
    x = fill(far, 3, 0.1, "poisson-disk").positions
    assert (x[:, 0] > 250).sum() == pytest.approx(len(x) / 2, rel=0.05)


def test_a_lattice_of_parts_that_are_far_apart_needs_no_memory_for_what_lies_between():
    far = read({"union": {"of": [A, {"translate": {"shape": A, "by": [5e4, 3e4, 1e4]}}]}})
    assert len(fill(far, 3, 0.1).positions) == pytest.approx(2 * 4 / 3 * math.pi * 8**3, rel=0.02)


def test_a_shape_too_thin_for_the_cell_is_an_error_that_says_which_cell_would_do():
    sheet = read({"box": {"center": [0, 0, 0.001], "size": [1, 1, 0.01]}})
    with pytest.raises(SceneError, match=r"too thin; cell = [\d.e-]+ would do") as caught:
        fill(sheet, 3, 0.1, "lattice")
    cell = float(str(caught.value).split("cell = ")[2].split(" ")[0])
    filling = fill(sheet, 3, cell, "lattice")
    assert 0.5 * cell / 2 <= 0.01  # half a spacing
    assert filling.volume.sum() == pytest.approx(0.01, rel=1e-12)


@pytest.mark.parametrize(
    ("table", "options", "sentence"),
    [
        ({"half_space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}, {}, "the shape 'half_space' is unbounded"),
        (A, {"cell": 0.0}, "cell > 0"),
        (A, {"cell": math.nan}, "cell > 0"),
        (A, {"points_per_axis": 0}, "points_per_axis ≥ 1"),
        (A, {"jitter": 1.5}, "jitter between 0 and 1"),
        (A, {"pattern": "hexagonal"}, "pattern"),
        (A, {"cell": 5.0}, "too small or too thin"),
    ],
)
def test_a_filling_that_cannot_be_is_an_error(table, options, sentence):
    with pytest.raises(SceneError, match=sentence):
        fill(read(table), 3, **{"cell": 0.1, **options})


def test_scattered_points_keep_a_margin_from_faces():
    """Faces on cell borders: without the margin the search visits a million boxes in each cell outside of them."""
    side, spacing = 1.0, 0.125
    box = read({"box": {"center": [0.5, 0.5, 0.5], "size": [side, side, side]}})
    x = fill(box, 3, 2 * spacing, "poisson-disk").positions
    inside = np.minimum(x, side - x).min()
    assert inside >= MARGIN * 0.5 * spacing  # cells of the search are wider than half the spacing
