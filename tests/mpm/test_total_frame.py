"""The grid that deforms with a body: [grid] frame = "total"."""

import numba
import numpy as np
import pytest
from implicit_beams import CELL, RUBBER, beam
from validation.finite_elements import cantilever

from spume import Scene
from spume.errors import RunFailed, SceneError
from spume.foam.plain import MaterialPointMethod
from spume.mpm.diagnostics import angular_momentum, elastic_energy, kinetic_energy
from spume.mpm.step import sort_points

TOTAL = {"cell": CELL, "spline": "quadratic", "frame": "total"}
FLOOR = {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate", "name": "floor"}
NEWTON = {"solver": "newton", "tolerance": 1e-7, "iterations": 40, "linear_iterations": 2000}


def block(center=(0.05, 0.45), **more):
    """A free block of 4 × 4 cells whose faces lie between the nodes."""
    body = {"material": "m", "shape": {"rectangle": {"center": list(center), "size": [0.4, 0.4]}}}
    tables = {
        "title": "block", "method": "mpm", "dimension": 2, "duration": 1.0, "gravity": [0.0, 0.0], "grid": TOTAL,
        "material": {"m": RUBBER}, "body": [body | more.pop("body", {})],
    }  # fmt: skip
    return MaterialPointMethod(Scene(**(tables | more)))


def advance(method, until):
    assert method.advance(until, lambda: False, lambda progress: None)


LENGTH, G = 0.89, 1.5
CLAMP = {"shape": {"half_plane": {"point": [1.0 - LENGTH, 0.0], "normal": [1.0, 0.0]}}, "contact": "stick"}


def sag(dt, steps):
    """Deflection of the end of a clamped beam under gravity that bends it by an eighth of its length."""
    method = beam(dt=dt, implicit=NEWTON, grid=TOTAL, gravity=[0.0, -G], obstacle=[CLAMP])
    p = method.particles
    end = p.id[p.x[:, 0] > 1.0 - 0.5 * CELL]
    before = p.x[np.isin(p.id, end), 1].mean()
    for _ in range(steps):
        method.take_step(dt)
    return before - method.particles.x[np.isin(method.particles.id, end), 1].mean()


@pytest.mark.slow_suite
def test_the_sag_of_a_cantilever_does_not_depend_on_the_steps():
    """At rest the nodes balance stresses that are functions of their positions alone. What is left is the residual of
    Newton's method and the slowest oscillation, of 5/s, which backward Euler damps by 1/√(1 + (ω Δt)²) in each of 60
    steps of 0.2 s: 1e-9."""
    assert sag(0.2, 60) == pytest.approx(sag(1.0, 12), rel=1e-5)


def test_the_sag_of_a_cantilever_is_that_of_finite_elements():
    """The nodes inside the obstacle are held, so the clamp is known to half a cell, and the sag grows as the third to
    fourth power of the length."""
    X, u = cantilever(LENGTH, 0.4, RUBBER["youngs_modulus"], RUBBER["poisson_ratio"], RUBBER["density"] * G, 12, 4)
    expected = -u[X[:, 0] > LENGTH - 0.25 * CELL, 1].mean()
    assert expected > 0.1 * LENGTH
    assert sag(1.0, 12) == pytest.approx(expected, rel=(1.0 + 0.5 * CELL / LENGTH) ** 4 - 1.0)


@pytest.mark.parametrize(
    "A", [[[0.0, -1.0], [1.0, 0.0]], [[0.6, -0.8], [0.8, 0.6]], [[1.3, 0.2], [-0.1, 0.8]]], ids=["90°", "53°", "affine"]
)
def test_an_affine_motion_over_many_cells_gives_its_gradient_exactly(A):
    A = np.array(A)
    method = block()
    world, species = method.world, method.world.only
    sort_points(world)
    u = world.nodes.positions() @ A.T + [7.3, -4.1] - world.nodes.positions()
    species.rasterize()
    species.fields.rename(momentum="velocity", force="change")
    species.fields["velocity"][:] = u.transpose(0, 2, 1)
    X = method.particles.x.copy()
    species.gather(1.0)
    species.move(1.0)
    assert np.abs(species.deformation[:, :2, :2] - A).max() < 1e-12
    assert np.abs(method.particles.x - X @ A.T - [7.3, -4.1]).max() < 1e-12
    sort_points(world)
    assert np.abs(species.transfers.inverse[:, :2, :2] - np.linalg.inv(A)).max() < 1e-11


def test_a_rotated_body_is_in_the_same_state_as_before():
    """A quarter turn of a deformed body turns forces and stiffness, and changes nothing else."""
    found = []
    for turn in (np.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]])):
        method = block(time={"integrator": "implicit", "dt": 1e-2}, implicit=NEWTON)
        world, species = method.world, method.world.only
        sort_points(world)
        X = world.nodes.positions()
        x = (X + 0.03 * np.sin(5.0 * X[..., ::-1])) @ turn.T
        species.displacement[:] = (x - X).transpose(0, 2, 1)
        species.velocity[:] = (0.2 * np.cos(4.0 * X) @ turn.T).transpose(0, 2, 1)
        method.take_step(1e-2)
        v = species.velocity.transpose(0, 2, 1)[species._mass > 0.0] @ turn
        found.append(v)
    assert np.abs(found[1] - found[0]).max() < 1e-6 * np.abs(found[0]).max()


