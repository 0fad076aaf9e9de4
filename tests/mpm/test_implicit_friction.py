"""Friction in implicit steps: contacts at its limit, which tend to alternate between sticking and sliding."""

from types import SimpleNamespace

import numba
import numpy as np
import pytest
from scipy.optimize import nnls

from spume import Scene, Simulation
from spume.foam.plain import MaterialPointMethod
from spume.geometry.obstacles.collision import SEPARATE
from spume.mpm.implicit.contact_set import OFTEN
from spume.mpm.implicit.coupled_system import NO_COUPLING, CoupledSystem
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.semi_implicit import SemiImplicit
from spume.mpm.implicit.step import SOLVERS, Integrator
from spume.mpm.step import find_contacts, rasterize, sort_points

FRICTION = 0.5
ITERATIONS = {"admm": 2000, "newton": 60}


def rough(shape, friction=FRICTION, **more):
    return {"shape": shape, "contact": "separate", "friction": friction} | more


def made(solver, dimension, body, obstacles, gravity, cell=0.02, velocity=0.0, E=5e4, nu=0.4):
    material = {"law": "hencky", "density": 1000.0, "youngs_modulus": E, "poisson_ratio": nu}
    velocity = [velocity, 0.0, 0.5 * velocity][:dimension]
    if solver == "semi-implicit":
        tables = {"semi_implicit": {"iterations": 200, "tolerance": 1e-6, "linear_tolerance": 1e-4}}
    else:
        table = {"solver": solver, "iterations": ITERATIONS[solver], "tolerance": 1e-6, "linear_iterations": 2000}
        tables = {"implicit": table}
    integrator = "semi-implicit" if solver == "semi-implicit" else "implicit"
    return MaterialPointMethod(Scene(
        title="rough", method="mpm", dimension=dimension, duration=1.0, gravity=gravity,
        grid={"cell": cell, "spline": "quadratic"}, time={"integrator": integrator, "max_dt": 0.005}, **tables,
        material={"m": material}, body=[{"material": "m", "shape": body, "velocity": velocity}], obstacle=obstacles,
    ))  # fmt: skip


def plough(solver):
    """A frictional cylinder moves into a block that sticks to the ground."""
    return made(
        solver, 3, {"box": {"center": [0.0, 0.03, 0.0], "size": [0.16, 0.06, 0.12]}}, gravity=[0.0, -1.0, 0.0],
        obstacles=[
            {"shape": {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}}, "contact": "stick"},
            rough({"cylinder": {"center": [-0.13, 0.0, 0.0], "radius": 0.045, "height": 0.5}},
                  motion={"velocity": {"linear": [1.0, 0.0, 0.0]}}),
        ],
    )  # fmt: skip


def rollers(solver):
    """Two turning rollers draw a soft sheet through their gap: it slides at its front and sticks behind."""
    return made(
        solver, 2, {"rectangle": {"center": [-0.35, 0.0], "size": [1.0, 0.24]}}, gravity=[0.0, 0.0], cell=0.04,
        velocity=0.6, nu=0.3,
        obstacles=[rough({"circle": {"center": [0.25, y], "radius": 0.3}}, friction=0.3,
                         motion={"rotate": {"about": [0.25, y], "rate": 11.0 * y}}) for y in (0.37, -0.37)],
    )  # fmt: skip


