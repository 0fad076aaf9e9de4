"""Resampling and tearing in scenes of the plain material point method."""

from typing import Any

import numpy as np
import pytest

from spume import Scene
from spume.errors import SceneError
from spume.foam.resampling import ResamplingSettings, avoid_a_void
from spume.foam.total_deformation import Torn, recover
from spume.methods import method_class
from spume.numerics.sums import total
from spume.scene.loading import load_scene

SILICONE = {
    "law": "viscoelastic", "density": 1e3, "elasticity": "neo-hookean", "shear_modulus": 2e3, "lame_modulus": 1e4,
    "viscous_shear_modulus": 4e3, "viscous_lame_modulus": 0.0, "deviatoric_viscosity": 400.0,
    "volumetric_viscosity": 400.0,
}  # fmt: skip
CELL = 0.01


def thread(pull: float = 1.0, **tables: Any) -> Any:
    """A thread of silicone, nine cells wide, pulled to both sides by sticking plates [m/s] without gravity."""
    plates = [
        {"shape": {"rectangle": {"center": [side * 0.15, 0.0], "size": [0.1, 0.2]}}, "contact": "stick",
         "motion": {"velocity": {"linear": [side * pull, 0.0]}}}
        for side in (-1.0, 1.0)
    ]  # fmt: skip
    body = {"material": "silicone", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.24, 0.09]}}}
    given: dict[str, Any] = {
        "title": "thread", "method": "mpm", "dimension": 2, "duration": 1.0, "gravity": [0.0, 0.0],
        "grid": {"cell": CELL, "spline": "quadratic"}, "material": {"silicone": SILICONE}, "body": [body],
        "obstacle": plates,
    }  # fmt: skip
    return method_class("mpm")(Scene(**given | tables))


def advance(method: Any, until: float) -> Any:
    method.advance(until, lambda: False, lambda progress: None)
    return method.world.only.particles


def widest_gap(p: Any) -> float:
    """Largest distance between neighbours along the middle of the thread [cells]."""
    near = np.abs(p.x[:, 1]) < CELL
    return float(np.diff(np.sort(p.x[near, 0])).max()) / CELL


def test_a_thread_thins_out_without_gaps():
    """Pulled to twice its free length: without resampling the points between the plates and the thread move apart until
    the grid does not connect them, and the thread shrinks back. With it, every interior place has a point within 0.72
    half cells, the thread is stretched evenly, and mass and volume are those of the start."""
    plain, filled = thread(), thread(resampling={"every": 10})
    before = filled.world.only.particles
    mass, volume = total(before.mass), total(before.volume)
    without, p = advance(plain, 0.1), advance(filled, 0.1)
    assert len(p) > 1.2 * len(without)
    assert widest_gap(p) < 0.75 < widest_gap(without)
    assert total(p.mass) == pytest.approx(mass, rel=1e-13)
    assert total(p.volume) == pytest.approx(volume, rel=1e-13)
    assert filled.diagnostics()["points_inserted"] > 0
    stretches = [np.sqrt(np.linalg.eigvalsh(_full(q.b))[:, 2])[np.abs(q.x[:, 0]) < 0.1] for q in (without, p)]
    assert np.median(stretches[0]) < 1.8  # that of the thread which has come off
    # 2.0 on the whole; the ends are stretched less than the middle, which cannot contract along the plates
    assert 1.7 < np.median(stretches[1]) < 2.2
    assert np.ptp(stretches[1]) < 0.5


def _full(b: np.ndarray) -> np.ndarray:
    return b[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)


@pytest.mark.parametrize("parts", [0, pytest.param(1, marks=pytest.mark.slow_suite)])
def test_filling_a_void_keeps_a_uniform_state(parts: int):
    """A void in a uniformly deformed body: the new points have the strains of all parts and the stress of the others,
    so that the stored energy stays the same."""
    further = [{"shear_modulus": 1e3, "deviatoric_viscosity": 50.0, "volumetric_viscosity": 50.0}] * parts
    method = thread(material={"silicone": SILICONE | {"further_parts": further}})
    world, p = method.world, method.world.only.particles
    p.b[:] = [1.7, 0.8, 0.9, 0.2, 0.0, 0.0]
    for k in range(parts + 1):
        p.arrays()["b_viscous" + (f"_{k + 1}" if k else "")][:] = [1.3, 0.9, 0.8, 0.1, 0.0, 0.0]
    p.dissipation[:] = 7.0
    world.only.model.stress(p.arrays(), p.stress)
    stress = p.stress[0].copy()
    p.take(np.flatnonzero(np.arange(len(p)) != np.argmin(np.linalg.norm(p.x, axis=1))))
    energy, count = total(p.volume * world.only.model.energy(p.arrays())), len(p)
    report = avoid_a_void(world, 0.0, (0, 1), ResamplingSettings())
    assert report.inserted > 0
    assert report.degenerate == 0
    new = slice(count, None)
    for name, value in (("b", 1.7), ("b_viscous", 1.3), ("dissipation", 7.0)):
        np.testing.assert_allclose(p.arrays()[name][new].reshape(len(p) - count, -1)[:, 0], value, rtol=1e-12)
    np.testing.assert_allclose(p.stress[new], np.tile(stress, (report.inserted, 1)), rtol=1e-10, atol=1e-9)
    assert total(p.volume * world.only.model.energy(p.arrays())) == pytest.approx(energy, rel=1e-12)


