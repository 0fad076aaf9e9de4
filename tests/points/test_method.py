"""The method as a whole: threads, laws, formulations, force fields, contacts, stopping with a sentence."""

import numba
import numpy as np
import pytest
from clouds import SPACING, advance, box, scene_of_box

from spume.errors import RunFailed, SceneError
from spume.matter.loads import build_loads
from spume.points.method import PointBased
from spume.scene.common import Scene

FLOOR = {"shape": {"half_space": {"point": [0.0, -0.02, 0.0], "normal": [0.0, 1.0, 0.0]}}, "contact": "separate"}
CLAY = {"flow_rate": 50.0, "yield_stress": 1e3}


def falling(**tables):
    """A small box that falls on the ground at 1 m/s."""
    return box(
        [4, 4, 4], obstacle=[FLOOR], body={"velocity": [0.3, -1.0, 0.0], "fill": {"jitter": 0.3}}, material=CLAY,
        gravity=[0.0, -9.81, 0.0], **tables,
    )  # fmt: skip


def test_bit_for_bit_the_same_with_one_thread_and_two():
    threads = numba.get_num_threads()
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("needs two threads")
    try:
        results = []
        for n in (1, 2):
            numba.set_num_threads(n)
            method = falling()
            advance(method, 0.02)
            results.append(method.checkpoint())
    finally:
        numba.set_num_threads(threads)
    (one, values), (two, others) = results
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert {**values, "seconds": {}} == {**others, "seconds": {}}


def test_clay_that_fell_has_flowed_and_kept_its_volume():
    method = falling()
    advance(method, 0.05)
    report = method.diagnostics()
    assert report["dissipated_energy"] > 0
    assert report["volume"] == pytest.approx((4 * SPACING) ** 3, rel=0.05)
    assert method.particles.x[:, 1].min() > -0.02 - SPACING


@pytest.mark.parametrize("formulation", ["composed", "rest-configuration", "additive"])
def test_formulations_agree_in_small_strain(formulation):
    """A slow pull by one part in a thousand, without rotation: the three differ in second order only."""
    wave = {"velocity": [0.01, 0.0, 0.0], "wave_vector": [np.pi / (6 * SPACING), 0.0, 0.0]}
    results = []
    for name in ("composed", formulation):
        method = box([6, 4, 4], body={"wave": wave}, formulation=name, forces={"gradient": "least-squares"})
        advance(method, 0.003)
        order = np.argsort(method.particles.id)
        results.append((method.particles.stress[order], method.particles.b[order]))
    strain = np.abs(results[0][1] - [1, 1, 1, 0, 0, 0]).max()
    assert strain > 1e-5
    # terms of second order in the strain, and the change of the neighbours' places by it
    scale = np.abs(results[0][0]).max()
    assert np.abs(results[0][0] - results[1][0]).max() < 100 * strain * scale


@pytest.mark.parametrize(
    "material",
    [pytest.param("shaving cream", marks=pytest.mark.slow_suite), "dry sand", "gelatin", "water", "silicone rubber"],
)
def test_any_law_drives_the_points(material):
    """Laws with one elastic deformation work in its reference space, water and viscoelastic ones in current space."""
    squeeze = {"velocity": [-0.3, 0.0], "wave_vector": [np.pi / (4 * SPACING), 0.0]}
    scene = scene_of_box([4, 4], body={"material": material, "wave": squeeze})
    method = PointBased(scene)
    method.take_step(1e-6)
    p = method.particles
    assert p.stress[:, 0].min() < 0  # squeezed along x
    v = p.v.copy()
    method.take_step(1e-6)
    force = p.mass * (p.v - v)[:, 0]
    assert force[p.x[:, 0] > 0].sum() > 0  # each half pushes the other away
    assert force.sum() == pytest.approx(0.0, abs=1e-12 * np.abs(force).sum())
    advance(method, 1e-4)
    assert np.isfinite(p.stress).all()


def test_a_force_field_grows_from_its_centre_and_ends():
    field = {"center": [0.0, 0.0, 0.0], "growth": [0.0, -100.0, 0.0], "times": [0.0, 1e-3, 2e-3]}
    field["factors"] = [1.0, 1.0, 0.0]
    method = box([3, 3, 3], force=[field])
    x = method.particles.x.copy()
    method.take_step(1e-4)
    np.testing.assert_allclose(method.particles.v, 1e-4 * x * [0.0, -100.0, 0.0], atol=1e-16)
    (load,) = build_loads(method.scene)
    assert load.factor(1.5e-3) == pytest.approx(0.5)
    assert load.factor(1.0) == 0.0


@pytest.mark.parametrize(
    ("points", "reason"), [({}, "too_few_neighbours"), ({"least_neighbours": 3}, "ill_conditioned")]
)
def test_the_stability_rules_are_counted(points, reason):
    """Four points of a plane, which have three neighbours each."""
    method = box([2, 2, 1], gravity=[0.0, 0.0, 0.0], points=points)
    method.take_step(1e-4)
    report = method.diagnostics()
    none = {"too_few_neighbours": 0, "ill_conditioned": 0, "inverted": 0, "crushed": 0}
    assert report["not_deformed"] == none | {reason: 4}
    assert report["neighbours_min"] == 3


@pytest.mark.parametrize(("least", "crushed"), [(0.1, 0), (0.8, 27)])
def test_points_keep_the_least_volume_of_the_scene(least, crushed):
    """A step that maps x to 0.9 x, and volumes to 0.729 of their own."""
    method = box([3, 3, 3], points={"least_volume": least})
    method.particles.v[:] = -1e3 * method.particles.x
    method.take_step(1e-4)
    assert method.diagnostics()["not_deformed"]["crushed"] == crushed


def test_a_run_that_blows_up_stops_with_a_sentence():
    wave = {"velocity": [5.0, 0.0, 0.0], "wave_vector": [np.pi / (5 * SPACING), 0.0, 0.0]}
    method = box([5, 5, 5], time={"dt": 0.02}, body={"wave": wave}, forces={"gradient": "corrected"})
    with pytest.raises(RunFailed, match=r"t = .* s.*: .*reduce \[time\] courant"):
        advance(method, 10.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"formulation": "sum"}, r"formulation"),
        ({"points": {"radius": 0.5}}, r"points\.radius"),
        ({"points": {"spacing": -1.0}}, r"points\.spacing"),
        ({"force": [{"center": [0.0, 0.0], "growth": [0.0, 0.0, 0.0]}]}, r"force\.0\.center.*3 components"),
        (
            {"force": [{"center": [0.0] * 3, "growth": [0.0] * 3, "times": [0.0, 1.0]}]},
            r"force\.0.*2 times and 1 factors",
        ),
        ({"body": {"fill": {"points_per_axis": 2}}}, r"body\.0\.fill\.points_per_axis"),
        ({"formulation": "rest-configuration", "body": {"start": 0.5}}, r"all material to be there at the start"),
        (
            {"points": {"walls": {"lower": [0.0] * 3, "upper": [-1.0] * 3}}},
            r"points\.walls\.upper",
        ),
    ],
)
def test_a_wrong_scene_is_refused_with_the_key(change, sentence):
    with pytest.raises(SceneError, match=sentence):
        scene_of_box([3, 3, 3], **change)


def test_a_preview_is_coarser():
    scene, sentence = scene_of_box([4, 4, 4]).coarser()
    assert isinstance(scene, Scene)
    assert scene.points.spacing == 2 * SPACING
    assert "1/8 of the points" in sentence
