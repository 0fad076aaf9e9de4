"""Foams between walls: closed forms, forces against finite differences, topology, coarsening."""

import numpy as np
import pytest

from spume.dryfoam import Foam
from spume.dryfoam.dynamics.coarsening import diffusion_rates, von_neumann_rates
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.equilibrium.report import Options
from spume.dryfoam.equilibrium.system import NewtonSystem, Residual
from spume.dryfoam.network import Network
from spume.dryfoam.network.geometry import angle_errors, cell_areas, energy
from spume.dryfoam.network.topology import flip_film
from spume.dryfoam.network.walls import box_walls, corners_of_cells
from spume.errors import RunFailed, SceneError

BALANCED = 1e-8
"""Ten times the tolerance of an equilibrium: what may be left of its errors in angles and lengths."""


def one_film(start, end, walls, areas):
    """Two cells in the unit box, parted by one film from `start` to `end`, points of the walls numbered `walls`; the
    first cell is left of it."""
    half = np.arange(6)  # film 0 -> 1, the wall from 1 on to 0 (first cell), the wall from 0 on to 1 (second cell)
    return Network(
        positions=np.array([start, end], dtype=float), half_angles=np.zeros(3), origin=np.array([0, 1, 1, 0, 0, 1]),
        next=np.array([2, 4, 0, 5, 1, 3]), previous=np.array([2, 4, 0, 5, 1, 3]),
        cell=np.array([0, 1, 0, -1, 1, -1]), shift=np.zeros((len(half), 2), dtype=np.int64), pressures=np.zeros(2),
        targets=np.array(areas, dtype=float), labels=np.arange(2), lattice=np.zeros((2, 2)), wall=np.array(walls),
        walls=box_walls(1.0, 1.0),
    )  # fmt: skip


def test_a_bubble_on_a_wall_is_a_half_circle():
    """Radius R: area π R²/2, film π R, Δp = T/R."""
    radius = 0.2
    area = 0.5 * np.pi * radius**2
    foam = Foam(one_film([0.6, 0.0], [0.3, 0.0], [0, 0], [area, 1.0 - area]), T=1.5)
    foam.equilibrate()
    foam.validate()
    assert foam.energy == pytest.approx(1.5 * np.pi * radius, rel=BALANCED)
    assert foam.pressures[0] - foam.pressures[1] == pytest.approx(1.5 / radius, rel=BALANCED)
    assert foam.areas == pytest.approx([area, 1.0 - area], rel=BALANCED)
    assert foam.centroids[0, 1] == pytest.approx(4.0 * radius / (3.0 * np.pi), rel=BALANCED)


def test_a_bubble_in_a_corner_is_a_quarter_circle():
    """Radius R: area π R²/4, film π R/2, Δp = T/R; the corner's area belongs to it."""
    radius = 0.3
    area = 0.25 * np.pi * radius**2
    foam = Foam(one_film([0.25, 0.0], [0.0, 0.4], [0, 3], [area, 1.0 - area]))
    foam.equilibrate()
    assert foam.energy == pytest.approx(0.5 * np.pi * radius, rel=BALANCED)
    assert foam.pressures[0] - foam.pressures[1] == pytest.approx(1.0 / radius, rel=BALANCED)
    assert list(corners_of_cells(foam.network)) == [1, 3]


def test_a_film_slides_past_a_corner():
    """A quarter circle about a corner of the unit box holds at most π/4. For an area of 0.8 the film's ends slide past
    the next corners, until it is straight across, of length 1, or a quarter circle about the opposite corner."""
    foam = Foam(one_film([0.9, 0.0], [0.0, 0.95], [0, 3], [0.8, 0.2]))
    foam.equilibrate()
    foam.validate()
    assert min(abs(foam.energy - length) for length in (1.0, np.sqrt(0.2 * np.pi))) < BALANCED
    assert sorted(foam.network.wall) in ([0, 2], [1, 3], [1, 2])


def test_a_bamboo_foam_has_flat_films_and_equal_pressures():
    foam = Foam.from_seeds([[0.4, 0.5], [1.5, 0.5], [2.6, 0.5], [3.3, 0.5]], walls="channel", size=(4.0, 1.0))
    foam.network.targets[:] = 1.0
    foam.equilibrate()
    assert foam.energy == pytest.approx(4.0, rel=BALANCED)
    assert foam.pressures == pytest.approx(np.zeros(4), abs=BALANCED)
    assert list(foam.sides) == [2, 2, 2, 2]
    before = foam.areas
    foam.coarsen(10.0)
    assert foam.areas == pytest.approx(before, rel=BALANCED)
    with pytest.raises(RunFailed, match="no gas moves"):
        foam.coarsen(np.inf)


