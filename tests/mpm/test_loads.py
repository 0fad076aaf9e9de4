"""Forces from outside: the momentum they give, for every method with points."""

import numpy as np
import pytest

from spume import Scene, Simulation
from spume.errors import SceneError
from spume.matter.loads import build_loads
from spume.mpm.loads import apply_loads

CELL, DT = 0.05, 1e-4
GRID = {"cell": CELL, "spline": "quadratic"}
"""One spline for all methods, to compile less."""
BLOCK = {"rectangle": {"center": [0.4, 0.4], "size": [0.8, 0.8]}}
TOP = {"rectangle": {"center": [0.4, 0.8], "size": [2.0, 0.6]}}
METHODS = {
    "mpm": {"method": "mpm", "grid": GRID},
    "flip": {"method": "mpm", "grid": GRID, "transfer": {"scheme": "flip"}},
    "implicit": {"method": "mpm", "grid": GRID, "time": {"integrator": "implicit", "dt": DT}},
    "continuum-foam": {"method": "continuum-foam", "grid": GRID},
    "sand-water": {"method": "sand-water", "grid": GRID, "mixture": {"drag_coefficient": 0.0}},
    "semi-implicit": {
        "method": "sand-water", "grid": GRID, "mixture": {"drag_coefficient": 0.0},
        "time": {"integrator": "semi-implicit", "dt": DT},
    },
    "point-based": {"method": "point-based", "points": {"spacing": CELL / 2}},
}  # fmt: skip
SOLID = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3}


def momentum(method, force, steps=1, **more):
    """Momentum after `steps` steps of a free block of 0.8 m × 0.8 m and 1000 kg/m³, and the simulation."""
    tables = {
        "title": "load", "dimension": 2, "duration": 10.0, "gravity": [0.0, 0.0], "force": [force], "time": {"dt": DT},
        "material": {"block": SOLID}, "body": [{"material": "block", "shape": BLOCK}],
    }  # fmt: skip
    sim = Simulation(Scene(**(tables | METHODS[method] | more)))
    if steps:
        sim.advance(steps * DT)
    return np.array(sim.diagnostics()["momentum"]), sim


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("force", "expected"),
    [
        ({"acceleration": [2.0, -1.0]}, [1280.0, -640.0]),
        # the upper 0.3 m of 0.8 m × 1000 kg/m³ · 2 m/s²
        ({"acceleration": [2.0, 0.0], "shape": TOP}, [480.0, 0.0]),
        ({"force": [30.0, -7.0], "shape": TOP}, [30.0, -7.0]),
        # ∫ 3 (x − 0.1) dm = 3 · 640 · 0.3
        ({"growth": [3.0, 0.0], "center": [0.1, 0.4]}, [576.0, 0.0]),
    ],
    ids=["acceleration", "in a shape", "total force", "growth"],
)
def test_points_receive_the_momentum_of_the_force(method, force, expected):
    """F Δt a step, to rounding."""
    found, _ = momentum(method, force, steps=3)
    np.testing.assert_allclose(found, 3 * DT * np.array(expected), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("force", "expected"),
    [
        ({"pressure": 100.0, "shape": TOP}, [0.0, -80.0]),
        ({"traction": [0.0, -100.0], "shape": TOP}, [0.0, -80.0]),
        ({"traction": [50.0, 0.0], "normal": [0.0, 1.0], "shape": TOP}, [40.0, 0.0]),
    ],
    ids=["pressure", "traction", "shear"],
)
def test_a_load_on_the_surface_is_its_area_times_the_traction(method, force, expected):
    """0.8 m of surface. The cut between the loaded half and the rest lies in a lattice of points, whose sum over
    splines is exact; rounding and the strains of one step remain. Without a grid the pairs that would cross the cut
    beside the block are missing, no more than those within the radius of the kernel from its sides."""
    found, _ = momentum(method, force)
    error = 2 * 1.95 / 32 / 2 if method == "point-based" else 1e-6
    np.testing.assert_allclose(found / DT, expected, rtol=error, atol=1e-6 * 80.0)


