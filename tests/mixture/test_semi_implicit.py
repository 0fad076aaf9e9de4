"""The semi-implicit step: derivatives by finite differences, closed forms, work of the solver."""

import numpy as np
import pytest
from coupled_blocks import CELL, DT, overlapping, system_and_fields, system_of
from mixtures import PORE_WATER, SAND, WATER, body, simulate

from spume.errors import RunFailed
from spume.materials.unilateral import Unilateral
from spume.mpm.implicit.semi_implicit import SemiImplicit
from spume.numerics.krylov import minres

FADING = Unilateral(-0.02, 0.01, 0.5, 0.0, 0.01)


@pytest.mark.parametrize("unilateral", [None, FADING], ids=["hencky", "unilateral"])
def test_the_matrix_is_the_derivative_of_the_residual_and_symmetric(unilateral):
    """Central differences of r; water in tension and sand between forgiven and elastic have kinks, which few points
    cross at this step."""
    system = system_of(overlapping(), unilateral)
    rng = np.random.default_rng(1)
    v, x, y = (rng.normal(size=(system.count, 2)) for _ in range(3))
    v *= 0.3
    step = 1e-6
    up, low = system.residual(v + step * x)[0], system.residual(v - step * x)[0]
    system.residual(v)
    ax, ay = system.multiply(x), system.multiply(y)
    difference = (up - low) / (2 * step)
    assert np.linalg.norm(difference - ax) < 1e-5 * np.linalg.norm(ax)
    assert np.sum(y * ax) == pytest.approx(np.sum(x * ay), rel=1e-11)


@pytest.mark.parametrize("coupling", ["drag", "pore-pressure"])
def test_the_residual_is_the_derivative_of_the_energy(coupling):
    """Central differences, with drag, the unilateral energy of sand and the energy of water, which is integrated from
    its stress; sand gives its gained volume back at a kink of the stress, not of the energy."""
    pores = {"hydraulic_conductivity": 1e-2, "porosity": 0.4, "coupling": coupling}
    system = system_of(overlapping(mixture=pores), FADING)
    rng = np.random.default_rng(1)
    v, x = (0.3 * rng.normal(size=(system.count, 2)) for _ in range(2))
    energies = []
    for sign in (1.0, -1.0):
        system.residual(v + sign * 1e-4 * x)
        energies.append(system.energy())
    r, _ = system.residual(v)
    slope = (energies[0] - energies[1]) / 2e-4
    assert slope == pytest.approx(np.sum(r * x), rel=1e-5)


def test_viscosity_keeps_the_matrix_symmetric_and_exact_at_rest():
    """The linearisation leaves out what makes the viscous stress unsymmetric, which vanishes at f = I."""
    water = WATER | {"viscosity": 500.0}
    system = system_of(overlapping(material={"sand": SAND, "water": water}))
    rng = np.random.default_rng(1)
    v, x, y = (rng.normal(size=(system.count, 2)) for _ in range(3))
    step, rest = 1e-6, np.zeros((system.count, 2))
    up, low = system.residual(step * x)[0], system.residual(-step * x)[0]
    system.residual(rest)
    ax, difference = system.multiply(x), (up - low) / (2 * step)
    assert np.linalg.norm(difference - ax) < 1e-5 * np.linalg.norm(ax)
    system.residual(0.3 * v)
    assert np.sum(y * system.multiply(x)) == pytest.approx(np.sum(x * system.multiply(y)), rel=1e-11)


