"""Pair forces compared with a literal evaluation of the paper's equations and with continuum formulas."""

import math

import numpy as np
import pytest
from clouds import ELASTIC, SPACING, advance, box, run_stages

PAIRS = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
"""Order of the components of a stored symmetric tensor."""


def full(stored: np.ndarray) -> np.ndarray:
    tensor = np.empty((3, 3))
    for value, (i, j) in zip(stored, PAIRS):
        tensor[i, j] = tensor[j, i] = value
    return tensor


def gradient(x: np.ndarray, h: float) -> np.ndarray:
    """∇W of eqs. (12) and (13)."""
    r = np.linalg.norm(x)
    c = math.pi / (8 * h**4 * (math.pi / 3 - 8 / math.pi + 16 / math.pi**2))
    return -c * math.sin((r + h) * math.pi / (2 * h)) * x / r if 0.0 < r < h else np.zeros(3)


@pytest.mark.parametrize("stress", ["first-piola", "printed"])
def test_plain_forces_are_those_of_the_equations(stress, rng):
    """Eqs. (9) to (13) for every pair, averaged, with arbitrary rotations in Fe. As printed, eq. (10) pushes stretched
    points apart: the force that p_i exerts on p_j has the opposite sign."""
    method = box(
        [4, 4, 4], body={"fill": {"jitter": 0.4}}, forces={"stress": stress, "gradient": "plain", "damping": 0.0}
    )
    p, h = method.particles, method.world.lists.radius
    p.b[:] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] + 0.1 * rng.uniform(-1, 1, (len(p), 6))
    method.world.model.stress(p.arrays(), p.stress)
    run_stages(method, "neighbours", 0.0)
    run_stages(method, "metric forces", 1.0)
    lists = method.world.lists
    E, nu = ELASTIC["youngs_modulus"], ELASTIC["poisson_ratio"]
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    deformed, stresses = [], []
    for stored in p.b:
        squares, Q = np.linalg.eigh(full(stored))
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        Fe = Q @ np.diag(np.sqrt(squares)) @ Q.T @ (rotation * np.sign(np.linalg.det(rotation)))
        U, s, Vt = np.linalg.svd(Fe)
        P = np.diag(2 * mu * (s - 1) + lam * (s - 1).sum())
        deformed.append(np.linalg.inv(Fe))
        stresses.append(U @ (np.diag(s) @ P if stress == "printed" else P) @ Vt)

    def exerted(i, j):
        return 2.0 * p.volume[i] * p.volume[j] * stresses[i] @ gradient(deformed[i] @ (p.x[j] - p.x[i]), h)

    expected = np.zeros_like(p.v)
    for i in range(len(p)):
        for j in lists.neighbour[lists.start[i] : lists.start[i + 1]]:
            if j < len(p):
                expected[i] += 0.5 * (exerted(j, i) - exerted(i, j))
    force = p.mass[:, None] * p.v
    np.testing.assert_allclose(force, expected, atol=1e-12 * np.abs(expected).max())


def test_viscosity_has_the_size_of_its_unit():
    """The force per volume tends to μ (∇²v + 2 ∇ ∇·v): 6 μ on v = x² e_x and 2 μ on v = y² e_x. A lattice is not
    isotropic, but its average over the directions is exact."""
    viscosity, n = 3.0, 12
    total = 0.0
    for axis in range(3):
        method = box([n, n, n], forces={"viscosity": viscosity, "damping": 0.0})
        run_stages(method, "neighbours", 0.0)
        p = method.particles
        p.v[:, 0] = p.x[:, axis] ** 2
        before = p.v.copy()
        run_stages(method, "metric forces", 1.0)
        middle = (np.abs(p.x) < 1.5 * SPACING).all(axis=1)
        total += (p.mass * (p.v - before)[:, 0] / p.volume)[middle]
    np.testing.assert_allclose(total, 10.0 * viscosity, rtol=1e-9)


@pytest.mark.parametrize("friction", [0.3, 0.7])
def test_friction_on_a_slope_of_30_degrees(friction):
    """A block slides with g (sin θ − μ cos θ), and not at all if μ > tan θ = 0.577."""
    g, angle = 9.81, math.radians(30.0)
    ground = {"half_space": {"point": [0.0, -2.5 * SPACING, 0.0], "normal": [0.0, 1.0, 0.0]}}
    method = box(
        [5, 5, 5], forces={"gradient": "least-squares"},
        gravity=[g * math.sin(angle), -g * math.cos(angle), 0.0],
        obstacle=[{"shape": ground, "contact": "separate", "friction": friction}],
    )  # fmt: skip
    # time to come to rest on the ground, which is loaded suddenly
    advance(method, 0.15)
    first = method.particles.v[:, 0].mean()
    advance(method, 0.35)
    gained = method.particles.v[:, 0].mean() - first
    if friction > math.tan(angle):
        assert abs(first + gained) < 1e-3 * g * 0.35
    else:
        assert gained == pytest.approx(0.2 * g * (math.sin(angle) - friction * math.cos(angle)), rel=0.03)