@pytest.mark.parametrize("integrator", ["explicit", "implicit"])
def test_flight_conserves_momentum_angular_momentum_and_energy(integrator):
    """A spinning and vibrating block crosses its own length. Explicit steps conserve both momenta to rounding and the
    energy to the square of ω Δt (a tenth); implicit ones damp, but conserve the momentum."""
    options = {} if integrator == "explicit" else {"implicit": NEWTON}
    method = block(
        body={"velocity": [3.0, 1.0], "spin": 6.0, "wave": {"velocity": [0.3, 0.5], "wave_vector": [8.0, 3.0]}},
        time={"integrator": integrator, "dt": "auto" if integrator == "explicit" else 5e-3}, **options,
    )  # fmt: skip
    world, p = method.world, method.particles
    linear, angular = p.mass @ p.v, angular_momentum(world)
    advance(method, 1e-3)
    spin, energy = angular_momentum(world), kinetic_energy(world) + elastic_energy(world)
    assert spin == pytest.approx(angular, rel=2e-2)  # the wave is not affine between the nodes
    advance(method, 0.2)
    p = method.particles
    assert p.mass @ p.v == pytest.approx(linear, rel=1e-11 if integrator == "explicit" else NEWTON["tolerance"])
    assert p.x[:, 0].mean() > 0.6
    if integrator == "explicit":
        assert angular_momentum(world) == pytest.approx(spin, rel=1e-11, abs=1e-11)
        assert kinetic_energy(world) + elastic_energy(world) == pytest.approx(energy, rel=1e-2)


@pytest.mark.parametrize("integrator", ["explicit", "implicit"])
def test_a_block_is_stopped_by_a_floor_that_carries_its_weight(integrator):
    """It falls a quarter of a cell and is stopped within half a cell of the floor, where implicit steps bring it to
    rest: they damp the slowest mode, with ω = (π/2H) √(E/ρ) = 40/s, by 8 % a step. The impulse of the floor is that of
    gravity minus the momentum of the block."""
    method = landing(integrator)
    lowest = np.inf
    for k in range(1, 21):
        advance(method, 0.05 * k)
        lowest = min(lowest, method.particles.x[:, 1].min())
    p = method.particles
    assert -0.5 * CELL < lowest < 0.5 * CELL
    weight = 9.81 * p.mass.sum()
    pushed = -method.diagnostics()["obstacles"]["floor"]["impulse"][1]
    assert pushed - weight == pytest.approx(p.mass @ p.v[:, 1], abs=1e-6 * weight)
    if integrator == "implicit":
        assert np.abs(p.v).max() < 0.01


def landing(integrator, **more):
    options = {} if integrator == "explicit" else {"implicit": NEWTON}
    return block(
        center=(0.05, 0.225), gravity=[0.0, -9.81], obstacle=[FLOOR],
        time={"integrator": integrator, "dt": "auto" if integrator == "explicit" else 1e-2},
        measure=[{"name": "load", "what": {"force": {"obstacle": "floor"}}}], **options, **more,
    )  # fmt: skip


def test_a_sliding_block_keeps_its_velocity_and_its_shape():
    """Along a floor without friction, over six cells: the grid moves along."""
    method = landing("implicit", body={"velocity": [1.0, 0.0]})
    advance(method, 0.6)
    p = method.particles
    assert p.mass @ p.v[:, 0] == pytest.approx(p.mass.sum(), rel=1e-9)
    still = landing("implicit")
    advance(still, 0.6)
    assert np.abs(p.x - still.particles.x - [0.6, 0.0]).max() < 1e-4 * CELL


