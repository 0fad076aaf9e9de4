"""Forces from a reference configuration: energy, bodies at rest, in tension, in flight, pressed and released."""

import numpy as np
import pytest
from clouds import ELASTIC, SPACING, UNDAMPED, advance, box, run_stages, scene_of_box

from spume.points.diagnostics import angular_momentum
from spume.points.energy import EnergyBudget, kinetic_energy
from spume.points.method import PointBased
from spume.points.reference import FLOWED
from spume.scene.common import Scene

FLOOR = {"shape": {"half_space": {"point": [0.0, -0.025], "normal": [0.0, 1.0]}}, "contact": "separate"}
PLASTIC = {"flow_rate": 50.0, "yield_stress": 1.5e3}


def potential(method):
    """Energy of all forces between points [J]."""
    return method.part(EnergyBudget).internal(method.world)


def by_id(method):
    """Indices of the points in the order of their ids."""
    return np.argsort(method.particles.id)


@pytest.mark.parametrize("dimension", [2, 3])
def test_forces_are_the_derivative_of_the_energy(dimension, rng):
    """The work of the forces in a random displacement of a strained body, by central differences."""
    method = box([5] * dimension, body={"fill": {"jitter": 0.4}}, forces=UNDAMPED)
    p = method.particles
    method.take_step(1e-6)
    places = p.x.copy()
    p.x[:] += 0.05 * SPACING * rng.uniform(-1, 1, p.x.shape)
    run_stages(method, "deformation material", 1.0)
    p.v[:] = 0.0
    run_stages(method, "forces", 1.0)
    force, strained = p.mass[:, None] * p.v, p.x.copy()
    u = rng.uniform(-1, 1, p.x.shape)
    energies = []
    for sign in (1.0, -1.0):
        p.x[:] = strained + sign * 1e-5 * SPACING * u
        run_stages(method, "deformation material", 1.0)
        energies.append(potential(method))
    work = (energies[1] - energies[0]) / (2e-5 * SPACING)
    assert np.abs(p.x - places).max() > 0.02 * SPACING
    assert np.sum(force * u) == pytest.approx(work, rel=1e-6)


def test_a_block_at_rest_stays_at_rest():
    """Gravity grows slowly. The energy is that of the static strain, and nothing moves any more."""
    ramp = {"times": [0.0, 0.2], "values": [[0.0, 0.0], [0.0, -9.81]]}
    method = box([20, 6], gravity=ramp, obstacle=[{**FLOOR, "friction": 0.5}], body={"velocity": [0.0, 0.0]})
    advance(method, 0.25)
    first = potential(method)
    advance(method, 0.6)
    E, height = ELASTIC["youngs_modulus"], 6 * SPACING
    column = (ELASTIC["density"] * 9.81) ** 2 * height**3 * 20 * SPACING / (6 * E)
    assert potential(method) == pytest.approx(first, rel=0.05)
    assert potential(method) < 1.5 * column  # of free columns; friction and plane strain make it stiffer
    assert kinetic_energy(method.particles.mass, method.particles.v) < 1e-3 * first
    assert "warnings" not in method.diagnostics()


@pytest.mark.parametrize("strain", [0.01, 0.1])
def test_a_bar_in_slow_tension_is_stressed_evenly(strain):
    """The ends are moved apart slowly; in the middle the stress is the same everywhere."""
    n = 20
    method = box([n, 5])
    p = method.particles
    end = np.abs(p.x[:, 0]) > (n / 2 - 2) * SPACING
    p.mass[end] *= 1e9  # nothing stops them
    duration = 0.3
    p.v[end, 0] = np.sign(p.x[end, 0]) * strain * n * SPACING / 2 / duration
    advance(method, duration)
    inner = np.abs(p.x[:, 0]) < n / 5 * SPACING
    stress = p.stress[inner, 0]
    assert stress.mean() > 0.9 * strain * ELASTIC["youngs_modulus"]
    assert np.abs(stress - stress.mean()).max() < 0.05 * stress.mean()


def test_free_flight_does_not_depend_on_the_place():
    """Shifted by whole spacings only rounding differs, and it does not grow."""
    results = []
    for shift in (0.0, 3 * SPACING):
        shape = {"rectangle": {"center": [shift, shift], "size": [8 * SPACING] * 2}}
        method = box([8, 8], body={"shape": shape, "velocity": [1.0, 0.0]})
        p = method.particles
        X = p.x - shift
        p.v[:] += np.sin(X @ [[30.0, -20.0], [10.0, 40.0]])
        place = dict(zip(p.id.tolist(), np.round(X / SPACING, 2).tolist()))
        advance(method, 0.1)
        order = sorted(range(len(p)), key=lambda k: place[int(p.id[k])])
        results.append(p.x[order] - shift)
    assert np.abs(results[0] - results[1]).max() < 1e-12