def test_a_shear_wave_of_viscous_water_decays_by_backward_euler():
    """v_x = cos k y between slipping walls decays by 1/(1 + ν k² Δt) in a step, here with ν Δt/h² = 14.6, thirty times
    the limit of explicit steps. Compared with a step without viscosity, which has the same losses of the transfers; the
    quadratic splines are off by O((k h)²) = 1.7 % of ν k² Δt = 0.25. The ends are eight viscous lengths away."""
    height, width = 24 * CELL, 60 * CELL
    k = np.pi / height

    def amplitude(viscosity):
        walls = {"lower": [-1.0, 0.0], "upper": [width + 1.0, height], "contact": "slip"}
        sim = simulate(
            gravity=[0, 0], grid={"cell": CELL, "walls": walls}, time={"integrator": "semi-implicit", "dt": DT},
            material={"water": WATER | {"viscosity": viscosity, "bulk_modulus": 1e3}},
            body=[body("water", [0.0, 0.0], [width, height])],
            semi_implicit={"tolerance": 1e-8, "linear_tolerance": 1e-6},
        )  # fmt: skip
        p = sim.method.species["water"]
        p.v[:, 0] = 1e-3 * np.cos(k * p.x[:, 1])
        sim.advance(DT)
        p = sim.method.species["water"]
        middle = np.abs(p.x[:, 0] - 0.5 * width) < 2 * CELL
        shape = np.cos(k * p.x[middle, 1])
        return np.sum(p.v[middle, 0] * shape) / np.sum(shape**2)

    viscosity = 0.25 * WATER["density"] / (k**2 * DT)
    ratio = amplitude(viscosity) / amplitude(0.0)
    assert 1.0 / ratio - 1.0 == pytest.approx(0.25, rel=(k * CELL) ** 2)


def test_friction_acts_on_the_sand_and_not_on_the_water():
    """Saturated sand slides on a floor that moves: the impulses of all contacts obey Coulomb's law, with both signs of
    the sliding velocity and sticking ones, to the tolerance of the solver; water has no friction."""
    ground = {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}
    floor = {
        "shape": ground, "contact": "separate", "friction": 0.3, "motion": {"velocity": {"linear": [0.1, 0.0]}},
    }  # fmt: skip
    corners = ([0.0, 0.0], [8 * CELL, 4 * CELL])
    table = {"tolerance": 1e-7, "linear_tolerance": 1e-4, "iterations": 200}
    sim = simulate(
        grid={"cell": CELL}, time={"integrator": "semi-implicit", "dt": DT}, obstacle=[floor], semi_implicit=table,
        body=[body("sand", *corners), body("pore water", *corners)],
    )  # fmt: skip
    sim.advance(6 * DT)
    solver, system = sim.method.part(SemiImplicit), system_of(sim)
    v = solver.iterate(system)
    assert solver.residual <= solver.tolerance
    for part, friction in zip(system.parts, (0.3, 0.0)):
        contacts = sim.method.world.contacts_of(part.species)
        row = part.dofs.number.reshape(-1)[contacts.node]
        impulse, slide = system.impulse[part.rows][row], v[part.rows][row, 0] - 0.1
        push, drag = impulse[:, 1], impulse[:, 0]
        small = 1e-5 * push.max()
        assert (push >= -small).all()
        assert (push > small).sum() > 6
        sticks = (push > small) & (np.abs(slide) < 1e-6)
        slides = (push > small) & ~sticks
        assert (np.abs(drag[slides] + friction * push[slides] * np.sign(slide[slides])) <= small).all()
        assert (np.abs(drag[sticks]) <= friction * push[sticks] + small).all()
        assert friction == 0.0 or (sticks.any() and slides.any())


def falling_block(**semi_implicit):
    """Stiff sand that hits a floor within the first steps."""
    ground = {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}
    return simulate(
        grid={"cell": CELL}, time={"integrator": "semi-implicit", "dt": DT}, semi_implicit=semi_implicit,
        obstacle=[{"shape": ground, "contact": "separate"}], material={"sand": SAND | {"youngs_modulus": 1e7}},
        body=[body("sand", [0.0, 0.0], [4 * CELL, 4 * CELL], velocity=[0.0, -1.0])], frame_rate=100.0,
    )  # fmt: skip


def test_a_step_that_fails_is_halved_until_it_succeeds_and_grows_again(monkeypatch):
    """Steps above 1.3 ms fail: of 5 ms, 5 and 2.5 are tried, then 1.25; later ones are 1.5 times as long at most, which
    fails again and halves again."""
    sim = falling_block()
    solver, tried, done = sim.method.part(SemiImplicit), [], []
    solve = solver.solve

    def hard(state, exchange, dt):
        tried.append(dt)
        if dt > 1.3e-3:
            return False
        done.append(dt)
        return solve(state, exchange, dt)

    monkeypatch.setattr(solver, "solve", hard)
    sim.advance(DT)
    np.testing.assert_allclose(tried[:3], [DT, DT / 2, DT / 4])
    assert sum(done) == pytest.approx(DT, rel=1e-12)
    assert sim.time == DT
    assert sim.diagnostics()["repeated_steps"] == len(tried) - len(done) > 2