@pytest.mark.parametrize("boundary", ["box", "channel"])
@pytest.mark.parametrize("seeds", ["random", pytest.param("poisson-disk", marks=pytest.mark.slow_suite)])
def test_seeds_close_to_a_wall_give_a_network(boundary, seeds):
    """The bisector of a seed and its mirror image is the wall, however near the seed is to it."""
    for seed in range(10):
        foam = Foam.voronoi(cells=100, boundary=boundary, seeds=seeds, seed=seed)
        assert foam.areas.sum() == pytest.approx(100.0, rel=1e-6)


@pytest.mark.parametrize("boundary", ["box", "channel"])
def test_a_random_foam_meets_its_walls_at_90_degrees(boundary):
    foam = Foam.voronoi(40, boundary, seed=3, aspect=2.0)
    assert foam.areas.sum() == pytest.approx(40.0, rel=1e-12)
    foam.equilibrate()
    foam.validate()
    assert np.abs(angle_errors(foam.network)).max() < BALANCED
    assert foam.areas == pytest.approx(foam.network.targets, rel=BALANCED)
    assert foam.stability(1).stable
    width, height = np.sqrt(80.0), np.sqrt(20.0)
    y = foam.network.positions[:, 1]
    assert [y.min(), y.max()] == pytest.approx([0.0, height], rel=1e-12)
    assert foam.network.box_area() == pytest.approx(width * height, rel=1e-12)


@pytest.mark.parametrize("boundary", ["box", "channel"])
def test_diffusion_gives_von_neumanns_law_with_walls(boundary):
    """K Δp ℓ summed over films is (π/3) K T (n + 2m + 3c/2 - 6), up to the error of equilibrium: cells on a wall grow
    from five films on, those in a corner from three."""
    foam = Foam.voronoi(30, boundary, seed=4, T=1.5, K=0.7)
    foam.equilibrate()
    rates = diffusion_rates(foam.network, 0.7, 1.5)
    assert rates == pytest.approx(von_neumann_rates(foam.network, 0.7, 1.5), abs=1e-6)
    assert rates.sum() == pytest.approx(0.0, abs=1e-9)


def test_forces_and_stiffness_along_walls_are_derivatives_of_the_energy():
    """Central differences of Σ T ℓ - Σ p A, and of its gradient, at a foam off balance; their error is of second order
    in the step of 1e-5, about 1e-9 of numbers of order one."""
    foam = Foam.voronoi(6, "box", seed=2, T=1.2)
    n = foam.network
    n.half_angles[~n.is_wall] = np.random.default_rng(0).uniform(-0.3, 0.3, int(np.sum(~n.is_wall)))
    n.pressures[:] = np.random.default_rng(1).uniform(-0.5, 0.5, n.cells)
    # the matrix takes the pressure of each film's curvature: give the films that of their pressures
    cell, drop = n.cell.reshape(-1, 2), np.zeros(n.films)
    inner = ~n.is_wall
    drop[inner] = n.pressures[cell[inner, 0]] - n.pressures[cell[inner, 1]]
    n.half_angles[inner] = np.arcsin(drop[inner] * np.hypot(*n.chords()[inner].T) / (2.0 * 1.2))
    region = Region.of(n)
    moves = np.random.default_rng(2).standard_normal((n.vertices, 2))
    region.slide(moves)
    step = 1e-5

    def lagrangian(shift):
        moved = n.copy()
        moved.positions += shift * moves
        return energy(moved, 1.2) - float(n.pressures @ cell_areas(moved))

    residual = Residual(n, 1.2, region)
    assert np.any(residual.force[n.wall >= 0]), "the vertices on walls are off balance"
    slope = (lagrangian(step) - lagrangian(-step)) / (2.0 * step)
    assert slope == pytest.approx(float(np.sum(residual.force * moves)), rel=1e-7)

    system = NewtonSystem(n, region, residual, np.zeros(n.vertices), np.zeros(n.cells))
    vector = np.zeros(system.size)
    vector[: 2 * n.vertices] = moves.ravel()
    product = system.matrix @ vector

    def gradient(shift):
        """Forces and areas with the films bent to their pressures, as the condensed matrix has them."""
        moved = n.copy()
        moved.positions += shift * moves
        chord = np.hypot(*moved.chords()[inner].T)
        moved.half_angles[inner] = np.arcsin(drop[inner] * chord / (2.0 * 1.2))
        found = Residual(moved, 1.2, Region.of(moved))
        return found.force.ravel(), found.area

    (force_up, area_up), (force_down, area_down) = gradient(step), gradient(-step)
    assert product[: 2 * n.vertices] == pytest.approx((force_up - force_down) / (2.0 * step), abs=1e-6)
    assert -product[2 * n.vertices :] == pytest.approx((area_up - area_down) / (2.0 * step), abs=1e-6)


