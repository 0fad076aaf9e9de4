"""The dry foam in the frame loop: resuming repeats, events happen at their times, scenes are checked."""

import numpy as np
import pytest

from spume import Scene, load_scene
from spume.dryfoam import Foam
from spume.dryfoam.equilibrium.report import Options
from spume.dryfoam.method import DryFoamMethod
from spume.errors import SceneError

TABLES = {
    "title": "test",
    "method": "dry-foam",
    "duration": 1.0,
    "frame_rate": 10,
    "foam": {"cells": 40, "boundary": "free", "seeds": "poisson-disk"},
    "coarsening": {"diffusion": 1.0, "event_tolerance": 0.02},
    "deformation": {"kind": "shear", "rate": 0.5},
    "collapse": [{"time": 0.05, "cell": 3}],
}


def advance(method, until):
    assert method.advance(until, lambda: False, lambda progress: None)


def test_a_restored_run_continues_bit_for_bit():
    straight = DryFoamMethod(Scene(**TABLES))
    advance(straight, 0.1)
    arrays, values = straight.checkpoint()
    arrays = {name: array.copy() for name, array in arrays.items()}
    advance(straight, 0.2)
    resumed = DryFoamMethod(Scene(**TABLES))
    resumed.restore(arrays, values)
    advance(resumed, 0.2)
    assert resumed.time == straight.time == 0.2
    for population, arrays in straight.frame().items():
        for name, array in arrays.items():
            assert np.array_equal(array, resumed.frame()[population][name]), name
    assert resumed.diagnostics() == straight.diagnostics()


def test_a_bubble_bursts_at_its_time():
    method = DryFoamMethod(Scene(**{**TABLES, "coarsening": None, "deformation": None}))
    advance(method, 0.049)
    assert 3 in method.foam.labels
    advance(method, 0.06)
    assert 3 not in method.foam.labels
    assert method.foam.cells == 39


def test_the_bubbles_of_figure_7_burst_on_the_edge():
    """[DryFoam]: "forced bubble collapse is performed on the dynamic foam boundary", on cells of four to six sides."""
    scene = load_scene("dry-foam-collapse")
    method = DryFoamMethod(scene)
    found = []
    for entry in scene.collapse:
        network = method.foam.network
        index = int(np.flatnonzero(network.labels == entry.cell)[0])
        assert index in network.cell[np.flatnonzero(network.cell == -1) ^ 1]
        found.append(int(network.sides()[index]))
        advance(method, entry.time)
    assert set(found) == {4, 5, 6}
    assert method.foam.cells == 66 - len(scene.collapse)


def test_a_scene_chooses_solver_and_thresholds():
    chosen = {"solver": "gauss-seidel", "tolerance": 1e-4, "flip_length": 0.05, "t_dist": 0.02, "t_area": 0.03}
    foam = {"cells": 6, "boundary": "box", "seeds": "poisson-disk"}
    tables = {name: value for name, value in TABLES.items() if name in ("title", "method", "duration", "frame_rate")}
    method = DryFoamMethod(Scene(**tables, foam=foam, equilibrium=chosen))
    assert method.foam.options == Options(**chosen)
    assert 1e-9 < method.diagnostics()["area_error"] < 1e-4  # linear convergence ends just below the tolerance


@pytest.mark.parametrize("scheme", ["adaptive", "unit"])
def test_three_sided_bubbles_below_t_area_vanish(scheme):
    """[DryFoam] eq. (3)."""
    foam = Foam.voronoi(66, "free", seed=0, K=1e-4, seeds="poisson-disk")
    foam.equilibrate()
    triangles = set(foam.labels[foam.sides == 3].tolist())
    assert triangles
    kept, foam.options = set(foam.labels.tolist()) - triangles, Options(t_area=10.0)
    foam.coarsen(1.0, scheme=scheme, most_steps=1)
    assert set(foam.labels.tolist()) == kept