def test_a_spinning_square_keeps_its_spin_and_energy():
    method = box([8, 8])
    p = method.particles
    p.v[:] = 20.0 * np.stack([-p.x[:, 1], p.x[:, 0]], axis=1)
    spin, energy = angular_momentum(method.world)[2], kinetic_energy(p.mass, p.v)
    advance(method, 0.3)
    # the viscosity on non-affine motion turns the body in the second order of the non-affine part
    assert angular_momentum(method.world)[2] == pytest.approx(spin, rel=1e-5)
    assert kinetic_energy(p.mass, p.v) + potential(method) == pytest.approx(energy, rel=0.01)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_artificial_viscosity_takes_the_work_of_its_stress(dimension, rng):
    """−Σ V (2 η dev D : dev D + ζ (tr D)²) for an affine motion, nothing for a rotation; angular momentum is kept."""
    change, momenta = [], []
    L = rng.uniform(-1.0, 1.0, (dimension, dimension))
    for spin in (False, True):
        for viscosity in (0.0, 0.3):
            forces = {"damping": 0.0, "artificial_viscosity": viscosity}
            method = box([4] * dimension, forces=forces)
            p = method.particles
            p.v[:] = p.x @ (0.5 * (L - L.T) if spin else L).T
            method.take_step(1e-9)
            v, before = p.v.copy(), angular_momentum(method.world)
            run_stages(method, "forces", 1.0)
            change.append(np.sum(p.mass[:, None] * v * (p.v - v)))
            momenta.append(angular_momentum(method.world) - before)
    reference = method.part(EnergyBudget).reference
    eta, zeta = reference.viscosity(method.world)
    D = np.zeros((3, 3))
    D[:dimension, :dimension] = 0.5 * (L + L.T)
    shape = D - np.trace(D) / 3.0 * np.eye(3)
    power = np.sum(p.volume * (2.0 * eta * np.sum(shape**2) + zeta * np.trace(D) ** 2))
    assert change[0] - change[1] == pytest.approx(power, rel=1e-6)
    assert abs(change[2] - change[3]) < 1e-6 * power
    scale = np.sum(p.mass[:, None] * np.abs(p.x)) * np.abs(v).max() / 1e-9
    assert np.abs(np.array(momenta)).max() < 1e-12 * scale


def test_a_block_put_on_a_slope_stays_below_the_friction_angle():
    """Gravity acts from the start, so the block vibrates; without viscosity it slips in pulses, faster and faster."""
    g = 9.81 * np.array([np.sin(np.pi / 6), -np.cos(np.pi / 6)])
    floor = {**FLOOR, "shape": {"half_space": {"point": [0.0, -0.04], "normal": [0.0, 1.0]}}, "friction": 0.7}
    method = box([20, 8], gravity=g.tolist(), obstacle=[floor])
    p = method.particles
    advance(method, 0.3)
    there, velocity = p.x[:, 0].mean(), p.v[:, 0].mean()
    advance(method, 0.5)
    assert abs(p.x[:, 0].mean() - there) < 0.05 * SPACING
    assert abs(p.v[:, 0].mean()) < 0.01
    assert there < 0.3 * SPACING
    assert velocity < 0.05


def test_a_block_slides_above_the_friction_angle():
    """With the acceleration g (sin θ − μ cos θ), 25° and 0.3."""
    angle, friction, duration = np.radians(25.0), 0.3, 0.3
    floor = {**FLOOR, "shape": {"half_space": {"point": [0.0, -0.03], "normal": [0.0, 1.0]}}, "friction": friction}
    method = box([16, 6], gravity=[9.81 * np.sin(angle), -9.81 * np.cos(angle)], obstacle=[floor])
    advance(method, duration)
    expected = 9.81 * (np.sin(angle) - friction * np.cos(angle)) * duration
    assert method.particles.v[:, 0].mean() == pytest.approx(expected, rel=0.05)


def test_angular_momentum_is_exact_without_damping():
    method = box([8, 8], forces={"damping": 0.0})
    p = method.particles
    p.v[:] = 20.0 * np.stack([-p.x[:, 1], p.x[:, 0]], axis=1)
    spin = angular_momentum(method.world)[2]
    advance(method, 0.1)
    assert angular_momentum(method.world)[2] == pytest.approx(spin, rel=1e-10)


