"""What speeds ADMM up: the start of its iterations, the balance of its residuals, equilibrated weights."""

import numpy as np
import pytest
from implicit_beams import RUBBER, beam, stir
from oracle import DenseGrid

from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.branches import Branches
from spume.mpm.implicit.equilibration import SWEEPS, equilibrated
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.step import Integrator
from spume.mpm.step import rasterize, sort_points


def problem_of(method, dt):
    """The equations of the next step."""
    sort_points(method.world)
    rasterize(method.world)
    return StepProblem(method.world, dt)


def newton(**options):
    """A beam whose steps are solved by Newton's method."""
    return beam(implicit={"solver": "newton", "iterations": 50, "tolerance": 1e-11}, **options)


@pytest.mark.parametrize(
    "choice",
    [{"start": "free"}, {"start": "acceleration"}, {"balancing": "residual", "rho": 0.01}, {"weights": "ruiz"}],
    ids=str,
)
def test_every_choice_tends_to_the_solution_of_newtons_method(choice):
    reference = newton()
    admm = beam(implicit={"iterations": 4000, "tolerance": 1e-9, "linear_tolerance": 1e-3} | choice)
    for method in (reference, admm):
        stir(method, 0.5)
        for _ in range(2):
            method.take_step(1e-2)
    size = np.abs(reference.particles.v).max()
    assert np.abs(admm.particles.v - reference.particles.v).max() <= 1e-6 * size


def iterations_of_a_body_at_rest(start):
    """Iterations of a step of a beam that hangs at rest under its weight."""
    material = RUBBER | {"youngs_modulus": 1e6}  # stiff enough to come to rest in 30 steps
    time = {"integrator": "implicit", "dt": 0.05, "consistency": False}  # leading F back stirs the body a little
    method = beam(implicit={"start": start, "iterations": 400, "tolerance": 1e-4}, time=time, material=material)
    p = method.particles
    for _ in range(30):
        method.take_step(0.05)
        p.v *= 0.5
    method.take_step(0.05)
    return len(method.part(Integrator).last.primal)


def test_a_body_at_rest_needs_fewer_iterations_from_the_acceleration_of_the_last_step():
    """There that acceleration is zero and the guess right, while without stress the body would fall."""
    assert iterations_of_a_body_at_rest("acceleration") <= 0.1 * iterations_of_a_body_at_rest("free")


def test_points_in_free_fall_know_their_acceleration():
    method = beam(obstacle=[])
    method.take_step(1e-3)
    assert method.particles.acceleration == pytest.approx(np.tile([0.0, -9.81], (len(method.particles), 1)), abs=1e-8)


def test_iterations_do_not_end_before_the_whole_body_moves_as_it_should():
    """A guess without acceleration of a body that falls: nothing deforms, so only its momentum tells that it is wrong.
    The tolerance is a thousandth."""
    method = beam(obstacle=[])
    method.particles.acceleration[:] = 0.0
    method.take_step(1e-3)
    p = method.particles
    assert p.mass @ p.v[:, 1] / p.mass.sum() == pytest.approx(-9.81e-3, rel=2e-3)


def iterations_with_a_poor_penalty(balancing):
    method = beam(implicit={"rho": 1e-3, "balancing": balancing, "iterations": 3000, "tolerance": 1e-4,
                            "accepted_residual": 1e9})  # fmt: skip
    stir(method, 0.5)
    method.take_step(1e-2)
    return len(method.part(Integrator).last.primal)


def test_balancing_makes_up_for_a_poor_penalty():
    assert iterations_with_a_poor_penalty("residual") < 0.5 * iterations_with_a_poor_penalty("none")


def test_equilibrated_weights_are_those_of_a_dense_matrix():
    """Ruiz's iteration on the matrix of the optimality conditions, whose blocks D hold |Δt Feᵀ ∇w|."""
    dt = 1e-2
    method = beam(material=RUBBER | {"law": "von-mises", "yield_stress": 500.0})
    stir(method, 1.0)
    method.take_step(dt)
    problem = problem_of(method, dt)
    p, dofs = method.particles, problem.dofs
    branches = Branches(problem)
    branches.start("stiffness", 0.5, np.zeros((len(p), 3, 3)))
    h, Fe = branches.weight[0], branches.Fe[0]
    tensor = dt**2 * Fe @ Fe.transpose(0, 2, 1)
    packed = np.stack([tensor[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=1)
    (found,) = equilibrated(problem, [packed], [h])

    dense = DenseGrid(p.x, method.world.cell, 2)
    place = {tuple(node): n for n, node in enumerate(dense.nodes)}
    wanted = np.round(method.world.nodes.positions().reshape(-1, 2)[dofs.node] / method.world.cell).astype(int)
    dw = dense.dw[:, [place[tuple(node)] for node in wanted]]
    D = dt * np.linalg.norm(np.einsum("pba,pib->pia", Fe[:, :2, :2], dw), axis=2)
    nodes, points = len(dofs), len(p)
    matrix = np.zeros((nodes + 2 * points, nodes + 2 * points))
    matrix[:nodes, :nodes] = np.diag(problem.mass)
    matrix[nodes : nodes + points, nodes : nodes + points] = np.diag(p.volume * h)
    matrix[nodes + points :, :nodes] = -D
    matrix[:nodes, nodes + points :] = -D.T
    matrix[nodes + points :, nodes : nodes + points] = np.eye(points)
    matrix[nodes : nodes + points, nodes + points :] = np.eye(points)
    scale = np.ones(len(matrix))
    for _ in range(SWEEPS):
        scale /= np.sqrt(np.linalg.norm(scale[:, None] * matrix * scale, axis=1))
    e = scale[nodes + points :]
    expected = e**2 / p.volume
    assert found == pytest.approx(expected * (p.volume @ h) / (p.volume @ expected), rel=1e-9)


def test_torn_points_let_go_and_whole_ones_hold():
    """A foam that flies apart: with all points torn nothing slows it down; compressed, torn points resist as whole ones
    do."""
    from spume import Scene
    from spume.foam.method import ContinuumFoam

    scene = Scene(
        title="apart", method="continuum-foam", dimension=2, duration=1.0, gravity=[0.0, 0.0],
        grid={"cell": 0.01, "spline": "quadratic"}, time={"integrator": "implicit", "dt": 1e-3},
        body=[{"material": "shaving cream", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.1, 0.1]}}}],
    )  # fmt: skip

    def energy_after(sign, torn):
        """Kinetic energy after the step over that before."""
        method = ContinuumFoam(scene)
        p = method.particles
        p.v[:] = sign * p.x
        p.C[:] = sign * np.eye(2)
        p.weak[:] = torn
        problem = problem_of(method, 1e-3)
        v = solve_by_admm(problem, scene.implicit_settings).v
        return float(problem.mass @ (v**2).sum(axis=1)) / float(problem.mass @ (problem.free**2).sum(axis=1))

    assert energy_after(1.0, True) == pytest.approx(1.0, rel=1e-6)
    assert energy_after(1.0, False) < 0.9
    assert energy_after(-1.0, True) == pytest.approx(energy_after(-1.0, False), rel=0.05)
    assert energy_after(-1.0, True) < 0.9
