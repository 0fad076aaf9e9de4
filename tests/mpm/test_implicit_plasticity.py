"""Implicit steps of laws that flow: yield surface, balance of momentum, and the tip of Drucker-Prager's cone."""

import math

import numpy as np
import pytest
from implicit_beams import RUBBER, beam, stir

from spume.materials import LAWS
from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.branches import NONE_TORN, Branches
from spume.mpm.implicit.principal_newton import ACTIVE, ROWS, THETA, flowed_stress, principal_solver
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.weights import FLOWING, YIELDING
from spume.mpm.step import rasterize, sort_points
from spume.numerics.lanes import LANES
from spume.numerics.svd_lanes import VALUES

E, NU, YIELD = 1e5, 0.3, 1e3
METAL = RUBBER | {"law": "von-mises", "yield_stress": YIELD}
SAND = RUBBER | {"law": "drucker-prager", "friction_angle": 30.0, "cone": "compression"}
ACCURATE = {"iterations": 4000, "tolerance": 1e-10, "linear_tolerance": 1e-3}
DT = 1e-2


def von_mises(tau):
    """‖dev τ‖ − √(2/3) σY [Pa]"""
    return np.linalg.norm(deviator(tau), axis=(1, 2)) - math.sqrt(2.0 / 3.0) * YIELD


def drucker_prager(tau):
    """‖dev τ‖ + α tr τ with α = √(2/3) 2 sin φ/(3 − sin φ), the compression cone without cohesion [Pa]"""
    sine = math.sin(math.radians(30.0))
    cone = math.sqrt(2.0 / 3.0) * 2.0 * sine / (3.0 - sine)
    return np.linalg.norm(deviator(tau), axis=(1, 2)) + cone * np.trace(tau, axis1=1, axis2=2)


def deviator(tau):
    return tau - np.trace(tau, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)


def full(packed):
    """Symmetric tensors (n, 3, 3) of xx, yy, zz, xy, xz, yz."""
    tau = np.zeros((len(packed), 3, 3))
    for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        tau[:, i, j] = tau[:, j, i] = packed[:, k]
    return tau


@pytest.mark.parametrize(("material", "yielding"), [(METAL, von_mises), (SAND, drucker_prager)], ids=["metal", "sand"])
def test_after_a_step_stresses_are_admissible_and_balance_momentum(material, yielding):
    """The stress is that of the law's own update with the velocities found; rounding of the return map, and residuals
    of 1e-10 whose error the balance may amplify a thousand times."""
    made = []
    for _ in range(2):
        method = beam(material=material, implicit=ACCURATE)
        stir(method, 1.0)
        if material is SAND:  # under pressure, so that some points flow and others do not
            method.particles.v -= 2.0 * (method.particles.x - [0.5, 0.2])
        made.append(method)
    one, other = made
    sort_points(one.world)
    rasterize(one.world)
    problem = StepProblem(one.world, DT)
    outcome = solve_by_admm(problem, one.scene.implicit_settings)
    assert outcome.converged
    other.take_step(DT)
    assert np.array_equal(one.particles.id, other.particles.id)
    tau = full(other.particles.stress)
    size = np.linalg.norm(tau, axis=(1, 2)).max()
    excess = yielding(tau)
    assert excess.max() <= 1e-9 * size
    on_surface = np.abs(excess) <= 1e-9 * size
    assert on_surface.mean() > 0.05
    end = np.linalg.inv(np.eye(3) + DT * outcome.L).transpose(0, 2, 1)
    stress = problem.impulse(-DT * tau @ end)
    unbalanced = problem.mass[:, None] * (problem.free - outcome.v) + stress
    problem.contacts.project(unbalanced)
    assert np.linalg.norm(unbalanced) <= 1e-7 * np.linalg.norm(stress)


def test_at_the_tip_the_particle_step_has_no_stiffness_and_the_weights_the_elastic_one():
    """[Fang19] section 7.3: sand that expands carries no stress, so X is its right-hand side; the weight is ‖∂²Ψ/∂s²‖
    of the elastic energy, H_ij = (C_ij − δ_ij τ_i)/(s_i s_j)."""
    law = LAWS["drucker-prager"]
    given = {key: value for key, value in SAND.items() if key not in ("law", "density")}
    parameters = law.pack(law.parameters(density=1000.0, **given))
    method = beam(material=SAND)
    p = method.particles
    stretch = 1.02
    p.b[:] = [stretch**2, stretch**2, 1.0, 0.0, 0.0, 0.0]
    history = tuple(p.arrays()[field.name][0] for field in law.fields)
    history = tuple(tuple(h.ravel()) if h.ndim else float(h) for h in history)
    strain = (math.log(stretch), math.log(stretch), 0.0)
    tau, K = flowed_stress(law.branches[0])(parameters, history, False, strain, DT)
    assert tau == (0.0, 0.0, 0.0)
    assert K == 9 * (0.0,)
    memory = np.zeros((ROWS, LANES))
    memory[VALUES : VALUES + 3] = np.array([[stretch], [stretch], [1.0]])
    memory[THETA], memory[ACTIVE] = 0.5 * E, 1.0
    columns = tuple(p.arrays()[field.name] for field in law.fields)
    principal_solver(law, 0, 2)(p.material, np.array([parameters]), columns, NONE_TORN, DT, 0, memory)
    np.testing.assert_allclose(memory[VALUES : VALUES + 2], stretch, rtol=1e-12)

    sort_points(method.world)
    rasterize(method.world)
    branches = Branches(StepProblem(method.world, DT))
    branches.start("stiffness", 0.5, np.zeros((len(p), 3, 3)))
    mu, lame = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
    tau = (2 * mu + 2 * lame) * math.log(stretch)
    H = (np.array([[2 * mu + lame, lame], [lame, 2 * mu + lame]]) - tau * np.eye(2)) / stretch**2
    assert branches.weight[0] == pytest.approx(np.full(len(p), FLOWING * YIELDING * np.linalg.norm(H)), rel=1e-12)
