"""Spray, foam and bubbles: their potentials, their motion, and the frames on disk."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic_run
from scipy.spatial import cKDTree

import spume
from spume.errors import SceneError, SpumeError
from spume.exports.contents import contents
from spume.frames.reader import Run, open_run
from spume.look.pictures.drawing import PictureOptions
from spume.look.pictures.space_drawer import space_drawer
from spume.runs.folder import RunFolder
from spume.runs.storage import read_metadata, write_arrays
from spume.whitewater import making
from spume.whitewater.commands import whitewater as command
from spume.whitewater.making import Settings, has_whitewater, make_whitewater, whitewater, whitewater_file
from spume.whitewater.points import BUBBLE, FOAM, SPRAY, Motion, Points, Water, moved, none, seeded
from spume.whitewater.potentials import Range, Thresholds, crests, neighbours, normals, potentials, trapped_air

SPACING = 0.1
H = 2.0 * SPACING
G = np.array([0.0, -9.81, 0.0])


def block(count: int = 9) -> np.ndarray:
    """A cube of points around the origin."""
    line = SPACING * (np.arange(count) - (count - 1) / 2)
    return np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)


def nowhere(x: np.ndarray) -> np.ndarray:
    return np.zeros(len(x), bool)


def points(x: Any, v: Any = (0.0, 0.0, 0.0), life: float = 1.0) -> Points:
    x = np.atleast_2d(np.array(x, dtype=float))
    v = np.tile(np.array(v, dtype=float), (len(x), 1))
    return Points(x, v, np.zeros(len(x), np.uint8), np.full(len(x), life), np.arange(len(x)))


def test_a_potential_is_clamped_and_linear() -> None:
    np.testing.assert_allclose(Range(1.0, 3.0).of(np.array([0.0, 1.0, 1.5, 3.0, 9.0])), [0, 0, 0.25, 1, 1])


def test_water_that_moves_as_a_whole_traps_no_air() -> None:
    x = block()
    v = np.tile([3.0, -2.0, 1.0], (len(x), 1))
    np.testing.assert_allclose(trapped_air(neighbours(x, H), v), 0.0, atol=1e-12)


def test_air_is_trapped_where_water_approaches_and_not_where_it_parts() -> None:
    """Two points: |v| (1 − v̂·x̂) is 2 |v| head on, 0 apart, |v| across."""
    x = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    pairs = neighbours(x, H)
    for v, expected in (([-1.0, 0, 0], 2.0), ([1.0, 0, 0], 0.0), ([0, 1.0, 0], 1.0)):
        found = trapped_air(pairs, np.array([[0.0, 0.0, 0.0], v]))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_normals_point_out_of_the_water_and_vanish_inside() -> None:
    x = block()
    n = normals(neighbours(x, H))
    edge = np.abs(x).max()
    inner = np.abs(x).max(axis=1) < edge - H
    np.testing.assert_array_equal(n[inner], 0.0)
    top = (x[:, 1] > edge - 1e-9) & (np.abs(x[:, [0, 2]]).max(axis=1) < edge - H)
    np.testing.assert_allclose(n[top], np.tile([0.0, 1.0, 0.0], (top.sum(), 1)), atol=1e-12)


def test_a_crest_is_convex_and_moves_outwards() -> None:
    """At the edges of a block, not on its flat faces; and only where the water moves along the normal."""
    x = block()
    pairs = neighbours(x, H)
    n = normals(pairs)
    edge = np.abs(x).max()
    flat = (x[:, 1] > edge - 1e-9) & (np.abs(x[:, [0, 2]]).max(axis=1) < edge - H)
    corner = (x > edge - 1e-9).all(axis=1)
    outwards = crests(pairs, n, n)
    assert outwards[corner].min() > 0.1
    np.testing.assert_allclose(outwards[flat], 0.0, atol=1e-12)
    np.testing.assert_array_equal(crests(pairs, -n, n), 0.0)
    np.testing.assert_array_equal(crests(pairs, np.zeros_like(x), n), 0.0)


def test_water_at_rest_makes_nothing() -> None:
    found = potentials(block(), np.zeros((729, 3)), H, Thresholds())
    for each in found:
        np.testing.assert_array_equal(each, 0.0)


def test_new_points_lie_in_a_cylinder_along_the_way() -> None:
    v, dt, radius = np.array([[1.0, 2.0, -2.0]]), 0.1, 0.05
    made = seeded(np.zeros((1, 3)), v, np.array([4000]), np.ones(1), radius, dt, 7, np.random.default_rng(1))
    axis = v[0] / 3.0
    along = made.x @ axis
    across = np.linalg.norm(made.x - along[:, None] * axis, axis=1)
    assert along.min() >= 0.0
    assert along.max() <= 3.0 * dt
    assert across.max() <= radius
    # uniform over the disc and the length: means of r² and of the length, to five standard errors
    assert (across**2).mean() == pytest.approx(radius**2 / 2, abs=5 * radius**2 / np.sqrt(12 * 4000))
    assert along.mean() == pytest.approx(1.5 * dt, abs=5 * 3 * dt / np.sqrt(12 * 4000))
    np.testing.assert_array_equal(made.id, 7 + np.arange(4000))
    np.testing.assert_allclose(made.v, np.tile(v, (4000, 1)))


def test_spray_flies_as_a_body_thrown() -> None:
    """Symplectic Euler in n steps: y = v t − ½ g t² (1 + 1/n)."""
    water = Water(cKDTree(np.array([[100.0, 0.0, 0.0]])), np.zeros((1, 3)), H)
    state, n, t = points([0.0, 0.0, 0.0], [1.0, 2.0, 0.0], life=0.01), 50, 0.4
    for _ in range(n):
        state = moved(state, water, Motion(G), t / n, nowhere)
    assert state.kind[0] == SPRAY  # which does not grow old
    expected = [t, 2.0 * t - 0.5 * 9.81 * t**2 * (1 + 1 / n), 0.0]
    np.testing.assert_allclose(state.x[0], expected, atol=1e-12)


def test_foam_goes_with_the_water_and_lives_its_time() -> None:
    x = block()
    v = np.tile([0.5, 0.0, 0.0], (len(x), 1))
    top = np.abs(x).max()
    state = points([0.0, top + 0.6 * SPACING, 0.0], life=0.1)
    water = Water(cKDTree(x), v, H)
    state = moved(state, water, Motion(G), 0.04, nowhere)
    assert state.kind[0] == FOAM
    np.testing.assert_allclose(state.v[0], [0.5, 0.0, 0.0])
    np.testing.assert_allclose(state.life, 0.06)
    state = moved(state, water, Motion(G), 0.04, nowhere)
    state = moved(state, water, Motion(G), 0.04, nowhere)
    assert len(state.x) == 0


def test_bubbles_rise_and_are_dragged_along() -> None:
    x = block()
    water = Water(cKDTree(x), np.tile([0.5, 0.0, 0.0], (len(x), 1)), H)
    state = moved(points([0.0, 0.0, 0.0]), water, Motion(G, buoyancy=2.0, drag=0.25), 0.01, nowhere)
    assert state.kind[0] == BUBBLE
    np.testing.assert_allclose(state.v[0], [0.125, 0.01 * 2.0 * 9.81, 0.0])


def test_what_is_inside_of_an_obstacle_vanishes() -> None:
    water = Water(cKDTree(np.array([[100.0, 0.0, 0.0]])), np.zeros((1, 3)), H)
    state = moved(points([[0, 0, 0], [1, 0, 0]]), water, Motion(G), 0.01, lambda x: x[:, 0] > 0.5)
    np.testing.assert_array_equal(state.id, [0])
    assert len(moved(none(), water, Motion(G), 0.01, nowhere).x) == 0


BODIES = [
    {"material": material, "shape": {"sphere": {"center": [x, 0.2, 0.0], "radius": 0.1}}}
    for material, x in (("water", -0.15), ("gelatin", 0.15))
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A ball of water, which is stretched, and one of gelatin."""
    return open_run(synthetic_run.write_run(tmp_path / "balls", body=BODIES, obstacle=[]))


