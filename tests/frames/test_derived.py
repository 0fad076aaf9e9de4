"""Stress, pressure and rates as quantities of frames: stored or derived, against closed forms."""

import numpy as np
import pytest
from scenes import box, half_space, simulate

from spume import Simulation
from spume.errors import SceneError
from spume.frames.quantities import label, quantities, quantity_names
from spume.frames.reader import open_run
from spume.runs.loop import start_run
from spume.scene.common import Scene

G = 9.81
FOAM = {"law": "herschel-bulkley", "density": 100.0, "bulk_modulus": 2.0e4, "shear_modulus": 1.0e3,
        "yield_stress": 50.0, "viscosity": 5.0, "flow_index": 1.0}  # fmt: skip


def sheared(fields, method="mpm", rate=20.0, strain=0.6):
    """A square whose points keep the velocity (γ̇ y, 0), and the points in its interior."""
    place = {"points": {"spacing": 0.02}} if method == "point-based" else {"grid": {"cell": 0.04}}
    sim = simulate(
        method=method, dimension=2, gravity=[0.0, 0.0], time={"dt": 1e-4}, material={"foam": FOAM},
        body=[{"material": "foam", "shape": box(2, (0.0, 0.0), (0.4, 0.4))}], frames={"fields": fields}, **place,
    )  # fmt: skip
    p = sim.particles
    inner = (np.abs(p.x) < 0.1).all(axis=1)
    ids = p.id[inner]
    for _ in range(round(strain / (rate * 1e-4))):
        p.v[:, 0], p.v[:, 1] = rate * p.x[:, 1], 0.0
        if "C" in p:
            p.C[:] = [[0.0, rate], [0.0, 0.0]]
        sim.method.take_step(1e-4)
    return sim, np.isin(sim.particles.id, ids)


@pytest.mark.parametrize("method", ["mpm", "point-based"])
def test_steady_simple_shear(method):
    """A Bingham material that flows at the rate γ̇: where the deviator no longer grows, 2 μ γ̇/√2 = 2 μ (s − k)/η with
    k = √(2/3) σ_Y ([Yue15] eq. (15)), so σ_xy = s/√2 = σ_Y/√3 + η γ̇/2, up to the square of the elastic strain
    σ_xy/μ, 0.6 %. The power is σ_xy γ̇, and the rate of strain γ̇/2, up to the square of the strain of a step, 4e-6."""
    rate = 20.0
    sim, inner = sheared(["stress", "pressure", "strain_rate", "dissipation_rate"], method, rate)
    frame = sim.frame()
    shear = frame.stress[inner, 3]
    assert shear == pytest.approx(FOAM["yield_stress"] / 3**0.5 + FOAM["viscosity"] * rate / 2, rel=0.01)
    assert frame.strain_rate[inner, 3] == pytest.approx(rate / 2, rel=1e-3)
    assert np.abs(frame.strain_rate[inner][:, [0, 1, 2, 4, 5]]).max() < 1e-3 * rate
    assert frame.dissipation_rate[inner] == pytest.approx(rate * shear, rel=1e-3)


def test_nothing_is_dissipated_below_the_yield_stress():
    """γ = 2 % is below σ_Y/(√3 μ) = 2.9 %; the stress is μ γ, up to the square of the strain."""
    sim, inner = sheared(["stress", "dissipation_rate"], strain=0.02)
    frame = sim.frame()
    assert frame.stress[inner, 3] == pytest.approx(FOAM["shear_modulus"] * 0.02, rel=0.01)
    assert not frame.dissipation_rate[inner].any()


def test_a_column_of_water_has_the_hydrostatic_pressure():
    """ρ g times the depth, as a mean over the points two cells away from the bottom and the surface: at a boundary the
    stencils of the points are cut off. PIC damps the first oscillation; 2 % allow for what is left of it."""
    height, width, cell = 0.4, 0.2, 0.05
    sim = simulate(
        dimension=2, grid={"cell": cell, "walls": {"lower": [-width / 2, 0.0], "upper": [width / 2, 1.0]}},
        transfer={"scheme": "pic"}, frames={"fields": ["pressure"]},
        body=[{"material": "water", "shape": box(2, (0.0, height / 2), (width, height))}],
    )  # fmt: skip
    sim.advance(1.5)
    frame = sim.frame()
    y = frame.x[:, 1]
    middle = (y > 2 * cell) & (y < height - 2 * cell)
    depth = height - y[middle].mean()
    assert frame.pressure[middle].mean() == pytest.approx(1000.0 * G * depth, rel=0.02)