def test_the_stress_between_walls_is_the_derivative_of_the_energy():
    """dE = A (σ_xx - σ_yy) dε under extension by ε, between T1s; Simpson's rule errs below 1e-4 here."""
    foam = Foam.voronoi(12, "box", seed=5, seeds="poisson-disk")
    record = foam.extend(0.01, steps=2)
    assert sum(record.flips) == 0
    difference = np.array(record.normal_stress_difference)
    work = 12.0 * 0.01 * float(difference @ [1.0, 4.0, 1.0]) / 6.0
    assert record.energy[2] - record.energy[0] == pytest.approx(work, rel=1e-4)
    with pytest.raises(SceneError, match="cannot shear"):
        foam.shear(0.1)


def test_a_t1_at_a_wall_undoes_itself():
    """A part of the wall becomes a film that stands on it, so that a cell leaves the wall, and back."""
    foam = Foam.voronoi(20, "box", seed=1)
    n = foam.network
    on_one_wall = n.is_wall & (n.wall[n.origin[0::2]] == n.wall[n.origin[1::2]])
    chord = np.hypot(*n.chords().T)
    film = int(np.argmin(np.where(on_one_wall, chord, np.inf)))
    vertices, sides, cells = n.vertices, n.sides(), n.cell[[2 * film, 2 * film + 1]]
    assert flip_film(n, film)
    foam.validate()
    assert n.vertices == vertices
    left = n.sides()
    assert left.sum() == sides.sum() + 2, "a film more, with a cell on each side"
    assert not n.is_wall[film]
    assert flip_film(n, film)
    foam.validate()
    assert sorted(n.cell[[2 * film, 2 * film + 1]]) == sorted(cells)
    assert n.is_wall[film]


@pytest.mark.parametrize(("boundary", "seed"), [("box", 1), ("channel", 2)])
def test_a_foam_between_walls_coarsens_to_a_few_cells(boundary, seed):
    """Every network on the way is valid and in equilibrium, and no gas is lost; it ends with two cells, or at rest,
    when von Neumann's law gives no cell a rate."""
    foam = Foam.voronoi(20, boundary, seed=seed)
    foam.options = Options(checks="events")
    while foam.cells > 2 and foam.time < 1e6:
        foam.coarsen(1e6, until_cells=2, event_tolerance=0.03, most_steps=4)
        foam.validate()
        assert np.abs(angle_errors(foam.network)).max() < BALANCED
        assert foam.areas.sum() == pytest.approx(20.0, rel=1e-9)
    assert foam.happened.fallbacks == 0
    assert foam.cells == 2 or not np.any(von_neumann_rates(foam.network, 1.0, 1.0))


def test_the_last_cell_fills_the_box():
    area = 0.02
    foam = Foam(one_film([0.6, 0.0], [0.4, 0.0], [0, 0], [area, 1.0 - area]))
    foam.coarsen(1.0, event_tolerance=1e-4)
    assert foam.cells == 1
    assert foam.energy == 0.0
    assert foam.areas == pytest.approx([1.0])
    foam.validate()


def test_a_half_bubble_lives_its_area_over_pi_k_t():
    """One film on a wall: dA/dt = -π K T; the end is located within the tolerance, 1e-4 ⟨A⟩, of its life."""
    area, K, T = 0.1, 0.5, 2.0
    foam = Foam(one_film([0.7, 0.0], [0.3, 0.0], [0, 0], [area, 1.0 - area]), T, K)
    foam.equilibrate()
    foam.coarsen(np.inf, event_tolerance=1e-4)
    assert foam.time == pytest.approx(area / (np.pi * K * T), abs=2e-4 * 0.5 / (K * T))


def test_polygons_between_walls():
    """Three cells in the unit box that meet in its middle; the corners of the box are no vertices."""
    positions = [[0.5, 0.5], [0.5, 0.0], [1.0, 0.8], [0.0, 0.8]]
    foam = Foam.from_network(positions, [[0, 1, 2], [0, 2, 3], [0, 3, 1]], walls="box", size=(1.0, 1.0))
    assert foam.areas == pytest.approx([0.325, 0.35, 0.325])
    foam.equilibrate()
    foam.validate()
    with pytest.raises(SceneError, match="is on no wall"):
        Foam.from_network(
            [[0.5, 0.5], [0.5, 0.1], [1.0, 0.8], [0.0, 0.8]], [[0, 1, 2], [0, 2, 3], [0, 3, 1]], walls="box",
            size=(1.0, 1.0),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Foam.from_seeds([[0.5, 0.5], [1.5, 0.5]], walls="box", size=(1.0, 1.0)), "not between the walls"),
        (lambda: Foam.from_seeds([[0.2, 0.5], [0.5, 0.5]], walls="box"), "need a size"),
        (lambda: Foam.from_seeds([[0.2, 0.5], [0.5, 0.5]], walls="sack", size=(1.0, 1.0)), "'box' or of a 'channel'"),
        (lambda: Foam.voronoi(10, "box", aspect=0.0), "aspect"),
        (lambda: Foam.voronoi(10, "channel").centroid, "no centre"),
    ],
)
def test_what_walls_cannot_do_is_said(make, message):
    with pytest.raises(SceneError, match=message):
        make()