WILD = Settings(rate=5.0, thresholds=Thresholds(Range(-1.0, 0.0), Range(-1.0, 0.0), Range(-1.0, 0.0)))


def test_frames_are_made_once_continued_and_the_same_bits(run: Run) -> None:
    assert not has_whitewater(run)
    assert make_whitewater(run, WILD) == 3
    assert has_whitewater(run)
    first = [whitewater(run, number) for number in range(3)]
    assert len(first[0].x) == 0
    assert len(first[2].x) > 100
    assert len(np.unique(first[2].id)) == len(first[2].id)
    assert make_whitewater(run, WILD) == 0
    whitewater_file(run, 2).unlink()
    assert make_whitewater(run, WILD) == 1
    for name, values in whitewater(run, 2).arrays().items():
        np.testing.assert_array_equal(values, first[2].arrays()[name])
    assert make_whitewater(run, WILD._replace(seed=1)) == 3
    assert not np.array_equal(whitewater(run, 2).x[:100], first[2].x[:100])


def test_exports_and_pictures_have_the_points(run: Run, tmp_path: Path) -> None:
    before = contents(run, [2], "points", None).recipe()
    make_whitewater(run, WILD)
    exported = contents(run, [2], "points", None)
    assert exported.recipe() != before
    assert exported.piece_names == ["points", "whitewater"]
    piece = exported.pieces(2)[-1]
    made = whitewater(run, 2)
    np.testing.assert_array_equal(piece.x, made.x)
    assert set(piece.fields) == {"v", "kind", "life", "id"}
    assert exported.materials[piece.materials[0]][0] == "whitewater"
    files = spume.export(run, "ply", out=tmp_path / "ply")
    assert any(file.name == "whitewater_00002.ply" for file in files)
    drawer = space_drawer(run, PictureOptions(width=128, height=72, show="points"), None)
    parts = drawer.material_parts(run[2])
    np.testing.assert_array_equal(parts[-1][0].vertices, made.x)