def slope(solver):
    """A block hits a slope near its angle of friction."""
    tilt = np.arctan(FRICTION) - 0.02
    return made(
        solver, 2, {"rectangle": {"center": [0.0, 0.06], "size": [0.2, 0.12]}}, velocity=0.2, E=1e5,
        gravity=[9.81 * np.sin(tilt), -9.81 * np.cos(tilt)],
        obstacles=[rough({"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}})],
    )  # fmt: skip


def corner(solver):
    """A block slides into an acute corner in the plane, where the nodes have two contacts."""
    return made(
        solver, 2, {"rectangle": {"center": [-0.12, 0.06], "size": [0.2, 0.12]}}, velocity=1.0, E=1e5,
        gravity=[0.0, -9.81],
        obstacles=[rough({"half_plane": {"point": [0.0, 0.0], "normal": n}}) for n in ([-1.0, -1.0], [0.0, 1.0])],
    )  # fmt: skip


def edge(solver):
    """A block slides into the edge of two faces, and along it."""
    return made(
        solver, 3, {"box": {"center": [-0.06, 0.06, 0.0], "size": [0.12, 0.12, 0.08]}}, velocity=1.0, E=1e5,
        gravity=[0.0, -9.81, 0.0],
        obstacles=[rough({"half_space": {"point": [0.0, 0.0, 0.0], "normal": n}})
                   for n in ([-1.0, 0.0, 0.0], [0.0, 1.0, 0.0])],
    )  # fmt: skip


SCENES = {"plough": plough, "rollers": rollers, "slope": slope, "corner": corner, "edge": edge}


def next_problem(method, dt=0.005):
    sort_points(method.world)
    rasterize(method.world)
    return StepProblem(method.world, dt)


def nodes_with_contacts(problem, outcome):
    """For each node whose contacts are all separating: normals, friction, impulse and velocities relative to them."""
    contacts = problem.world.contacts
    row, d = problem.dofs.number.reshape(-1)[contacts.node], problem.world.dimension
    for n in np.unique(row):
        own = row == n
        if (contacts.kind[own] == SEPARATE).all():
            numbers = contacts.numbers[own]
            yield numbers[:, :d], numbers[:, 6], outcome.reaction[n], outcome.v[n] - numbers[:, 3 : 3 + d]


def assert_coulombs_law(problem, outcome):
    """The impulse of a node is one of contacts that push, each with friction within its cone, and on the cone and
    opposite to the velocity if the node slides; impulses to 1e-3 of the largest and velocities to 1e-3 m/s: residuals
    are 1e-6 of all impulses."""
    found = list(nodes_with_contacts(problem, outcome))
    small = 1e-3 * max(np.linalg.norm(impulse) for _, _, impulse, _ in found)
    assert small > 0.0
    states = set()
    for normals, friction, impulse, relative in found:
        push, _ = nnls(normals.T, impulse)
        rest = impulse - push @ normals
        acting = push > small
        if not acting.any():
            assert np.linalg.norm(rest) <= small, "an open contact exerts friction, or one pulls"
            continue
        # the normal part of friction of the others vanishes, so normals that act explain all but the tangential part
        basis = np.linalg.qr(normals[acting].T)[0]
        drag = impulse - basis @ (basis.T @ impulse)
        push = np.linalg.pinv(normals[acting].T) @ impulse
        limit = friction[acting] @ push
        slide = relative[acting][0] - basis @ (basis.T @ relative[acting][0])
        speed = np.linalg.norm(slide)
        assert np.linalg.norm(drag) <= limit + small
        if speed > 1e-3:
            states.add("slides")
            assert np.linalg.norm(drag + limit * slide / speed) <= small
        else:
            states.add("sticks")
        if acting.sum() > 1:
            states.add("corner")
    return states


def assert_balanced(problem, outcome, tolerance):
    """All impulses without those of obstacles sum to what the residual leaves: √n times its norm at most."""
    free = outcome.reaction.copy()
    contacts = problem.world.contacts
    free[problem.dofs.number.reshape(-1)[contacts.node]] = 0.0
    scale = np.linalg.norm(problem.mass[:, None] * (problem.free - problem.before)) + np.linalg.norm(
        problem.mass[:, None] * (outcome.v - problem.before)
    )
    assert np.linalg.norm(free.sum(axis=0)) <= tolerance * np.sqrt(len(free)) * scale


IN_SPACE = ("plough", "edge")
"""Implicit steps in space have kernels that no fast test needs."""


def slow_in_space(name, *rest):
    return pytest.param(name, *rest, marks=[pytest.mark.slow_suite] if name in IN_SPACE else [])


@pytest.mark.parametrize(("name", "solver"), [slow_in_space(name, solver) for name in SCENES for solver in SOLVERS])
def test_all_contacts_obey_coulombs_law_in_the_solution(name, solver):
    method = SCENES[name](solver)
    states = set()
    for _ in range(3):
        for _ in range(2):
            method.take_step(0.005)
        problem = next_problem(method)
        outcome = SOLVERS[solver](problem, method.scene.implicit_settings)
        assert outcome.converged
        states |= assert_coulombs_law(problem, outcome)
        if solver == "newton":
            assert_balanced(problem, outcome, 1e-5)
    assert method.part(Integrator).unconverged == 0
    assert method.world.time_step.repeated == 0
    assert "slides" in states
    assert ("corner" in states) == (name in ("corner", "edge"))


@pytest.mark.parametrize("name", [slow_in_space("edge"), "corner"])
def test_newtons_method_with_friction_has_the_same_bits_for_any_number_of_threads(name):
    found = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        method = SCENES[name]("newton")
        for _ in range(3):
            method.take_step(0.005)
        found.append({name: a.tobytes() for name, a in method.particles.arrays().items()})
    assert found[0] == found[1]


@pytest.mark.parametrize(("speed", "sticks"), [(5.0, False), (0.1, True)])
def test_a_hesitant_contact_that_closes_again_sticks_or_slides_like_a_new_one(speed, sticks):
    """It does not begin without friction: it is on the cone, against the velocity, where the material slides."""
    method = slope("admm")
    for _ in range(2):
        method.take_step(0.005)
    problem = next_problem(method)
    contacts, v = problem.contacts, problem.free.copy()
    contacts.inertia = problem.mass
    problem.close_contacts(v)
    closed = np.flatnonzero(contacts.closed)
    assert len(closed) > 1
    row = problem.dofs.number.reshape(-1)[method.world.contacts.node[closed]]
    contacts.stuck[:] = False
    contacts._turns[closed] = OFTEN + 1
    pull, push = np.zeros_like(v), np.zeros_like(v)
    pull[row, 1], push[row, 1] = 1.0, -1.0
    contacts.update(v, pull)
    assert not contacts.closed.any()
    v[row] = [speed, -2.0]
    problem.close_contacts(v)
    assert contacts.closed[closed].all()
    assert (contacts.stuck[closed] == sticks).all()
    contacts.update(v, push)
    friction = 0.0 if sticks else -FRICTION  # that of contacts that stick is a constraint
    assert push[row] == pytest.approx(np.tile([friction, -1.0], (len(row), 1)))


@pytest.mark.parametrize("name", [slow_in_space(name) for name in SCENES])
def test_semi_implicit_steps_obey_coulombs_law(name):
    method = SCENES[name]("semi-implicit")
    world, solver = method.world, method.part(SemiImplicit)
    states = set()
    for _ in range(3):
        for _ in range(2):
            method.take_step(0.005)
        sort_points(world)
        rasterize(world)
        find_contacts(world, 0.005)
        system = CoupledSystem(world, NO_COUPLING, 0.005, "lagged", None, "blocks")
        v = solver.iterate(system)
        assert solver.residual <= solver.tolerance
        problem = SimpleNamespace(world=world, dofs=system.parts[0].dofs)
        states |= assert_coulombs_law(problem, SimpleNamespace(v=v, reaction=system.impulse))
    assert solver.unconverged == 0
    assert world.time_step.repeated == 0
    assert "slides" in states
    assert ("corner" in states) == (name in ("corner", "edge"))


def slip(integrator, dt, **tables):
    """Way of a soft block on a slope of 20° in 0.1 s [m]; its friction holds a rigid one."""
    tilt, g = np.radians(20.0), 9.81
    sim = Simulation(Scene(
        title="slope", method="mpm", dimension=2, duration=1.0, gravity=[g * np.sin(tilt), -g * np.cos(tilt)],
        grid={"cell": 0.05, "spline": "quadratic"}, **tables,
        time={"integrator": integrator, "dt": dt, "consistency": False},  # semi-implicit steps have none
        material={"m": {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [0.0, 0.1], "size": [0.4, 0.2]}}}],
        obstacle=[rough({"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, friction=0.6)],
    ))  # fmt: skip
    start = sim.particles.x[:, 0].mean()
    sim.advance(0.1)
    return sim.particles.x[:, 0].mean() - start


@pytest.mark.parametrize("dt", [1e-3, 5e-3, 1e-2])
def test_a_block_on_a_slope_slips_by_elasticity_alone(dt):
    """Both solvers solve the same equations to a tolerance of 1e-5 of the weight, which moves the block by
    1e-5 g t²/2 = 0.5 µm; impulses of friction are as accurate as the normal ones, and every step adds its own error."""
    semi = slip("semi-implicit", dt, semi_implicit={"tolerance": 1e-5})
    admm = slip("implicit", dt, implicit={"tolerance": 1e-5, "iterations": 2000})
    assert semi == pytest.approx(admm, abs=5e-6)
    assert admm > 1e-3
