"""Friction in implicit steps: contacts at its limit, which tend to alternate between sticking and sliding."""

import numpy as np
import pytest

from spume import Scene
from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.method import MaterialPointMethod
from spume.mpm.step import rasterize, sort_points

FRICTION = 0.5


def plough():
    """A frictional cylinder moves into a block that sticks to the ground."""
    return MaterialPointMethod(Scene(
        title="plough", method="mpm", dimension=3, duration=1.0, gravity=[0.0, -1.0, 0.0],
        grid={"cell": 0.02, "spline": "quadratic"}, time={"integrator": "implicit", "max_dt": 0.005},
        implicit={"iterations": 2000, "tolerance": 1e-6},
        material={"m": {"law": "hencky", "density": 1000.0, "youngs_modulus": 5e4, "poisson_ratio": 0.4}},
        body=[{"material": "m", "shape": {"box": {"center": [0.0, 0.03, 0.0], "size": [0.16, 0.06, 0.12]}}}],
        obstacle=[
            {"shape": {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}}, "contact": "stick"},
            {"shape": {"cylinder": {"center": [-0.13, 0.0, 0.0], "radius": 0.045, "height": 0.5}},
             "contact": "separate", "friction": FRICTION, "motion": {"velocity": {"linear": [1.0, 0.0, 0.0]}}},
        ],
    ))  # fmt: skip


@pytest.mark.parametrize("steps", [2, 6, 10])
def test_all_contacts_obey_coulombs_law_in_the_solution(steps):
    """Impulses and sliding velocities to 1e-3 of the largest: the residuals are 1e-6 of the strains."""
    method = plough()
    for _ in range(steps):
        method.take_step(0.005)
    sort_points(method.world)
    rasterize(method.world)
    problem = StepProblem(method.world, 0.005)
    outcome = solve_by_admm(problem, method.scene.implicit_settings)
    assert outcome.converged
    contacts = method.world.contacts
    row = problem.dofs.number.reshape(-1)[contacts.node]
    alone = np.bincount(row)[row] == 1
    rough = alone & (contacts.numbers[:, 6] > 0.0)
    normal, velocity = contacts.numbers[rough, :3], contacts.numbers[rough, 3:6]
    impulse, relative = outcome.reaction[row[rough]], outcome.v[row[rough]] - velocity
    push = np.einsum("nq,nq->n", impulse, normal)
    drag = impulse - push[:, None] * normal
    slide = relative - np.einsum("nq,nq->n", relative, normal)[:, None] * normal
    size, speed = np.linalg.norm(drag, axis=1), np.linalg.norm(slide, axis=1)
    small = 1e-3 * push.max()
    assert (push > small).sum() > 20
    assert (push >= -small).all()
    assert (size <= FRICTION * push + small).all()
    sliding = speed > 1e-3
    sticking = ~sliding & (push > small)
    assert sliding.any()
    assert sticking.any()
    opposite = -FRICTION * push[sliding, None] * slide[sliding] / speed[sliding, None]
    assert (np.linalg.norm(drag[sliding] - opposite, axis=1) <= small).all()
