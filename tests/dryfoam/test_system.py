"""The Newton system is the derivative of the residuals, and residuals those of the energy at fixed areas."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.equilibrium.system import NewtonSystem, Residual
from spume.dryfoam.network.geometry import angles, cell_areas, energy, film_lengths

TENSION = 1.7


def residual(network):
    found = Residual(network, TENSION, Region.of(network))
    return found.force, found.bend, found.area


def lagrangian(network):
    return energy(network, TENSION) - network.pressures @ (cell_areas(network) - network.targets)


@pytest.fixture(params=["periodic", "free"])
def bent(request):
    network = Foam.voronoi(6, request.param, seed=3, seeds="poisson-disk").network
    generator = np.random.default_rng(1)
    network.half_angles += generator.uniform(-0.5, 0.5, network.films)
    network.half_angles[0] = 1.7  # beyond a half circle
    network.pressures = generator.normal(size=network.cells)
    return network


def test_residuals_are_derivatives_of_the_lagrangian(bent):
    # Central differences, step 1e-6: truncation ~1e-12 f''', rounding ~1e-10.
    force, bend, _ = residual(bent)
    for array, expected in ((bent.positions, force), (bent.half_angles, bend)):
        for k in range(array.size):
            kept = array.flat[k]
            values = []
            for step in (-1e-6, 1e-6):
                array.flat[k] = kept + step
                values.append(lagrangian(bent))
            array.flat[k] = kept
            assert (values[1] - values[0]) / 2e-6 == pytest.approx(expected.flat[k], abs=2e-8)


def test_the_newton_step_solves_the_linearised_equations(bent):
    """With the curvature of every film consistent with its pressures the matrix is the exact derivative, so the step z
    must change the residual r by -r to first order."""
    foam = Foam(bent, TENSION)
    foam.equilibrate(tolerance=1e-12)
    network = foam.network
    generator = np.random.default_rng(2)
    network.positions += 1e-4 * generator.normal(size=network.positions.shape)
    force, _, area = residual(network)
    damping, softness = np.full(network.vertices, 1e-10), np.full(network.cells, 1e-12)
    region = Region.of(network)
    found = Residual(network, TENSION, region)
    system = NewtonSystem(network, region, found, damping, softness)
    solution = np.linalg.solve(system.matrix.toarray(), system.right(found))
    moves, dpressure, explicit = system.split(solution)
    steps = system.half_angle_steps(found, moves, dpressure, explicit)
    network.positions += moves
    network.pressures += dpressure
    network.half_angles += steps
    before = max(np.max(np.abs(force)), np.max(np.abs(area)))
    # the perturbation is 1e-4 of a cell, the second order 1e-4 times a stiffness ratio
    assert max(np.max(np.abs(left)) for left in residual(network)) < 0.02 * before


def test_the_system_of_a_region_is_that_of_the_whole_with_the_rest_at_rest(bent):
    """Rows and columns of what stands still are left out, nothing else changes."""
    free = np.zeros(bent.vertices, dtype=bool)
    free[:4] = True
    part, whole = Region.of(bent, free), Region.of(bent)
    damping, softness = np.full(bent.vertices, 0.1), np.full(bent.cells, 0.2)
    small, large = Residual(bent, TENSION, part), Residual(bent, TENSION, whole)
    inner = NewtonSystem(bent, part, small, damping[:4], softness[part.cells])
    outer = NewtonSystem(bent, whole, large, damping, softness)
    extra = inner.size - 8 - len(part.cells)
    films = outer.extra[part.films[inner.extra >= 0]]
    assert len(films) == extra
    kept = np.concatenate([np.arange(8), 2 * bent.vertices + part.cells, 2 * bent.vertices + bent.cells + films])
    assert inner.matrix.toarray() == pytest.approx(outer.matrix.toarray()[np.ix_(kept, kept)], abs=1e-14)
    assert small.force == pytest.approx(large.force[:4], abs=1e-14)
    assert small.area == pytest.approx(large.area[part.cells], abs=1e-14)


def test_areas_lengths_and_angles_of_a_polygonal_oracle():
    """An obvious oracle: each arc replaced by chords of δ = 4e-5 rad, whose area errs by R² Φ δ²/12."""
    from spume.dryfoam.drawing import cell_outlines

    foam = Foam.voronoi(5, "free", seed=1, seeds="poisson-disk")
    foam.equilibrate()
    for outline, area in zip(cell_outlines(foam.network, 4e-5), foam.areas, strict=True):
        x, y = (outline - outline[0]).T
        assert 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) == pytest.approx(area, rel=1e-7)
    total = sum(np.sum(np.hypot(*(np.roll(o, -1, axis=0) - o).T)) for o in cell_outlines(foam.network, 4e-5))
    edge = np.sum(film_lengths(foam.network)[np.any(foam.network.cell.reshape(-1, 2) == -1, axis=1)])
    assert 0.5 * (total + edge) == pytest.approx(np.sum(foam.film_lengths), rel=1e-7)
    assert angles(foam.network).reshape(-1).sum() == pytest.approx(2 * np.pi * foam.network.vertices, rel=1e-12)
