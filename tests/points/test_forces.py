"""Pair forces: momentum, rigid motion, uniform stress, waves. validation.md 34, 35, 36."""

import numpy as np
import pytest
from clouds import ELASTIC, SPACING, UNDAMPED, advance, box, run_stages


def kicked(method, rng, strain=0.1):
    """The method with random elastic strains and stresses, and velocities."""
    p = method.particles
    b = np.tile([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], (len(p), 1))
    if method.scene.dimension == 2:
        b[:, [0, 1, 3]] += strain * rng.uniform(-1, 1, (len(p), 3))
    else:
        b += strain * rng.uniform(-1, 1, b.shape)
    p.b[:] = b
    method.world.model.stress(p.arrays(), p.stress)
    p.v[:] = rng.normal(size=p.v.shape)
    return method


def impulse(method, dt=1e-4):
    """Momentum and angular momentum that the forces of a step add, and the sum of the sizes of what they add to each
    point, for scale."""
    run_stages(method, "neighbours", 0.0)
    p = method.particles
    before = p.v.copy()
    run_stages(method, "metric forces", dt)
    change = p.mass[:, None] * (p.v - before)
    fill = ((0, 0), (0, 3 - p.x.shape[1]))
    turned = np.cross(np.pad(p.x, fill), np.pad(change, fill)).sum(axis=0)
    return change.sum(axis=0), turned, np.abs(change).sum()


@pytest.mark.parametrize(
    ("stress", "gradient"),
    [
        *(("first-piola", gradient) for gradient in ("corrected", "plain", "least-squares")),
        *(
            pytest.param("printed", gradient, marks=pytest.mark.slow_suite)
            for gradient in ("corrected", "plain", "least-squares")
        ),
    ],
)
def test_momentum_is_conserved_with_capped_lists(stress, gradient, rng):
    forces = {"stress": stress, "gradient": gradient, "pressure": 1e4, "viscosity": 3.0, "damping": 0.5}
    method = kicked(box([5, 5, 5], forces=forces, points={"neighbours": 12}, body={"fill": {"jitter": 0.4}}), rng)
    assert np.diff(method.world.lists.start).size == 0  # lists are made in the step
    gained, _, scale = impulse(method)
    assert np.abs(gained).max() < 1e-12 * scale
    assert np.ptp(np.diff(method.world.lists.start)) > 0  # 12 neighbours and those that list a point


@pytest.mark.parametrize("gradient", ["corrected", "least-squares"])
@pytest.mark.parametrize("size", [[5, 5, 1], [4, 1, 1]])
def test_points_in_a_sheet_or_line_exert_no_elastic_forces(size, gradient, rng):
    # their fit is rejected, so a stress they carry would never change and accelerate their neighbours for ever
    method = kicked(box(size, forces={"gradient": gradient, "damping": 0.0}), rng)
    _, _, size_of_impulses = impulse(method)
    assert size_of_impulses == 0.0
    assert method.world.uncorrected == len(method.particles)


@pytest.mark.parametrize("dimension", [2, 3])
def test_angular_momentum_is_conserved_by_the_default_forces(dimension, rng):
    method = kicked(box([5] * dimension, body={"fill": {"jitter": 0.4}}, forces={"viscosity": 3.0}), rng)
    _, turned, scale = impulse(method)
    assert np.abs(turned).max() < 1e-12 * scale * 5 * SPACING


def test_a_rigid_rotation_makes_no_force():
    # positions are turned exactly, in many small steps; every fit is a rotation, so the strain stays zero
    method = box([4, 4, 4], body={"fill": {"jitter": 0.4}})
    state, p = method.world, method.particles
    angle, steps = 0.1, 100
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    dt = 1e-3
    for _ in range(steps):
        run_stages(method, "neighbours", 0.0)
        before = p.x.copy()
        p.x[:] = before @ R.T
        state.before = before
        run_stages(method, "deformation", dt)
        state.model.update(p.arrays(), dt, state.deformation, p.stress)
    assert state.outcomes[1:].sum() == 0
    # ten radians; rounding of a hundred compositions, times the condition number of the fits
    assert np.abs(p.b - [1, 1, 1, 0, 0, 0]).max() < 1e-11
    assert np.abs(p.stress).max() < 1e-11 * ELASTIC["youngs_modulus"]


@pytest.mark.parametrize("gradient", ["corrected", "least-squares"])
def test_a_uniform_stress_leaves_the_interior_at_rest_and_pulls_at_the_surface(gradient):
    """On a lattice the forces inside cancel; cut in the middle, one half pulls the other with σ times the section."""
    n = 16
    method = box([n, n, n], forces={"gradient": gradient})
    p = method.particles
    stretch = 1.01
    p.b[:, 0] = stretch**2
    p.x[:, 0] *= stretch
    method.world.model.stress(p.arrays(), p.stress)
    run_stages(method, "neighbours", 0.0)
    run_stages(method, "metric forces", 1.0)
    force = p.mass[:, None] * p.v
    scaled = np.abs(p.x) / [stretch, 1.0, 1.0]
    # points near the surface lack neighbours, so they list deeper ones: two layers on, and forces reach two more
    inside = (scaled < (n / 2 - 6) * SPACING).all(axis=1)
    E, nu = ELASTIC["youngs_modulus"], ELASTIC["poisson_ratio"]
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    P = (2 * mu + lam) * (stretch - 1)  # eq. (9)
    assert np.abs(force[inside]).max() < 1e-10 * P * SPACING**2
    pull = force[p.x[:, 0] < 0, 0].sum()
    # first Piola stress on the section of the rest shape: the pair forces of each point have the moment V τ, at the
    # surface too, and far from the ends all sections carry the same force
    assert pull == pytest.approx(P * (n * SPACING) ** 2, rel=1e-9)