def test_surface_loads_act_on_the_deformed_surface():
    """A pressure all around adds no momentum, and a traction on the upper face that of its area."""
    around = {"rectangle": {"center": [0.05, 0.45], "size": [1.0, 1.0]}}
    upper = {"rectangle": {"center": [0.05, 0.65], "size": [1.0, 0.2]}}
    method = block(force=[{"shape": around, "pressure": 2e3}])
    advance(method, 0.05)
    p = method.particles
    assert np.abs(p.mass @ p.v).max() < 1e-9 * 2e3 * 0.4 * 0.05
    assert method.world.model.volume_ratio(p.arrays()).mean() < 0.995
    method = block(force=[{"shape": upper, "traction": [0.0, 100.0], "normal": [0.0, 1.0]}])
    advance(method, 0.05)
    p = method.particles
    assert p.mass @ p.v[:, 1] == pytest.approx(100.0 * 0.4 * 0.05, rel=1e-2)


@pytest.mark.parametrize("integrator", ["explicit", "implicit"])
def test_bits_do_not_depend_on_threads_order_or_resuming(integrator):
    def bits(method):
        order = np.argsort(method.particles.id)
        return {name: array[order].tobytes() for name, array in method.particles.arrays().items()}

    def run(shuffled, threads):
        method = landing(integrator, body={"spin": 3.0, "velocity": [1.0, -2.0]})
        try:
            numba.set_num_threads(threads)
            for part in (1, 2):
                if shuffled:
                    arrays, values = method.checkpoint()
                    rng, order = np.random.default_rng(part), {}
                    for name, array in arrays.items():
                        population = name.split("/")[0]
                        if population not in order:
                            order[population] = rng.permutation(len(array))
                    method = landing(integrator, body={"spin": 3.0, "velocity": [1.0, -2.0]})
                    method.restore({n: array[order[n.split("/")[0]]] for n, array in arrays.items()}, values)
                advance(method, 0.03 * part)
        finally:
            numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
        return bits(method)

    one = run(False, 1)
    assert run(False, min(2, numba.config.NUMBA_NUM_THREADS)) == one
    assert run(True, 1) == one


def test_explicit_steps_follow_the_smallest_stretch():
    """A wave crosses a cell that is squeezed to a half in half the time."""
    method = block()
    world, species = method.world, method.world.only
    free = world.time_step.choose(0.0, 0.0)
    sort_points(world)
    species.displacement[:, 0] = -0.5 * world.nodes.positions()[..., 0]
    sort_points(world)
    assert world.time_step.stretch == pytest.approx(0.5)
    assert world.time_step.choose(0.0, 0.0) == pytest.approx(0.5 * free)


def test_a_grid_turned_inside_out_is_one_sentence():
    method = block()
    sort_points(method.world)
    method.world.only.displacement[:, 0] = -1.5 * method.world.nodes.positions()[..., 0]
    with pytest.raises(RunFailed, match=r"turned inside out at point \d+ near .*frame = 'updated'"):
        sort_points(method.world)


CIRCLE = {"material": "m", "shape": {"circle": {"center": [2.0, 0.0], "radius": 0.3}}}
OTHER = {"circle": {"center": [0.0, 0.0], "radius": 0.3}}
REFUSED = {
    "two bodies": ({"body": [CIRCLE, CIRCLE | {"shape": OTHER}]}, "2 bodies"),
    "semi-implicit": ({"time": {"integrator": "semi-implicit"}}, "integrator 'semi-implicit'"),
    "transfer": ({"transfer": {"scheme": "flip"}}, "transfer is given with grid.frame = 'total'"),
    "damping": ({"damping": {"viscosity": 1e-3}}, "damping is given with grid.frame = 'total'"),
    "second order": ({"time": {"deformation": "second-order"}}, "time.deformation is 'second-order'"),
    "budget": ({"frames": {"energy": True}}, "frames.energy is true with grid.frame = 'total'"),
    "a law that flows": ({"body": [CIRCLE | {"material": "shaving cream"}]}, "flows or tears without limit"),
    "another method": ({"method": "continuum-foam"}, "only 'mpm'"),
    "separate pieces": ({"body": [CIRCLE | {"shape": {"union": {"of": [OTHER, CIRCLE["shape"]]}}}]}, "2 separate"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_total_frame_cannot_do_is_one_sentence(case):
    changes, sentence = REFUSED[case]
    tables = {
        "title": "refused", "method": "mpm", "dimension": 2, "duration": 1.0, "grid": TOTAL, "material": {"m": RUBBER},
        "body": [CIRCLE],
    }  # fmt: skip
    with pytest.raises(SceneError, match=sentence):
        MaterialPointMethod(Scene(**(tables | changes)))