def test_a_cyclic_deformation_turns_back_at_its_amplitude():
    """Strain 0.5 t up to 0.03, then down to -0.03 and up again: a triangular wave of the period 0.24 s."""
    tables = {**TABLES, "coarsening": None, "collapse": [], "duration": 0.3, "frame_rate": 100}
    method = DryFoamMethod(Scene(**{**tables, "deformation": {"rate": 0.5, "amplitude": 0.03}}))
    strains = [0.0]
    for frame in range(1, 31):
        advance(method, frame / 100)
        strains.append(method.diagnostics()["strain"])
    wave = np.interp(np.arange(31) / 100, [0.0, 0.06, 0.18, 0.30], [0.0, 0.03, -0.03, 0.03])
    assert strains == pytest.approx(wave, abs=1e-12)


def test_an_interrupted_advance_says_so():
    method = DryFoamMethod(Scene(**TABLES))
    assert not method.advance(1.0, lambda: True, lambda progress: None)


def test_frames_hold_what_is_declared():
    method = DryFoamMethod(Scene(**TABLES))
    frame = method.frame()
    assert [each.name for each in method.declarations()] == list(frame)
    for population in method.declarations():
        declared = {field.name: field for field in population.fields}
        assert declared.keys() == frame[population.name].keys()
        for name, array in frame[population.name].items():
            assert array.dtype.name == declared[name].dtype
            assert array.shape[1:] == declared[name].shape


def test_a_shape_of_the_scene_language_outlines_the_cluster():
    """A box twice as wide as high: the cluster keeps this ratio within the size of a cell, 1/√200 of its side."""
    foam = {"cells": 400, "boundary": "free", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [2.0, 1.0]}}}
    method = DryFoamMethod(Scene(**{**TABLES, "foam": {**foam, "start": "voronoi"}, "collapse": []}))
    span = np.ptp(method.foam.network.positions, axis=0)
    assert span[0] / span[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"foam": {"cells": 1}}, "foam.cells"),
        ({"foam": {"cells": 10, "tension": 0.0}}, "foam.tension"),
        ({"foam": {"cells": 10, "cell_area": -1.0}}, "foam.cell_area"),
        ({"foam": {"cells": 10, "seeds": "hexagonal"}}, "foam.seeds"),
        ({"collapse": [{"time": 0.0, "cell": 40}]}, "numbered 0 to 39"),
        ({"collapse": [{"time": 0.0, "cell": 4}, {"time": 0.5, "cell": 4}]}, "has burst already"),
        ({"coarsening": {"diffusion": 1.0, "scheme": "unit"}}, "frame_rate"),
        ({"coarsening": {"diffusion": -1.0}}, "coarsening.diffusion"),
        ({"foam": {"cells": 40, "boundary": "box"}}, "films slide on walls"),
        ({"foam": {"cells": 40, "boundary": "free", "aspect": 2.0}}, "foam.aspect"),
        ({"foam": {"cells": 40, "boundary": "channel", "seeds": "hexagonal"}}, "needs the boundary 'free'"),
    ],
)
def test_a_bad_scene_names_the_key(change, message):
    with pytest.raises(SceneError, match=message):
        Scene(**{**TABLES, **change})


@pytest.mark.parametrize("name", ["dry-foam-collapse", "dry-foam-shear"])
def test_a_built_in_scene_runs(name):
    scene = load_scene(name)
    method = DryFoamMethod(scene)
    advance(method, scene.frame_time(2))
    method.foam.validate()
    assert DryFoamMethod.estimate(scene).points == method.scene.foam.cells


def test_the_unit_scheme_of_the_paper_takes_whole_seconds():
    tables = {**TABLES, "coarsening": {"diffusion": 0.02, "scheme": "unit"}, "deformation": None, "collapse": []}
    scene = Scene(**{**tables, "frame_rate": 1, "duration": 3.0})
    method = DryFoamMethod(scene)
    before = dict(zip(method.foam.labels, zip(method.foam.areas, method.foam.sides, strict=True), strict=True))
    advance(method, 1.0)
    for label, area in zip(method.foam.labels, method.foam.areas, strict=True):
        old, sides = before[label]
        assert area == pytest.approx(old + np.pi / 3 * 0.02 * (sides - 6), rel=1e-6)