def test_runs_without_water_and_in_the_plane_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="has no water"):
        make_whitewater(open_run(synthetic_run.write_run(tmp_path / "solid", frames=1)))
    with pytest.raises(SceneError, match="is 2D"):
        make_whitewater(open_run(synthetic_run.write_run(tmp_path / "plane", frames=1, dimension=2)))


def test_the_time_between_frames_is_that_of_the_frames(tmp_path: Path) -> None:
    """The last frame of a run follows sooner if the duration is not a whole number of frames. Here all frames are 0.1 s
    apart, and the frame rate says otherwise: what is spray all the time gains g Δt."""
    run = open_run(synthetic_run.write_run(tmp_path / "rate", body=BODIES, obstacle=[], frame_rate=40.0))
    make_whitewater(run, WILD)
    before, after = whitewater(run, 1), whitewater(run, 2)
    _, old, new = np.intersect1d(before.id, after.id, return_indices=True)
    gained = (after.v[new] - before.v[old])[(before.kind[old] == SPRAY) & (after.kind[new] == SPRAY)]
    assert len(gained) > 10
    assert np.isclose(gained[:, 1], -0.981, rtol=1e-9).sum() > 10


def test_spray_flies_on_when_the_water_is_gone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    make_whitewater(run, WILD)
    before = whitewater(run, 1)
    dry = np.empty((0, 3)), np.empty((0, 3)), SPACING
    monkeypatch.setattr(making, "_water", lambda *_: dry)
    after, _ = making._advanced(run, 2, before, 10**6, WILD)
    np.testing.assert_allclose(after.v - before.v, np.tile(0.1 * G, (len(before.x), 1)), rtol=1e-9)


def test_a_new_run_in_the_folder_deletes_the_points(run: Run) -> None:
    make_whitewater(run, WILD)
    RunFolder(run.path).prepare(overwrite=True)
    assert not has_whitewater(run, [2])


@pytest.mark.parametrize("options", [("--seed", "-1"), ("--rate", "1e15"), ("--rate", "inf"), ("--life", "0")])
def test_settings_that_cannot_be_are_told(tmp_path: Path, options: tuple[str, str]) -> None:
    folder = synthetic_run.write_run(tmp_path / "fast", body=BODIES, obstacle=[], frames=2)
    frame = RunFolder(folder).frame(1)
    stored = {f"points/{name}": array for name, array in synthetic_run.frame_arrays(1).items()}
    stored["points/v"] = -100.0 * stored["points/v"]  # together
    write_arrays(frame, stored, read_metadata(frame))
    with pytest.raises(SpumeError, match=rf"{options[0]}"):
        command(str(folder), **{options[0][2:]: (int if "seed" in options[0] else float)(options[1])})