def test_a_step_that_never_converges_ends_the_run_with_what_to_do():
    sim = falling_block(iterations=1, tolerance=1e-15, accepted_residual=1e-15)
    sentence = r"fails even at .* s: it does not converge \(residual .*\); raise \[semi_implicit\] iterations"
    with pytest.raises(RunFailed, match=sentence):
        sim.advance(DT)


def test_unconverged_steps_are_counted_and_the_largest_residual_is_that_since_the_frame():
    """One iteration of Newton's method does not reach 1e-12; a residual of up to 1 is accepted."""
    sim = falling_block(iterations=1, tolerance=1e-12, accepted_residual=1.0)
    residuals = []
    for _ in range(4):
        sim.advance(DT)
        report = sim.diagnostics()
        residuals.append(report["residual"])
    assert report["unconverged_steps"] == report["steps"] == 4
    assert report["largest_residual"] == max(residuals[2:])  # frames are two steps apart
    assert [residual for _, residual in report["step_residuals"]] == residuals[2:]
    assert falling_block().diagnostics()["unconverged_steps"] == 0


def test_the_printed_scheme_does_a_few_full_iterations_and_reports_what_they_leave():
    """One iteration at a hard impact leaves more than the accepted residual, which is a warning and no failure."""
    sim = falling_block(scheme="printed", iterations=1, linear_iterations=3)
    sim.advance(4 * DT)
    report = sim.diagnostics()
    assert report["newton_iterations"] == report["steps"] == 4
    assert report["largest_residual"] > 0.05
    assert "steps of the printed scheme left relative residuals of up to" in report["warnings"]["residuals"]
    few = falling_block(scheme="printed")
    few.advance(DT)
    assert few.diagnostics()["newton_iterations"] == 3


def test_the_printed_scheme_solves_linear_equations():
    """Blocks without contacts, hardly strained, of water with tension and sand that has gained no volume, so that no
    stress has a kink. Two full iterations end where Newton's method converges, up to what its tolerance leaves."""
    found = []
    for scheme in ({"scheme": "printed", "iterations": 2}, {"scheme": "converged", "tolerance": 1e-8}):
        sim = overlapping(
            semi_implicit=scheme | {"linear_tolerance": 1e-9}, gravity=[0.0, 0.0],
            material={"sand": SAND, "water": WATER | {"tension": "full"}},
        )  # fmt: skip
        for species in sim.method.species.values():
            species.v[:] *= 1e-6
        sand, water = sim.method.species["sand"], sim.method.species["water"]
        sand.b[:], sand.gained_volume[:] = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0], 0.0
        water.Jw[:] = 1.0
        for species in sim.method.world.species:
            p = species.particles
            species.model.stress(p.arrays(), p.stress)
        sim.advance(DT)
        found.append(np.concatenate([sand.v[np.argsort(sand.id)], water.v[np.argsort(water.id)]]))
        assert "warnings" not in sim.diagnostics()
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-5 * np.abs(found[1]).max())


def test_without_stiffness_the_preconditioner_is_the_inverse():
    system = system_of(overlapping(), drag=1e4)
    system.residual(np.zeros((system.count, 2)))
    for part in system.parts:
        part.numbers[:] = 0.0
    system.prepare_preconditioner()
    x = np.random.default_rng(2).normal(size=(system.count, 2))
    # numbers of zero leave mass and drag
    np.testing.assert_allclose(system.precondition(system.multiply(x)), x, rtol=0, atol=1e-8)


def dense(system):
    """A, by products with unit vectors, shape (nodes, d, nodes, d)."""
    shape = (system.count, system.world.dimension)
    A = np.empty((*shape, *shape))
    for unit in np.ndindex(shape):
        x = np.zeros(shape)
        x[unit] = 1.0
        A[(..., *unit)] = system.multiply(x)
    return A


