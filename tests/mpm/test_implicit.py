"""The parts of the implicit step against dense or independent versions, and the properties of whole steps."""

import numba
import numpy as np
import pytest
from implicit_beams import CELL, RUBBER, beam, beam_scene, stir
from oracle import DenseGrid

from spume import Scene
from spume.errors import RunFailed, SpumeError
from spume.foam.plain import MaterialPointMethod
from spume.materials import LAWS
from spume.matter.cost import solver_bytes
from spume.mpm.implicit.anderson import Memory
from spume.mpm.implicit.branches import NONE_TORN, Branches
from spume.mpm.implicit.grid_matrix import GridMatrix
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.particle_step import branch_loops
from spume.mpm.implicit.principal_newton import ACTIVE, ROWS, THETA, flowed_stress, principal_solver
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.step import SOLVERS, Integrator
from spume.mpm.step import rasterize, sort_points
from spume.numerics.lanes import LANES
from spume.numerics.svd_lanes import VALUES


@pytest.mark.parametrize("law", ["hencky", "von-mises", "drucker-prager", "granular-flow", "herschel-bulkley"])
def test_the_particle_step_fulfils_its_equations_for_stretched_and_inverted_points(law):
    """τ_i + θ s_i (s_i − r_i) = 0, with rounding amplified by the slope of a power law at most."""
    given = {
        "hencky": {"youngs_modulus": 1e5, "poisson_ratio": 0.3},
        "von-mises": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "yield_stress": 2e3},
        "drucker-prager": {"youngs_modulus": 1e5, "poisson_ratio": 0.3, "friction_angle": 30.0, "cone": "compression"},
        "granular-flow": {
            "youngs_modulus": 1e5, "poisson_ratio": 0.3, "friction_angle": 25.0, "fast_friction_angle": 35.0,
            "grain_diameter": 1e-3,
        },
        "herschel-bulkley": {
            "bulk_modulus": 1e5, "shear_modulus": 1e3, "yield_stress": 30.0, "viscosity": 20.0, "flow_index": 0.3
        },
    }[law]  # fmt: skip
    law = LAWS[law]
    parameters = law.pack(law.parameters(density=1000.0, **given))
    arrays = tuple(field.allocate(LANES) for field in law.fields)
    history = tuple(_value(array[0]) for array in arrays)
    solve, stress = principal_solver(law, 0, 3), flowed_stress(law.branches[0])
    rng = np.random.default_rng(0)
    for _ in range(25):
        memory = np.zeros((ROWS, LANES))
        rights = memory[VALUES : VALUES + 3] = rng.uniform([[0.2], [0.2], [-0.5]], 1.8, (3, LANES))
        thetas = memory[THETA] = 1e5 * 10.0 ** rng.uniform(-0.5, 1.0, LANES)
        memory[ACTIVE] = 1.0
        solve(np.zeros(LANES, np.int32), np.array([parameters]), arrays, NONE_TORN, 1e-3, 0, memory)
        for s, r, theta in zip(memory[VALUES : VALUES + 3].T, rights.T, thetas):
            tau, _ = stress(parameters, history, False, tuple(np.log(s)), 1e-3)
            left = np.array(tau) + theta * s * (s - r)
            assert np.abs(left).max() <= 1e-8 * (theta * max(s) ** 2 + np.abs(tau).max())


def _value(entry):
    return tuple(float(x) for x in np.ravel(entry)) if np.ndim(entry) else float(entry)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_particle_step_of_a_point_does_not_depend_on_its_group(dimension):
    """Bit for bit, beside points of other materials, torn and undeformed ones, ones that are nearly flat, inverted or
    not finite, and in an incomplete last group."""
    n = 3 * LANES + 5
    law = LAWS["hencky"]
    rng = np.random.default_rng(2)
    arrays = {name: np.zeros((n, 3, 3)) for name in ("L", "change", "Fe", "q", "S")}
    arrays["Fe"][:] = arrays["q"][:] = np.eye(3)
    for name, size in (("L", 10.0), ("change", 1.0), ("Fe", 0.1), ("q", 0.1), ("S", 1.0)):
        arrays[name][1:, :dimension, :dimension] += size * rng.normal(size=(n - 1, dimension, dimension))
    arrays["q"][2], arrays["q"][3], arrays["q"][4, 0, 0] = 2e-3 * arrays["q"][2], -arrays["q"][3], np.nan
    parameters = law.pack(law.parameters(density=1000.0, youngs_modulus=1e5, poisson_ratio=0.3))
    material, torn = rng.integers(0, 2, n).astype(np.int32), rng.integers(0, 2, n).astype(np.uint8)
    material[:5] = 1
    step = branch_loops(law, 0, dimension).step

    def stepped(some):
        L, change, Fe, q, S = (a[some].copy() for a in arrays.values())
        count, residuals, difference = len(q), np.zeros((len(q), 3)), np.zeros((len(q), 3, 3))
        history = tuple(field.allocate(count) for field in law.fields)
        step(
            material[some], np.array([False, True]), np.array([parameters, parameters]), history, torn[some],
            1e-3, 0.5, 1.0, 1.0, L, change, np.ones(count), Fe, np.full(count, 1e5), q, q, difference, S, residuals,
        )  # fmt: skip
        return L, q, S, residuals, difference

    together = stepped(slice(None))
    for p in range(n):
        for found, expected in zip(stepped(slice(p, p + 1)), together):
            np.testing.assert_array_equal(found[0], expected[p])
    others = material == 0
    untouched = arrays["L"], arrays["q"], arrays["S"], np.zeros((n, 3)), np.zeros((n, 3, 3))
    for before, after in zip(untouched, together):
        np.testing.assert_array_equal(after[others], before[others])
        assert np.isfinite(after[np.arange(n) != 4]).all()
    assert np.isnan(together[1][4]).any()