@pytest.mark.parametrize("motion", ["stretch", "shear"])
def test_stress_of_a_slow_deformation_is_that_of_equation_9(motion):
    """The whole cloud is moved affinely in small steps; the stress of each point follows eq. (9)."""
    method = box([5, 5, 5], body={"fill": {"jitter": 0.3}})
    state, p = method.world, method.particles
    steps, amount = 50, 0.2
    A = np.eye(3)
    if motion == "stretch":
        A[0, 0] = (1 + amount) ** (1 / steps)
    else:
        A[0, 1] = amount / steps
    for _ in range(steps):
        run_stages(method, "neighbours", 0.0)
        before = p.x.copy()
        p.x[:] = before @ A.T
        state.before = before
        run_stages(method, "deformation", 1.0)
        state.model.update(p.arrays(), 1.0, state.deformation, p.stress)
    F = np.linalg.matrix_power(A, steps)
    U, s, _ = np.linalg.svd(F)
    E, nu = ELASTIC["youngs_modulus"], ELASTIC["poisson_ratio"]
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    P = 2 * mu * (s - 1) + lam * (s - 1).sum()
    tau = U @ np.diag(s * P) @ U.T
    expected = tau[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    np.testing.assert_allclose(p.stress, np.broadcast_to(expected, p.stress.shape), atol=1e-9 * E)


def test_a_bar_vibrates_at_its_frequency():
    """The first longitudinal mode of a free bar has the frequency √(E/ρ)/(2L). validation.md 36: 3 %."""
    n, thick = 20, 4
    L = n * SPACING
    wave = {"velocity": [0.05, 0.0, 0.0], "wave_vector": [np.pi / L, 0.0, 0.0]}
    method = box([n, thick, thick], body={"wave": wave})
    period = 2 * L / np.sqrt(ELASTIC["youngs_modulus"] / ELASTIC["density"])
    order = np.argsort(method.particles.id)
    shape = np.sin(np.pi * method.particles.x[order, 0] / L)
    times, motion = [], []
    while method.time < 0.85 * period:
        advance(method, method.time + period / 40)
        times.append(method.time)
        motion.append(method.particles.v[np.argsort(method.particles.id), 0] @ shape)
    t, q = np.array(times), np.array(motion)
    turns = [t[k] - q[k] * (t[k + 1] - t[k]) / (q[k + 1] - q[k]) for k in range(len(t) - 1) if q[k] * q[k + 1] < 0]
    # a quarter and three quarters of a period
    assert len(turns) == 2
    assert turns[1] - turns[0] == pytest.approx(period / 2, rel=0.03)


def test_damping_leaves_affine_motion_alone(rng):
    """A cloud without stress that stretches and turns uniformly is not slowed down, whatever the damping."""
    forces = {"damping": 2.0, "artificial_viscosity": 0.0}
    method = box([5, 5, 5], forces=forces, body={"fill": {"jitter": 0.4}})
    p = method.particles
    L = rng.normal(size=(3, 3))
    p.v[:] = p.x @ L.T
    run_stages(method, "neighbours", 0.0)
    before = p.v.copy()
    run_stages(method, "metric forces", 1.0)
    # the rate of the damping is of the order of the speed of waves over the radius
    rate = 2.0 * np.sqrt(ELASTIC["youngs_modulus"] / ELASTIC["density"]) / (2 * SPACING)
    assert np.abs(p.v - before).max() < 1e-12 * rate * np.abs(before).max()


def test_energy_changes_only_by_damping_and_the_order_of_the_step(rng):
    """Without damping, free vibrations keep their energy: symplectic Euler wobbles in proportion to the step."""
    changes = []
    for courant in (0.4, 0.2):
        wave = {"velocity": [0.2, 0.0, 0.0], "wave_vector": [np.pi / (8 * SPACING), 0.0, 0.0]}
        method = box([8, 5, 5], body={"wave": wave}, forces=UNDAMPED, time={"courant": courant})
        start = method.diagnostics()["kinetic_energy"]
        advance(method, 0.0064)
        report = method.diagnostics()
        energy = report["kinetic_energy"] + report["elastic_energy"] + report["non_affine_energy"]
        changes.append(abs(energy - start) / start)
    assert changes[1] < 0.05
    assert changes[1] < changes[0]


def test_one_step_by_hand_moves_a_free_body_by_gravity_alone():
    method = box([3, 3, 3], gravity=[0.0, -10.0, 0.0])
    x = method.particles.x.copy()
    method.take_step(1e-4)
    np.testing.assert_allclose(method.particles.x, x + np.array([0.0, -1e-7, 0.0]), atol=1e-15)
