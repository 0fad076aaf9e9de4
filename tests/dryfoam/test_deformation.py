"""Deformation of foams: closed forms of the honeycomb (case 39 of the validation list), cycles, the log of T1s."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.dynamics.deformation import reduce_lattice, simple_shear
from spume.dryfoam.network.geometry import cell_areas, energy, stress
from spume.dryfoam.network.half_edges import validate
from spume.dryfoam.statistics import statistical_strain, texture


def honeycomb(film, T=1.0, cell_area=1.0):
    """Two by two cells, with films perpendicular or parallel to x."""
    width = np.sqrt(2.0 * cell_area / np.sqrt(3.0))
    height = width * np.sqrt(3.0) / 2.0
    seeds = np.array([[0.0, 0.0], [width, 0.0], [0.5 * width, height], [1.5 * width, height]])
    lattice = np.diag([2.0 * width, 2.0 * height])
    if film == "parallel":
        turn = np.array([[0.0, -1.0], [1.0, 0.0]])
        seeds, lattice = seeds @ turn.T, np.diag([2.0 * height, 2.0 * width])
    return Foam.from_seeds(seeds, T, lattice=lattice)


@pytest.mark.parametrize("film", ["perpendicular", "parallel"])
def test_39_shear_modulus_of_the_honeycomb(film):
    """G = 0.46530 T/√A, in all directions; the stress is odd in the strain, so that the slope errs by γ² = 1e-6."""
    foam = honeycomb(film, T=2.0, cell_area=0.25)
    foam.options = type(foam.options)(tolerance=1e-12)
    record = foam.shear(1e-3, steps=1)
    assert record.shear_stress[1] / 1e-3 == pytest.approx(0.46530 * 2.0 / np.sqrt(0.25), rel=1e-4)


@pytest.mark.parametrize(("film", "expected"), [("perpendicular", 2.0 / np.sqrt(3.0)), ("parallel", 2.0)])
def test_39_strain_of_the_first_t1_of_the_honeycomb(film, expected):
    """The films of one direction shrink to nothing there; increments of 0.01 find it within two of them."""
    foam = honeycomb(film)
    record = foam.shear(expected - 0.03, steps=100)
    assert sum(record.flips) == 0
    record = foam.shear(0.05, steps=5)
    assert sum(record.flips) > 0
    first = record.strain[int(np.argmax(np.array(record.flips) > 0))]
    assert first == pytest.approx(expected, abs=0.02)


def test_39_stress_is_the_derivative_of_the_energy():
    """dE/dγ = A σ_xy, by central differences of the energy at strains 0.005 apart, which err by γ² E'''/6 ~ 1e-5."""
    foam = honeycomb("perpendicular")
    foam.options = type(foam.options)(tolerance=1e-12)
    record = foam.shear(0.5, steps=100)
    slope = (np.array(record.energy[2:]) - np.array(record.energy[:-2])) / 0.01
    assert slope / 4.0 == pytest.approx(np.array(record.shear_stress[1:-1]), abs=2e-5)


def test_a_cycle_goes_on_with_the_strain_and_comes_back():
    foam = Foam.voronoi(20, "periodic", seed=3, seeds="poisson-disk")
    foam.shear(0.02)
    before = foam.energy
    record = foam.cycle(0.02, cycles=2, steps=2)
    assert record.strain == pytest.approx(
        0.02 + 0.01 * np.array([0, 1, 2, 1, 0, -1, -2, -1, 0, 1, 2, 1, 0, -1, -2, -1, 0])
    )
    assert foam.strain == pytest.approx(0.02)
    # without T1s the foam is elastic: both stop at a residual of 1e-9, where the energy is stationary
    assert sum(record.flips) == 0
    assert record.energy[-1] == pytest.approx(before, rel=1e-8)
    assert record.shear_stress[8] == pytest.approx(record.shear_stress[0], abs=1e-7)


def test_t1s_are_logged_with_place_cells_and_energy_set_free():
    """Each entry names two cells that were neighbours before and are no longer, and two that now are."""
    foam = Foam.voronoi(30, "periodic", seed=1)
    foam.equilibrate()
    foam.exchanges.clear()

    def neighbours():
        labels = foam.network.labels[foam.network.cell.reshape(-1, 2)]
        return {tuple(sorted(pair)) for pair in labels.tolist()}

    logged = 0
    for _ in range(30):
        before = neighbours()
        record = foam.shear(0.01, steps=1)
        after = neighbours()
        for t1 in record.exchanges:
            assert tuple(sorted(t1.parted)) in before
            assert tuple(sorted(t1.joined)) in after
            assert t1.strain == pytest.approx(foam.strain)
            part = np.linalg.solve(foam.network.lattice, t1.place)
            assert np.all((part >= 0.0) & (part < 1.0))
        if not record.flips[1]:
            assert not record.exchanges
            assert record.released[1] == 0.0
            assert before == after
        elif logged == 0:  # the first T1 releases more than nothing, and less than the energy of a cell
            assert 0.0 < record.released[1] < foam.energy / foam.cells
        logged += len(record.exchanges)
    assert logged == len(foam.exchanges) > 0


def test_a_reduced_lattice_describes_the_same_foam():
    network = Foam.voronoi(20, "periodic", seed=2).network
    network.lattice = simple_shear(3.7) @ network.lattice
    network.positions = network.positions @ simple_shear(3.7).T
    areas, films, tensor = cell_areas(network), np.sort(np.hypot(*network.chords().T)), stress(network, 1.0)
    reduce_lattice(network)
    validate(network)
    assert np.abs(network.lattice[0, 1]) <= 0.5 * network.lattice[0, 0] + 1e-12
    assert cell_areas(network) == pytest.approx(areas, rel=1e-9)
    assert np.sort(np.hypot(*network.chords().T)) == pytest.approx(films, abs=1e-12)
    assert stress(network, 1.0) == pytest.approx(tensor, abs=1e-9)
    assert energy(network, 1.0) == pytest.approx(np.sum(films))


def test_a_foam_sheared_far_keeps_a_compact_box():
    foam = Foam.voronoi(12, "periodic", seed=1, seeds="poisson-disk")
    foam.shear(2.0, steps=100)
    foam.validate()
    assert foam.strain == pytest.approx(2.0)
    a, b = foam.network.lattice.T
    assert abs(a @ b) <= 0.5 * min(a @ a, b @ b) + 1e-9


def test_texture_of_the_honeycomb_and_of_its_affine_image():
    """Half the squared distance of centres, 2A/√3; an affine map F (no relaxation) gives F M Fᵀ."""
    network = Foam.hexagonal(4, 4).network
    rest = texture(network)
    assert rest == pytest.approx(np.eye(2) / np.sqrt(3.0), abs=1e-12)
    f = simple_shear(0.3)
    network.positions, network.lattice = network.positions @ f.T, f @ network.lattice
    assert texture(network) == pytest.approx(f @ rest @ f.T, abs=1e-12)
    # for a pure extension by λ the statistical strain is the logarithmic one
    network = Foam.hexagonal(4, 4).network
    f = np.diag([1.2, 1.0 / 1.2])
    network.positions, network.lattice = network.positions @ f.T, f @ network.lattice
    assert statistical_strain(texture(network), rest) == pytest.approx(np.diag([np.log(1.2), -np.log(1.2)]), abs=1e-12)