def test_a_bouncing_box_creates_no_energy():
    method = box([8, 8], material={"youngs_modulus": 2e4}, gravity=[0.0, -9.81], obstacle=[{**FLOOR, "friction": 0.4}])
    method.particles.x[:, 1] += 0.05
    energies = []
    for k in range(1, 13):
        advance(method, 0.05 * k)
        energies.append(method.diagnostics()["energy_budget"]["unaccounted"])
    most = method.part(EnergyBudget).largest
    assert max(energies) < 0.01 * most
    assert "warnings" not in method.diagnostics()


def test_a_pressed_block_returns_to_its_shape():
    force = {"center": [0.0, 0.0], "growth": [0.0, -3e4], "times": [0.0, 0.1, 0.2], "factors": [0.0, 1.0, 0.0]}
    method = box([8, 8], force=[force], forces={"viscosity": 5.0})
    start = method.particles.x[by_id(method)].copy()
    away = []
    for t in (0.1, 0.4):
        advance(method, t)
        away.append(np.sqrt(((method.particles.x[by_id(method)] - start) ** 2).sum(axis=1).mean()))
    assert away[0] > 0.3 * SPACING
    assert away[1] < 0.01 * away[0]


def test_a_renewal_keeps_the_stress_and_adds_no_energy():
    force = {"center": [0.0, 0.0], "growth": [0.0, -1e5]}
    method = box([8, 8], force=[force], forces={"viscosity": 5.0}, material=PLASTIC)
    p, energies = method.particles, []
    for stage in method.step.stages:
        if stage.name == "neighbours":
            find = stage
    while method.time < 0.05:
        built = method.world.rebuilds
        stress, before = p.stress[by_id(method)].copy(), potential(method)
        find.run(method.world, 0.0)
        if method.world.rebuilds > built > 0:
            energies.append(potential(method) - before)
            np.testing.assert_array_equal(p.stress[by_id(method)], stress)
        advance(method, method.time + 1e-4)
    assert len(energies) > 3
    assert max(energies) < 1e-12
    assert set(p.group.tolist()) == {FLOWED}


def test_a_pressed_plastic_block_stays_whole():
    """Pressed to less than half of its height, no point loses its neighbours."""
    force = {"center": [0.0, 0.0], "growth": [0.0, -3e5], "times": [0.0, 0.1, 0.15], "factors": [0.0, 1.0, 0.0]}
    method = box([10, 10], force=[force], forces={"viscosity": 5.0}, material=PLASTIC)
    advance(method, 0.2)
    report = method.diagnostics()
    assert np.ptp(method.particles.x[:, 1]) < 5 * SPACING
    assert sum(report["not_deformed"].values()) == 0
    assert report["neighbours_min"] >= 4


def test_bodies_that_meet_bounce_off_each_other():
    """Two elastic squares that collide repel each other and do not stick."""
    bodies = [
        {"material": "elastic", "velocity": [-s * 0.5, 0.0],
         "shape": {"rectangle": {"center": [s * 0.04, 0.0], "size": [0.05, 0.05]}}}
        for s in (-1.0, 1.0)
    ]  # fmt: skip
    method = PointBased(Scene(**{**scene_of_box([5, 5]).resolved(), "body": bodies}))
    advance(method, 0.2)
    p = method.particles
    left = p.body == 0
    assert p.v[left, 0].mean() < -0.2
    assert p.v[~left, 0].mean() > 0.2


def test_sand_that_flows_at_low_stress_creates_no_energy():
    """The dissipation that its law records exceeds the work of gravity."""
    sand = {"law": "drucker-prager", "density": 1500.0, "youngs_modulus": 3e5, "poisson_ratio": 0.3}
    tables = scene_of_box([6, 8], gravity=[0.0, -9.81], obstacle=[{**FLOOR, "friction": 0.5}]).resolved()
    method = PointBased(Scene(**{**tables, "material": {"elastic": {**sand, "friction_angle": 30.0}}}))
    advance(method, 0.15)
    report = method.diagnostics()
    assert report["dissipated_energy"] > report["energy_budget"]["gravity"]
    assert report["created_energy"] < 0.01 * method.part(EnergyBudget).largest
    assert "warnings" not in report


def test_created_energy_is_reported():
    method = box([6, 6])
    advance(method, 0.001)
    method.particles.v[:, 0] += 1.0
    assert "energy" in method.diagnostics()["warnings"]