PORES = {"hydraulic_conductivity": 1e-2, "porosity": 0.4, "coupling": "pore-pressure"}


def blocks_of(system, fields, pores, q):
    """The 2×2 blocks of sand and water at the nodes in component q, assembled, and P⁻¹ applied to their columns,
    both (nodes, 2, 2). Negative stiffnesses count as zero."""
    sand, water = np.array_split(np.arange(system.count), 2)  # both have the same nodes
    n = fields.porosity if pores else np.ones(system.parts[0].dofs.number.shape)
    n, drag = (system.parts[0].dofs.take(field) for field in (n, DT * fields.drag))
    A = dense(system)
    ss, ww = A[sand, q, sand, q] - system.mass[sand] - drag, A[water, q, water, q] - system.mass[water] - drag
    k_w = ww / n**2
    k_s = ss - (1.0 - n) ** 2 * k_w
    np.testing.assert_allclose(A[sand, q, water, q] + drag, n * (1.0 - n) * k_w, atol=1e-9 * np.abs(ww).max())
    assert (np.minimum(k_s, k_w) > 0.0).mean() > 0.5
    k_s, k_w = np.maximum(k_s, 0.0), np.maximum(k_w, 0.0)
    blocks, inverse = np.empty((len(sand), 2, 2)), np.empty((len(sand), 2, 2))
    blocks[:, 0, 0] = system.mass[sand] + k_s + (1.0 - n) ** 2 * k_w + drag
    blocks[:, 1, 1] = system.mass[water] + n**2 * k_w + drag
    blocks[:, 0, 1] = blocks[:, 1, 0] = n * (1.0 - n) * k_w - drag
    for column, rows in enumerate((sand, water)):
        unit = np.zeros((system.count, 2))
        unit[rows, q] = 1.0
        z = system.precondition(unit)[:, q]
        inverse[:, 0, column], inverse[:, 1, column] = z[sand], z[water]
    return blocks, inverse


def preconditioned(mixture, spline, unilateral):
    """A system at random velocities with its preconditioner, and the fields of the mixture."""
    sim = overlapping(mixture=mixture, grid={"cell": CELL, "spline": spline})
    system, fields = system_and_fields(sim, unilateral)
    system.residual(0.3 * np.random.default_rng(1).normal(size=(system.count, 2)))
    system.prepare_preconditioner()
    return system, fields


SPLINES = pytest.mark.parametrize("spline", ["quadratic", pytest.param("cubic", marks=pytest.mark.slow_suite)])


@pytest.mark.parametrize("unilateral", [None, FADING], ids=["hencky", "unilateral"])
@SPLINES
def test_the_preconditioner_inverts_the_blocks_of_the_matrix(unilateral, spline):
    """With drag, the 2×2 blocks of sand and water at a node, component by component, are those of the assembled matrix
    to rounding."""
    system, fields = preconditioned({"hydraulic_conductivity": 1e-2}, spline, unilateral)
    for q in range(2):
        blocks, inverse = blocks_of(system, fields, False, q)
        np.testing.assert_allclose(blocks @ inverse, np.tile(np.eye(2), (len(blocks), 1, 1)), rtol=0, atol=1e-7)


@pytest.mark.parametrize("unilateral", [None, FADING], ids=["hencky", "unilateral"])
@SPLINES
def test_the_preconditioner_is_near_the_blocks_of_shared_pores(unilateral, spline):
    """The grains under water act through their neighbours, which the blocks leave out: they share the split n : 1 − n
    with the matrix, and every eigenvalue of a preconditioned block is between ½ and 2, so the condition number grows by
    a factor of four at the most, and the number of iterations by two."""
    system, fields = preconditioned(PORES, spline, unilateral)
    for q in range(2):
        blocks, inverse = blocks_of(system, fields, True, q)
        eigenvalues = np.linalg.eigvals(blocks @ inverse)
        assert np.abs(eigenvalues.imag).max() < 1e-9
        assert eigenvalues.real.min() > 0.5
        assert eigenvalues.real.max() < 2.0