def test_the_stored_matrix_is_mass_plus_the_sum_of_the_points():
    method = beam()
    sort_points(method.world)
    rasterize(method.world)
    problem = StepProblem(method.world, 1e-2)
    p = method.particles
    B = np.random.default_rng(3).normal(size=(len(p), 6))
    B[:, [2, 4, 5]] = 0.0
    matrix = GridMatrix(method.world.nodes, problem.dofs, problem.contacts, problem.surroundings)
    matrix.assemble(p.x, B, problem.mass)
    dense = DenseGrid(p.x, CELL, 2)
    place = {tuple(node): n for n, node in enumerate(dense.nodes)}
    wanted = np.round(method.world.nodes.positions().reshape(-1, 2)[problem.dofs.node] / CELL).astype(int)
    dw = dense.dw[:, [place[tuple(node)] for node in wanted]]
    tensors = np.stack([B[:, [0, 3]], B[:, [3, 1]]], axis=1)
    expected = np.diag(problem.mass) + np.einsum("pia,pab,pjb->ij", dw, tensors, dw)
    u = np.random.default_rng(5).normal(size=(len(problem.dofs), 2))
    assert matrix.multiply(u) == pytest.approx(expected @ u, rel=1e-12, abs=1e-10 * np.abs(expected).max())


def test_admm_tends_to_the_solution_of_newtons_method():
    """Both solve backward Euler: one by minimising an energy, the other by splitting it."""
    newton = beam(implicit={"solver": "newton", "iterations": 50, "tolerance": 1e-11, "linear_tolerance": 1e-12})
    admm = beam(implicit={"iterations": 2000, "tolerance": 1e-9, "linear_tolerance": 1e-4})
    for method in (newton, admm):
        stir(method, 0.5)
        for _ in range(2):
            method.take_step(1e-2)
    change = np.abs(newton.particles.v).max()
    assert np.abs(admm.particles.v - newton.particles.v).max() <= 1e-6 * change
    assert np.abs(admm.particles.stress - newton.particles.stress).max() <= 1e-5 * np.abs(newton.particles.stress).max()


def test_residuals_fall_by_a_factor_of_a_hundred_in_sixty_iterations():
    method = beam(implicit={"iterations": 61, "tolerance": 1e-12})
    stir(method, 0.5)
    method.take_step(1e-2)
    last = method.part(Integrator).last
    assert last.primal[-1] <= 1e-2 * max(last.primal)
    assert last.dual[-1] <= 1e-2 * max(last.dual)


def test_momentum_is_conserved_in_free_flight_as_well_as_linear_systems_are_solved():
    method = beam(obstacle=[], gravity=[0.0, 0.0], implicit={"linear_tolerance": 1e-11})
    stir(method, 0.5)
    p = method.particles
    before = p.mass @ p.v
    for _ in range(3):
        method.take_step(1e-2)
    assert p.mass @ p.v == pytest.approx(before, rel=1e-9, abs=1e-9 * p.mass.sum())


def test_results_have_the_same_bits_for_any_number_of_threads():
    found = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        method = beam()
        stir(method, 0.5)
        method.take_step(1e-2)
        method.take_step(1e-2)
        found.append({name: a.tobytes() for name, a in method.particles.arrays().items()})
    assert found[0] == found[1]


def test_a_restored_run_goes_on_with_the_same_bits():
    method = beam()
    stir(method, 0.5)
    method.take_step(1e-2)
    arrays, values = method.checkpoint()
    arrays = {name: a.copy() for name, a in arrays.items()}
    method.take_step(1e-2)
    other = beam()
    other.restore(arrays, values)
    other.take_step(1e-2)
    assert other.particles.x.tobytes() == method.particles.x.tobytes()
    assert other.particles.F.tobytes() == method.particles.F.tobytes()


def test_a_step_that_does_not_converge_is_repeated_shorter_and_counted():
    method = beam(implicit={"iterations": 6, "accepted_residual": 2e-3})
    stir(method, 0.5)
    method.take_step(2e-2)
    assert method.time == 2e-2
    assert method.diagnostics()["repeated_steps"] > 0
    assert method.world.steps > 1