def compressed(frames):
    """A scene of foam that hits the ground and tears, three frames long."""
    return Scene(
        title="derived", method="continuum-foam", dimension=2, duration=0.02, frame_rate=100.0, grid={"cell": 0.02},
        material={"foam": FOAM | {"tear_threshold": 0.2}},
        body=[{"material": "foam", "shape": box(2, (0.0, 0.05), (0.1, 0.1)), "velocity": [0.0, -2.0]}],
        obstacle=[{"shape": half_space((0.0, 0.0), (0.0, 1.0)), "contact": "stick"}], frames=frames,
    )  # fmt: skip


def test_what_frames_do_not_hold_is_derived_from_the_history(tmp_path):
    """The same numbers, also for torn points and with parameters changed during the run."""
    for name, frames in (("plain", {}), ("stored", {"fields": ["stress", "pressure"]})):
        change = [{"time": 0.01, "values": {"material.foam.bulk_modulus": 1e4}}]
        start_run(compressed(frames), tmp_path / name, changes=change)
    plain, stored = (open_run(tmp_path / name) for name in ("plain", "stored"))
    assert "pressure" not in list(plain[2])
    for number in (1, 2):
        one, other = plain[number], stored[number]
        assert np.abs(other.pressure).max() > 100.0
        scale = np.abs(other.stress).max()
        assert np.allclose(one["stress"], other["stress"], rtol=0.0, atol=1e-12 * scale)
        assert np.allclose(one["points"].pressure, other["pressure"], rtol=0.0, atol=1e-12 * scale)
    found = quantities(plain[2], "stress.xy")["points"]
    assert np.array_equal(found, plain[2].stress[:, 3])
    assert label(plain.populations, "pressure") == "pressure [Pa]"
    assert "pressure" in quantity_names(stored.populations)


def test_torn_points_bear_no_tension(tmp_path):
    """Eigenvalues of the Cauchy stress, as `[Yue15]` algorithm 8 limits them."""
    sim = Simulation(compressed({"fields": ["stress"]}))
    sim.particles.F[:] = np.diag([1.02, 1.0, 1.0])
    sim.particles.be[:, :3] = [1.05, 0.95, 1.0 / (1.05 * 0.95)]
    sim.method.world.model.stress(sim.particles.arrays(), sim.particles.stress)
    whole = sim.frame().stress.copy()
    sim.particles.weak[::2] = 1
    frame = sim.frame()
    assert whole[:, 0].min() > 0.0
    assert np.array_equal(frame.stress[1::2], whole[1::2])
    assert frame.stress[::2] == pytest.approx(np.minimum(whole[::2], 0.0))


def test_what_cannot_be_derived_says_which_key_adds_it(tmp_path):
    sim = simulate(dimension=2, grid={"cell": 0.05}, body=[{"material": "steel", "shape": box(2, (0, 0), (0.2, 0.2))}])
    with pytest.raises(SceneError, match=r"do not hold 'pressure', and it cannot be derived.*frames.fields"):
        quantities(sim.frame(), "pressure")
    assert "pressure" not in sim.frame()


def test_rates_survive_a_restart():
    def start():
        return Simulation(compressed({"fields": ["strain_rate", "dissipation_rate"]}))

    sim = start()
    sim.advance(0.005)
    arrays, values = sim.method.checkpoint()
    saved = {name: array.copy() for name, array in arrays.items()}
    sim.advance(0.005)
    other = start()
    other.method.restore(saved, values)
    other.advance(0.005)
    assert np.array_equal(sim.frame().strain_rate, other.frame().strain_rate)
    assert np.array_equal(sim.frame().dissipation_rate, other.frame().dissipation_rate)
    assert sim.frame().dissipation_rate.max() > 0.0