@pytest.mark.parametrize("modulus", [1e5, 1e7])
def test_iterations_do_not_grow_with_the_drag(modulus):
    """MINRES to 1e-6 for two blocks that overlap in part, with the drag of the paper, which varies by orders of
    magnitude from node to node. Over six decades of c_E the blocks of the nodes need the same iterations, and masses
    alone at least five times as many at the largest; also if waves cross ten cells in a step (1e7 Pa)."""
    size = 16 * CELL

    def iterations(preconditioner, drag):
        sim = simulate(
            grid={"cell": CELL}, time={"integrator": "semi-implicit", "dt": DT}, mixture={"drag_coefficient": 1.0},
            material={"sand": SAND | {"youngs_modulus": modulus}, "water": WATER | {"bulk_modulus": modulus}},
            body=[
                body("sand", [0.0, 0.0], [size, size]),
                body("water", [0.37 * size, 0.21 * size], [1.3 * size, 1.1 * size], velocity=[-1.0, 0.5]),
            ],
        )  # fmt: skip
        system = system_of(sim, None, preconditioner, drag)
        r, _ = system.residual(np.zeros((system.count, 2)))
        system.prepare_preconditioner()
        return minres(system, -r, tolerance=1e-6, limit=5000).iterations

    blocks = [iterations("blocks", drag) for drag in (1e2, 1e4, 1e6, 1e8)]
    assert max(blocks) <= blocks[0] + 2
    assert iterations("mass", 1e8) >= 5 * blocks[-1]


def test_drag_alone_shrinks_the_relative_velocity_by_the_closed_form():
    """As the explicit step does, by 1/(1 + Δt C (1/ρ̄s + 1/ρ̄w)) deep in two blocks without strain."""
    corners = ([0.0, 0.0], [16 * CELL, 16 * CELL])
    sim = simulate(
        gravity=[0, 0], grid={"cell": CELL}, time={"integrator": "semi-implicit", "dt": DT},
        body=[body("sand", *corners, velocity=[0.01, 0.0]), body("pore water", *corners, velocity=[-0.01, 0.0])],
        semi_implicit={"tolerance": 1e-10, "linear_tolerance": 1e-10},
        material={"sand": SAND | {"youngs_modulus": 1.0}, "pore water": PORE_WATER | {"bulk_modulus": 1.0}},
    )  # fmt: skip
    sim.advance(DT)
    factor = 1.0 / (1.0 + DT * 0.4**2 * 1000.0 * 9.81 / 1e-2 * (1 / 1600.0 + 1 / 400.0))
    sand, water = sim.method.species["sand"], sim.method.species["water"]
    inner = [np.all(np.abs(p.x - 8 * CELL) < 2 * CELL, axis=1) for p in (sand, water)]
    difference = sand.v[inner[0], 0].mean() - water.v[inner[1], 0].mean()
    assert difference == pytest.approx(0.02 * factor, rel=1e-6)


def test_sand_comes_to_rest_at_steps_far_beyond_the_elastic_limit():
    """A low heap on a rough floor at Δt = 5 ms, 20 times the explicit limit at E = 1e7 Pa: few steps are repeated, the
    sand does not sink into the floor, gain energy, or creep."""
    ground = {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}
    floor = {"shape": ground, "contact": "separate", "friction": 0.6}
    sim = simulate(
        grid={"cell": CELL}, time={"integrator": "semi-implicit", "dt": DT}, obstacle=[floor],
        body=[body("sand", [0.0, 0.0], [12 * CELL, 3 * CELL])], material={"sand": SAND | {"youngs_modulus": 1e7}},
    )  # fmt: skip
    start = sim.diagnostics()["gravitational_energy"]
    sim.advance(0.5)
    report = sim.diagnostics()
    assert report["gravitational_energy"] + report["kinetic_energy"] <= start
    assert report["gravitational_energy"] > 0.6 * start
    assert report["speed_max"] < 0.1
    assert report["repeated_steps"] < 20
    assert sim.method.species["sand"].x[:, 1].min() > -0.1 * CELL
