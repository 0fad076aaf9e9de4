"""The longest step is below the limit of stability, and ragged neighbourhoods create no energy."""

import numpy as np
import pytest
from clouds import ELASTIC, SPACING, advance, box, run_stages

from spume.points.energy import EnergyBudget, kinetic_energy

SOFT = {"flow_rate": 200.0, "yield_stress": 1.5e3}
PRESS = {"center": [0.0, 0.0], "growth": [0.0, -3e5], "times": [0.0, 0.1, 0.15], "factors": [0.0, 1.0, 0.0]}


def matrices(method):
    """K and C of the forces −K u − C v, scaled by the masses [1/s², 1/s], by differences."""
    p, world = method.particles, method.world
    d = world.dimension
    size = 1e-6 * SPACING
    fields = ("x", "v", "rest_F", "rest_rate", "stress", *(f.name for f in world.model.fields))
    kept = {name: p.arrays()[name].copy() for name in fields}
    columns = {"x": [], "v": []}
    for moved in ("x", "v"):
        for n in range(len(p) * d):
            change = []
            for sign in (1.0, -1.0):
                if moved == "x":
                    p.x.flat[n] += sign * size
                    run_stages(method, "deformation material", 1.0)
                    p.rest_rate[:] = 0.0
                else:
                    p.v.flat[n] += sign * size
                    p.x[:] += p.v - kept["v"]
                    run_stages(method, "deformation", 1.0)
                    p.x[:], p.rest_F[:] = kept["x"], kept["rest_F"]
                before = p.v.copy()
                run_stages(method, "forces", 1.0)
                change.append((p.v - before).ravel())
                for name, values in kept.items():
                    p.arrays()[name][:] = values
            columns[moved].append((change[1] - change[0]) / (2.0 * size))
    root = np.repeat(np.sqrt(p.mass), d)
    both = (root[:, None] * np.array(columns[name]).T / root for name in ("x", "v"))
    return [0.5 * (matrix + matrix.T) for matrix in both]


def longest_step(method):
    return method.part(EnergyBudget).reference.longest_step(method.world)


@pytest.mark.parametrize("pattern", ["lattice", "poisson-disk"])
def test_the_longest_step_is_stable(pattern):
    """At Δt² K + 2 Δt C = 4 m, the most that symplectic Euler with lagged damping can take."""
    method = box([6, 5], body={"fill": {"pattern": pattern}})
    method.take_step(1e-6)
    K, C = matrices(method)
    dt = longest_step(method)
    assert np.linalg.eigvalsh(dt**2 * K + 2.0 * dt * C).max() < 4.0


def test_the_longest_step_is_stable_where_material_has_flowed():
    method = box([6, 5], force=[PRESS], material=SOFT)
    advance(method, 0.05)
    K, C = matrices(method)
    dt = longest_step(method)
    assert np.linalg.eigvalsh(dt**2 * K + 2.0 * dt * C).max() < 4.0


def test_the_default_step_of_a_lattice_is_below_the_bound():
    method = box([6, 6])
    method.take_step(1e-6)
    assert longest_step(method) > 0.5 * SPACING / method.world.time_step.wave_speed


def test_ragged_flow_creates_no_energy():
    """A block that is pressed apart into threads: neighbourhoods of few points, some of them nearly in a line."""
    method = box([14, 9], force=[PRESS], material=SOFT)
    for k in range(1, 9):
        advance(method, 0.0125 * k)
        report = method.diagnostics()
        assert report["created_energy"] < 0.01 * method.part(EnergyBudget).largest
    assert np.ptp(method.particles.x[:, 0]) > 0.4
    assert "warnings" not in report


def test_a_fixed_step_is_shortened_where_it_would_be_unstable():
    method = box([6, 6], time={"dt": 1.5 * SPACING / np.sqrt(1.35 * ELASTIC["youngs_modulus"] / ELASTIC["density"])})
    p = method.particles
    p.v[:] = 0.01 * np.sin(300.0 * p.x)
    start = kinetic_energy(p.mass, p.v)
    advance(method, 0.1)
    assert kinetic_energy(p.mass, p.v) < start