@pytest.mark.parametrize("method", METHODS)
def test_pressure_all_around_gives_no_momentum_and_pushes_inwards(method):
    found, sim = momentum(method, {"pressure": 100.0})
    np.testing.assert_allclose(found / DT, [0.0, 0.0], rtol=0, atol=1e-9 * 320.0)
    species = getattr(sim.method, "species", None) or {"points": sim.particles}
    (points,) = (p for p in species.values() if len(p))
    outwards = np.einsum("pq,pq->p", points.x - [0.4, 0.4], points.v)
    assert outwards.min() < 0.0
    assert outwards.max() < 1e-3 * -outwards.min()


def test_inside_the_material_a_load_is_not_felt():
    """The surface forces of a lattice vanish away from its edge; quadratic splines there and back reach three cells."""
    _, sim = momentum("mpm", {"pressure": 100.0}, steps=0)
    apply_loads(sim.method.world, DT, build_loads(sim.scene))
    inner = np.all(np.abs(sim.particles.x - 0.4) < 0.4 - 3 * CELL, axis=1)
    assert inner.sum() > 100
    assert np.abs(sim.particles.v[inner]).max() < 1e-12 * np.abs(sim.particles.v).max()


def test_factors_are_linear_between_their_times():
    """Momentum of the sum of the factors at the start of each step."""
    force = {"acceleration": [1.0, 0.0], "times": [0.0, 4 * DT], "factors": [0.0, 1.0]}
    found, _ = momentum("mpm", force, steps=8)
    np.testing.assert_allclose(found[0], 640.0 * DT * (0.0 + 0.25 + 0.5 + 0.75 + 4.0), rtol=1e-9)


def test_a_force_acts_on_the_species_it_names():
    both = [{"material": "block", "shape": BLOCK}, {"material": "river", "shape": BLOCK}]
    _, sim = momentum(
        "sand-water", {"acceleration": [1.0, 0.0], "acts_on": "sand"}, body=both,
        material={"block": SOLID, "river": {"law": "water", "density": 1000.0, "bulk_modulus": 1e6}},
    )  # fmt: skip
    np.testing.assert_allclose(sim.method.species["sand"].v[:, 0], DT, rtol=1e-9)
    np.testing.assert_array_equal(sim.method.species["water"].v[:, 0], 0.0)


@pytest.mark.parametrize(
    ("force", "sentence"),
    [
        ({}, "force.0 has none of acceleration, force, growth, traction, pressure: give one of them"),
        ({"force": [1.0, 0.0], "pressure": 1.0}, "force.0 has more than one of"),
        ({"growth": [1.0, 0.0]}, "force.0 has 'growth' without 'center'"),
        ({"center": [1.0, 0.0], "force": [1.0, 0.0]}, "force.0 has 'center' without 'growth'"),
        ({"force": [1.0, 0.0, 0.0]}, "force.0.force is [1.0, 0.0, 0.0]: a vector of a 2D scene has 2 components"),
        ({"force": [1.0, 0.0], "normal": [1.0, 0.0]}, "force.0.normal is given with 'force'"),
        ({"traction": [0.0, 0.0]}, "force.0.traction is zero"),
        ({"pressure": 1.0, "times": [0.0, 1.0]}, "force.0 has 2 times and 1 factors: each time needs one factor"),
        ({"pressure": 1.0, "times": [1.0, 0.0], "factors": [1.0, 1.0]}, "force.0.times is [1.0, 0.0]"),
        ({"pressure": 1.0, "shape": {"mesh": {"file": "none.obj"}}}, "force.0.shape"),
        ({"pressure": 1.0, "acts_on": "sand"}, "acts_on"),
    ],
)
def test_a_mistake_is_named(force, sentence):
    with pytest.raises(SceneError) as caught:
        momentum("mpm", force)
    assert sentence in str(caught.value)