def test_a_thread_tears_at_its_stretch_and_not_before():
    """Torn points carry no tension, and those that are stretched less are not torn."""
    held = thread(resampling={"every": 10}, tearing={"stretch": 6.0})
    p = advance(held, 0.1)
    assert held.diagnostics()["weak_points"] == 0
    torn = thread(resampling={"every": 10}, tearing={"stretch": 1.6})
    p = advance(torn, 0.1)
    assert torn.diagnostics()["weak_points"] > 0
    threshold = np.sqrt(2 / 3) * (1.6**2 - 1 / 1.6)
    C = np.einsum("nki,nkj->nij", p.total_F, p.total_F)
    C *= (np.linalg.det(p.total_F) ** (-2 / 3))[:, None, None]
    C -= np.trace(C, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    size = np.linalg.norm(C, axis=(1, 2))
    whole = (p.weak == 0) & (size < 0.8 * threshold)
    assert whole.any()
    assert np.all(size[p.weak == 1] > 0.8 * threshold)
    # the tension of a thread that has torn apart ends: so does the motion of its halves towards the plates' speed
    assert np.abs(p.v).max() < 2.0


def test_the_strain_that_counts_decays():
    """After a time t the logarithms of the eigenvalues of C̄ are exp(−t/τ) of before; J and the stress stay."""
    method = thread(tearing={"stretch": 1.5, "recovery_time": 0.2, "every": 1})
    world, p = method.world, method.world.only.particles
    rng = np.random.default_rng(2)
    p.total_F[:] = np.eye(3) + 0.3 * rng.uniform(-1, 1, p.total_F.shape)

    def logarithms() -> np.ndarray:
        C = np.einsum("nki,nkj->nij", p.total_F, p.total_F)
        squares = np.log(np.linalg.eigvalsh(C))
        return squares - squares.mean(axis=1, keepdims=True)

    torn = next(part for part in method.parts if isinstance(part, Torn))
    before, J = logarithms(), np.linalg.det(p.total_F)
    recover(world, 0.05, torn)
    np.testing.assert_allclose(logarithms(), np.exp(-0.25) * before, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(p.total_F), J, rtol=1e-12)


def test_a_turning_body_does_not_tear():
    method = thread(pull=0.0, tearing={"stretch": 1.2}, obstacle=[])
    p = method.world.only.particles
    p.v[:] = 3.0 * np.stack([-p.x[:, 1], p.x[:, 0]], axis=1)
    p = advance(method, 0.3)
    assert not p.weak.any()


def test_a_restored_run_continues_bit_for_bit():
    one, other = (thread(resampling={"every": 10}, tearing={"stretch": 1.7, "recovery_time": 0.5}) for _ in range(2))
    advance(one, 0.05)
    arrays, values = one.checkpoint()
    other.restore({name: array.copy() for name, array in arrays.items()}, values)
    expected, found = advance(one, 0.07), advance(other, 0.07)
    for name, array in expected.arrays().items():
        np.testing.assert_array_equal(found.arrays()[name], array, err_msg=name)


@pytest.mark.slow_suite
def test_implicit_steps_tear_and_fill():
    method = thread(
        resampling={"every": 10}, tearing={"stretch": 1.6}, time={"integrator": "implicit", "dt": 2e-3},
        implicit={"solver": "newton"},
    )  # fmt: skip
    p = advance(method, 0.1)
    found = method.diagnostics()
    assert found["weak_points"] > 0
    assert found["points_inserted"] > 0
    assert widest_gap(p) < 1.0 or found["weak_points"] > 10


def test_a_scene_without_the_tables_has_the_plain_step():
    """Its points carry no more fields, and its stages are the same."""
    method = thread()
    assert "total_F" not in method.world.only.particles
    assert not any("resampling" in stage.name for stage in method.step.stages)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"tearing": {"stretch": 0.5}}, "tearing.stretch"),
        ({"resampling": {"coverage": 2.0}}, "resampling.coverage is 2"),
        ({"tearing": {"stretch": 2.0}, "time": {"integrator": "semi-implicit"}}, "torn points need"),
        ({"resampling": {}, "body.0.surface": "embedded"}, "resampling has no effect"),
    ],
)
def test_contradictions_are_refused(tables: dict[str, Any], sentence: str):
    with pytest.raises(SceneError, match=sentence):
        load_scene("silicone", tables | ({} if "body.0.surface" in tables else {"body.0.surface": "reconstructed"}))