def test_a_step_that_always_fails_ends_the_run_with_a_sentence(monkeypatch):
    def overflow(problem, settings):
        return Outcome(np.full_like(problem.free, np.nan), np.zeros((len(problem.species.particles), 3, 3)))

    monkeypatch.setitem(SOLVERS, "admm", overflow)
    method = beam()
    with pytest.raises(RunFailed, match=r"fails even at .* not finite; raise \[implicit\] iterations"):
        method.take_step(1e-2)
    assert np.isfinite(method.particles.x).all()


MANY = {"iterations": 3000}


def test_velocities_that_would_invert_points_are_resisted():
    """Gradients of 200/s would turn points inside out in steps of 1e-2 s."""
    method = beam(material=RUBBER | {"youngs_modulus": 1e6}, implicit=MANY)
    stir(method, 50.0)
    for _ in range(2):
        method.take_step(1e-2)
    assert_converged(method)


HARD = {
    "long steps": ({"dt": 0.1}, 0.1),
    "nearly incompressible": ({"material": RUBBER | {"poisson_ratio": 0.49}}, 1e-2),
    "very stiff": ({"material": RUBBER | {"youngs_modulus": 1e10}}, 1e-2),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_cases_converge_without_inverted_points(case):
    """Every step ends below the tolerance, shortened where it would not."""
    options, dt = HARD[case]
    method = beam(implicit=MANY, **options)
    stir(method, 1.0)
    for _ in range(3):
        method.take_step(dt)
    assert_converged(method)


def assert_converged(method):
    assert np.isfinite(method.particles.x).all()
    assert np.isfinite(method.particles.v).all()
    assert (np.linalg.det(method.particles.F) > 0.0).all()
    assert method.diagnostics()["unconverged_steps"] == 0


def test_stiff_and_soft_bodies_meet_in_one_step():
    """Stiffness ratio 1e6; in five steps the gap between them closes and the soft one is squeezed."""
    bodies = [
        {"material": name, "velocity": [speed, 0.0], "shape": {"rectangle": {"center": [x, 0.2], "size": [0.4, 0.4]}}}
        for name, x, speed in (("soft", 0.2, 1.0), ("m", 0.6, -1.0))
    ]
    tables = beam_scene(obstacle=[], material=RUBBER | {"youngs_modulus": 1e10}, implicit=MANY).resolved()
    tables |= {"body": bodies}
    tables["material"]["soft"] = RUBBER | {"youngs_modulus": 1e4}
    method = MaterialPointMethod(Scene(**tables))
    for _ in range(5):
        method.take_step(5e-3)
    assert_converged(method)
    J = np.linalg.det(method.particles.F)
    stiff = method.particles.body == 1
    assert np.abs(J[stiff] - 1.0).max() < 1e-2 < np.abs(J[~stiff] - 1.0).max()


def test_an_automatic_implicit_step_follows_speed_and_gravity():
    """speed · t + g t² = courant · cell."""
    method = MaterialPointMethod(beam_scene(dt="auto", frame_rate=1.0))
    t = method.world.time_step.choose(0.0, 0.0)
    assert 9.81 * t * t == pytest.approx(0.5 * CELL)
    t = method.world.time_step.choose(20.0, 0.0)
    assert 20.0 * t + 9.81 * t * t == pytest.approx(0.5 * CELL)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"implicit": {}, "time": {}}, "implicit is given with integrator 'explicit'"),
        ({"time": {"integrator": "implicit", "deformation": "second-order"}}, "implicit steps deform by I"),
    ],
)  # fmt: skip
def test_contradictory_choices_are_refused(tables, words):
    with pytest.raises(SpumeError, match=words):
        beam_scene(**tables)


def test_the_estimate_counts_the_memory_of_the_solver():
    """Arrays of the branches, tensors of the points and the matrix of a block, eight cells wide, at most half again."""
    material = {"law": "viscoelastic", "density": 1e3, "shear_modulus": 1e3, "lame_modulus": 1e4,
                "viscous_shear_modulus": 1e3, "viscous_lame_modulus": 1e4, "deviatoric_viscosity": 1e2,
                "volumetric_viscosity": 1e2}  # fmt: skip
    scene = beam_scene(
        material=material, dimension=2, obstacle=[],
        body=[{"material": "m", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.8, 0.8]}}}],
    )  # fmt: skip
    method = MaterialPointMethod(scene)
    sort_points(method.world)
    rasterize(method.world)
    problem = StepProblem(method.world, 1e-2)
    branches = Branches(problem)
    matrix = GridMatrix(method.world.nodes, problem.dofs, problem.contacts, problem.surroundings)
    arrays = [
        *branches.Fe,
        *branches.q,
        *branches.weight,
        branches.S,
        branches.residuals,
        matrix.columns,
        matrix.values,
    ]
    gradients = 2 * len(method.particles) * 9 * 8  # L and its change
    remembered = Memory(2, 2, len(method.particles), (len(problem.mass), 2))
    arrays += [remembered._g, remembered._f]
    taken = (sum(array.nbytes for array in arrays) + gradients) / len(method.particles)
    assert taken <= solver_bytes(scene) <= 1.5 * taken
