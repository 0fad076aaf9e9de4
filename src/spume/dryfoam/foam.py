"""A two-dimensional dry foam for scripts: building, equilibrium, coarsening, shear, measurements."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from spume.dryfoam.dynamics.coarsening import Coarsening, Scheme, lone_bubble, remove_cells, step, unit_step
from spume.dryfoam.dynamics.deformation import Deformation, deform, pure_extension, simple_shear
from spume.dryfoam.equilibrium.report import Events, Exchange, Options, Report, Solver
from spume.dryfoam.equilibrium.search import equilibrate
from spume.dryfoam.equilibrium.stability import Stability, stability
from spume.dryfoam.inputs import (
    Seeds,
    given_areas,
    kind_of_walls,
    mean_area,
    positive,
    size_between_walls,
    spread_areas,
    unit_seeds,
    whole_number,
)
from spume.dryfoam.network import geometry, voronoi
from spume.dryfoam.network import seeds as seeding
from spume.dryfoam.network.cutting import Walls, walled_voronoi, walls_and_lattice
from spume.dryfoam.network.half_edges import Boundary, Floats, Integers, Network, validate
from spume.dryfoam.network.polygons import Corner, network_of_polygons
from spume.dryfoam.statistics import bulk_cells, texture
from spume.errors import RunFailed, SceneError

MOST_WAITING = 100
"""Number of coarsening steps without progress, because cells cannot vanish, after which coarsening without a time limit
ends."""


class Foam:
    """A foam of films with tension T (= 2γ) [N], cells of given areas [m²] and gas that diffuses through the films at
    the rate K Δp per length of film, with K in m²/(N s).

    Two-dimensional units: tension is energy per length of film [J/m = N], pressure is tension over radius [N/m].
    """

    def __init__(self, network: Network, T: float = 1.0, K: float = 1.0, options: Options | None = None) -> None:
        self.T = positive("the film tension", T)
        self.K = positive("the diffusion constant", K)
        self.strain = 0.0
        """Strain imposed by `shear`, `extend` and `cycle` so far."""
        if np.any(network.targets <= 0):
            worst = int(np.argmin(network.targets))
            raise SceneError(
                f"cell {worst} is given the area {network.targets[worst]:.3g} m², where it must be positive"
            )
        validate(network)
        self.network = network
        self._check_box()
        self.options = options or Options()
        self.time = 0.0
        self.happened = Events()
        """Counts of events so far."""
        self.exchanges: list[Exchange] = []
        """T1s so far, with time, strain, position and cells (see `Events.exchanges` for exceptions)."""
        self.notices: list[str] = []
        """Notices for the user about the search for equilibria so far, each a time and a sentence."""
        self.equilibrated = False

    @classmethod
    def voronoi(
        cls,
        cells: int,
        boundary: Boundary = "periodic",
        seed: int = 0,
        T: float = 1.0,
        K: float = 1.0,
        *,
        cell_area: float = 1.0,
        seeds: Seeds = "random",
        polydispersity: float | None = None,
        shape: seeding.SignedDistance | None = None,
        aspect: float = 1.0,
    ) -> "Foam":
        """Create a Voronoi diagram of `cells` seeds, not yet in equilibrium: in a periodic square, as a free cluster,
        in a box with walls, or in a channel between two walls that is periodic along them.

        `cell_area`: mean area of a cell [m²]. `polydispersity`: standard deviation over mean of the target areas
        (log-normal, the largest for the largest Voronoi cell); None: the areas of the diagram. `shape`: signed distance
        of the free cluster's outline, scaled to fit the cells; None: a disc. `aspect`: width over height of a box with
        walls, or of a period of a channel.
        """
        whole_number("the number of cells of a Voronoi foam", cells, 2)
        whole_number("the random seed", seed, 0)
        mean_area("the mean cell area", cell_area)
        generator = np.random.default_rng(seed)
        if boundary == "periodic":
            side = np.sqrt(cells * cell_area)
            network = voronoi.periodic_voronoi(unit_seeds(cells, seeds, generator), side * np.eye(2))
        elif boundary == "free":
            network = voronoi.free_voronoi(*seeding.seeds_in_shape(cells, seeds, generator, shape))
            scale = np.sqrt(cells * cell_area / network.targets.sum())
            network.positions *= scale
            network.targets *= scale**2
        elif boundary in ("box", "channel"):
            height = float(np.sqrt(cells * cell_area / positive("the aspect", aspect)))
            size = np.array([aspect * height, height])
            network = walled_voronoi(unit_seeds(cells, seeds, generator) * size, boundary, *size)
        else:
            raise SceneError(
                f"the boundary of a dry foam is 'periodic', 'free', 'box' or 'channel', found '{boundary}'"
            )
        if polydispersity is not None:
            network.targets = spread_areas(network.targets, polydispersity, generator)
        return cls(network, T, K)

    @classmethod
    def hexagonal(cls, columns: int, rows: int, T: float = 1.0, K: float = 1.0, *, cell_area: float = 1.0) -> "Foam":
        """Create a periodic honeycomb of `columns` by `rows` (even) cells of `cell_area` [m²], in equilibrium."""
        whole_number("the number of columns of a honeycomb", columns, 1)
        whole_number("the number of rows of a honeycomb", rows, 2)
        width = np.sqrt(2.0 * mean_area("the cell area", cell_area) / np.sqrt(3.0))
        lattice = np.diag([columns * width, rows * width * np.sqrt(3.0) / 2.0])
        return cls(voronoi.periodic_voronoi(seeding.hexagonal_seeds(columns, rows), lattice), T, K)

    @classmethod
    def from_seeds(
        cls,
        seeds: Floats | Sequence[Sequence[float]],
        T: float = 1.0,
        K: float = 1.0,
        *,
        lattice: Floats | Sequence[Sequence[float]] | None = None,
        shape: seeding.SignedDistance | None = None,
        walls: Walls | None = None,
        size: Sequence[float] | None = None,
        areas: Sequence[float] | Floats | None = None,
    ) -> "Foam":
        """Create the Voronoi diagram of `seeds` (N, 2) [m]; the label of a cell is the number of its seed.

        It is periodic along the columns of `lattice` (2, 2) [m], or a free cluster inside `shape`, a signed distance
        (None: a disc around the seeds), or between `walls`: those of the box from the origin to `size` [m], or of the
        channel between y = 0 and y = size[1] with the period size[0]. `areas` (N,) are the targets [m²], in the order
        of the seeds; None: those of the diagram.
        """
        points = np.asarray(seeds, dtype=float)
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
            raise SceneError(f"seeds must have the shape (N, 2) with N at least 2, found {points.shape}")
        if walls is not None:
            if lattice is not None or shape is not None:
                raise SceneError("walls have a size: give that, without a lattice or a shape")
            network = walled_voronoi(points, kind_of_walls(walls), *size_between_walls(size))
        elif lattice is not None:
            if shape is not None:
                raise SceneError("a periodic foam fills its box: give a lattice or a shape, not both")
            box = np.asarray(lattice, dtype=float)
            if box.shape != (2, 2) or not np.all(np.isfinite(box)) or np.linalg.det(box) == 0.0:
                raise SceneError("the lattice of a box is an invertible matrix (2, 2) of finite numbers")
            network = voronoi.periodic_voronoi(np.linalg.solve(box, points.T).T, box)
        else:
            network = voronoi.free_voronoi(points, shape or seeding.disc_around(points))
        if areas is not None:
            network.targets = given_areas(areas, network.cells)[network.labels]
        return cls(network, T, K)

    @classmethod
    def from_network(
        cls,
        positions: Floats,
        cells: Sequence[Sequence[Corner]],
        T: float = 1.0,
        K: float = 1.0,
        *,
        lattice: Floats | Sequence[Sequence[float]] | None = None,
        walls: Walls | None = None,
        size: Sequence[float] | None = None,
        areas: Sequence[float] | Floats | None = None,
    ) -> "Foam":
        """Create a foam from vertex positions (V, 2) [m] and the vertices of each cell, counter-clockwise.

        Three films must meet at every vertex. `areas` are the targets [m²]; None: those of the polygons. The foam is
        free, or periodic along the columns of `lattice` (2, 2) [m]. In a periodic box a corner of a cell is given as a
        vertex, meaning its image nearest to the previous corner, or as (vertex, i, j), meaning its image moved by i and
        j lattice vectors.

        Between `walls` of the given `size`, as in `from_seeds`, a vertex on a wall has one film. The side of a cell
        from one such vertex to the next along the wall is part of the wall, also around corners of the box, which are
        not vertices.
        """
        box = None if lattice is None else np.asarray(lattice, dtype=float)
        lines = None
        if walls is not None:
            if lattice is not None:
                raise SceneError("walls have a size: give that, without a lattice")
            lines, box = walls_and_lattice(kind_of_walls(walls), *size_between_walls(size))
            box = box if np.any(box) else None
        network = network_of_polygons(np.asarray(positions, dtype=float), cells, box, lines)
        if areas is not None:
            network.targets = given_areas(areas, network.cells)
        return cls(network, T, K)

    def _check_box(self) -> None:
        """Raise SceneError if the target areas do not fill the periodic box, or the area between the walls."""
        if self.network.is_closed:
            box, total = self.network.box_area(), float(np.sum(self.network.targets))
            if not abs(total - box) <= 1e-6 * box:
                raise SceneError(
                    f"the target areas add up to {total:.6g} m², where the box has {box:.6g} m²: "
                    f"multiply them by {box / total:.6g}"
                )

    @property
    def cells(self) -> int:
        return self.network.cells

    @property
    def boundary(self) -> Boundary:
        return self.network.boundary

    @property
    def flips(self) -> int:
        """Number of T1s so far."""
        return self.happened.flips

    @property
    def vanished(self) -> int:
        """Number of cells that have vanished so far."""
        return self.happened.vanished

    @property
    def energy(self) -> float:
        """Tension times total film length [J/m]."""
        return geometry.energy(self.network, self.T)

    @property
    def areas(self) -> Floats:
        """Cell areas [m²], shape (F,)."""
        return geometry.cell_areas(self.network)

    @property
    def pressures(self) -> Floats:
        """Cell pressures [N/m], relative to the outside, or to their mean if there is none, shape (F,)."""
        return self.network.pressures.copy()

    @property
    def sides(self) -> Integers:
        """Number of films around each cell, excluding parts of walls, shape (F,)."""
        return self.network.sides()

    @property
    def labels(self) -> Integers:
        """Permanent number of each cell, shape (F,)."""
        return self.network.labels.copy()

    @property
    def centroids(self) -> Floats:
        """Centroid of each cell [m], shape (F, 2)."""
        return geometry.cell_centroids(self.network)

    @property
    def centroid(self) -> Floats:
        """Centroid of a free foam, or of a foam in a box with walls [m], shape (2,)."""
        if self.boundary == "periodic" or self.boundary == "channel":
            raise SceneError("a foam that repeats has no centre")
        return geometry.centroid(self.network)

    @property
    def film_lengths(self) -> Floats:
        """Arc lengths [m], shape (E,)."""
        return geometry.film_lengths(self.network)

    @property
    def angles(self) -> Floats:
        """Angles between neighbouring films at the vertices [rad], 2π/3 in equilibrium, shape (2E,). At a wall they are
        the angles between film and wall, π/2 in equilibrium, and the angle π behind the wall."""
        return geometry.angles(self.network)

    @property
    def stress(self) -> Floats:
        """Average stress tensor [N/m], tension positive, shape (2, 2)."""
        return geometry.stress(self.network, self.T)

    @property
    def texture(self) -> Floats:
        """Texture tensor [m²], shape (2, 2), of the bulk: see `statistics.texture`."""
        return texture(self.network, bulk_cells(self.network))

    def validate(self) -> None:
        """Raise SceneError if an invariant of the network is violated."""
        validate(self.network, self.areas)
        if self.network.vertices and len(wrong := geometry.reversed_vertices(self.network)):
            raise SceneError(f"the foam network is not valid: the films at vertex {wrong[0]} leave it in reverse order")

    def equilibrate(self, solver: Solver | None = None, tolerance: float | None = None) -> Report:
        """Bring the foam to equilibrium: angles of 120°, 90° at walls, and target areas.

        solver: newton (whole foam) or gauss-seidel (vertex by vertex, [DryFoam] eqs. (11), (15)). None: solver or
        tolerance of `options`, which are those of `coarsen`, `collapse` and `shear`, too.
        """
        self._check_box()
        options = self.options
        if tolerance is not None:
            options = replace(options, tolerance=positive("the tolerance", tolerance))
        if solver is not None:
            if solver not in get_args(Solver):
                raise SceneError(f"the solver of a dry foam is 'newton' or 'gauss-seidel', found '{solver}'")
            options = replace(options, solver=solver)
        report = equilibrate(self.network, self.T, options)
        events = Events()
        events.read(report)
        self.count(events)
        self.equilibrated = True
        return report

    def stability(self, count: int = 6) -> Stability:
        """Compute the `count` lowest eigenvalues [N/m] of the energy's second derivative at fixed areas, and their
        modes.

        Rigid motions are excluded. A minimum of the energy has no negative eigenvalue; `equilibrate` never ends in a
        saddle point. See `equilibrium.stability` for the unknowns.
        """
        whole_number("the number of modes", count, 1)
        if self.network.is_lone:
            raise SceneError("a lone bubble has no modes: it is a circle without vertices")
        if not self.equilibrated:
            self.equilibrate()
        return stability(self.network, self.T, count)

    def count(self, events: Events) -> list[Exchange]:
        """Add `events`, which end at the present time, to the counts and notices; return the T1s with their time and
        strain."""
        self.time += events.duration
        events.exchanges = [replace(t1, time=self.time, strain=self.strain) for t1 in events.exchanges]
        self.exchanges += events.exchanges
        self.happened.add(replace(events, exchanges=[]))
        self.notices += [f"{self.time:.6g} s: {sentence}" for sentence in events.notices()]
        return events.exchanges

    def coarsen(
        self,
        duration: float,
        *,
        until_cells: int = 1,
        scheme: Scheme = "adaptive",
        event_tolerance: float = 0.005,
        most_steps: int | None = None,
    ) -> Events:
        """Let gas diffuse for `duration` [s], or until `until_cells` cells are left; return the events.

        With `until_cells` = 0 the last bubble of a free foam shrinks, too. With the unit scheme of [DryFoam],
        `duration` is a whole number of steps of one second.
        """
        if not duration > 0.0:
            raise SceneError(f"the duration must be positive, found {duration}")
        if scheme not in ("adaptive", "unit"):
            raise SceneError(f"the scheme of coarsening is 'adaptive' or 'unit', found '{scheme}'")
        positive("the event tolerance", event_tolerance)
        whole_number("until_cells", until_cells, 0)
        if most_steps is not None:
            whole_number("the largest number of steps", most_steps, 1)
        if self.cells <= until_cells:
            rest = "; until_cells=0 lets the last bubble shrink" if self.cells == 1 else ""
            raise SceneError(f"nothing to coarsen: cells left are {self.cells}, until_cells is {until_cells}{rest}")
        if not self.equilibrated:
            self.equilibrate()
        rule = Coarsening(self.K, event_tolerance, scheme)
        total, steps, waiting = Events(), 0, 0
        if scheme == "unit" and duration != round(duration) and np.isfinite(duration):
            raise SceneError(f"the unit scheme takes whole seconds, found a duration of {duration} s")
        while total.duration < duration and self.cells > until_cells and steps != most_steps:
            if scheme == "unit":
                self.network, events = unit_step(self.network, self.T, rule, self.options)
            else:
                self.network, events = step(self.network, duration - total.duration, self.T, rule, self.options)
            steps += 1
            self.count(events)
            total.add(events)
            waiting = waiting + 1 if events.stuck and not (events.vanished or events.flips) else 0
            if waiting > MOST_WAITING and not np.isfinite(duration):
                raise RunFailed(
                    f"{events.stuck} of the last {self.cells} cells cannot vanish, as a neighbour would be left with "
                    f"a single film: coarsen to until_cells={self.cells}, or for a finite time"
                )
        return total

    def collapse(self, cell: int, gas: Literal["lost", "shared"] = "lost") -> None:
        """Remove the cell with index `cell` by T1s and a T2 and equilibrate, [DryFoam] figure 7.

        Its gas is lost to the outside of a free foam, or shared among its neighbours; a periodic foam and a foam
        between walls cannot lose gas.
        """
        if not 0 <= cell < self.cells:
            raise SceneError(f"there is no cell {cell}: the foam has cells 0 to {self.cells - 1}")
        if self.cells == 1:
            raise SceneError("the last cell of a foam cannot collapse")
        if self.cells == 2 and self.boundary == "free":
            self.network, events = lone_bubble(self.network, 1 - cell), Events(vanished=1)
        else:
            kind: Literal["lost", "shared"] = "shared" if self.network.is_closed else gas
            network, events = remove_cells(self.network.copy(), np.array([cell]), kind, self.options.checks)
            if not events.vanished:
                raise SceneError(f"cell {cell} cannot collapse: its neighbours would be left with a single film")
            self.network = network
        self.count(events)
        self.equilibrate()

    def shear(self, strain: float, steps: int = 0) -> Deformation:
        """Apply a simple shear by `strain`, in `steps` quasi-static increments (0: of at most 0.01).

        This moves the box of a periodic foam or the vertices on the edge of a free one; walls cannot shear a foam.
        Returns the stress-strain record; its strain continues from `foam.strain`.
        """
        return deform(self, simple_shear, strain, steps)

    def cycle(self, amplitude: float, cycles: int = 1, steps: int = 0) -> Deformation:
        """Apply a cyclic simple shear: from the present strain up by `amplitude`, down by twice that, and back,
        `cycles` times; each quarter in `steps` increments (0: of at most 0.01). Returns the record of all cycles."""
        positive("the amplitude of the strain", amplitude)
        whole_number("the number of cycles", cycles, 1)
        record = Deformation()
        for turn in (amplitude, -amplitude, -amplitude, amplitude) * cycles:
            part = self.shear(turn, steps)
            if record.strain:
                record.continue_with(part)
            else:
                record = part
        return record

    def extend(self, strain: float, steps: int = 0) -> Deformation:
        """Extend the foam and its walls by the logarithmic `strain` along x at constant area; otherwise as `shear`."""
        return deform(self, pure_extension, strain, steps)
