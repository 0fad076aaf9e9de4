"""Mechanical equilibrium of a foam at given cell areas: Newton steps of the whole foam and of the spots that need more.

The errors of a foam out of equilibrium are of two kinds: small ones everywhere, as when all cells have grown a little,
which one step of the whole foam removes; and large ones at few places, where cells have vanished, films have met or
cells are small, which take many steps. Such spots are relaxed first, a few rings of cells each and all of them
together, with the rest at rest (see `newton.Newton` for the steps).
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from spume.dryfoam.geometry import cell_areas
from spume.dryfoam.network import Network
from spume.dryfoam.newton import Newton
from spume.dryfoam.region import Mask, Region, around
from spume.dryfoam.system import Residual
from spume.errors import RunFailed

CAUTIONS = (1.0, 4.0, 16.0)
"""Factors of damping, tried one after another; steps shorten by their square roots."""
RUNAWAY = 300.0
"""Error at which an attempt is given up."""
LARGEST_RATIO = math.log(2.5)
"""Cells farther than this from their target area, as a logarithm, approach it in stages."""
ROUGH = 0.03
"""Error above which a place is a spot to be relaxed by itself."""
OUTSTANDING = 0.1
"""Part of the largest error, below ROUGH, above which a place is such a spot."""
RINGS = (2, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7)
"""Rings of cells around a spot that move with it: the more, the longer it takes."""
FEW = 0.4
"""Part of the vertices up to which rough spots are relaxed by themselves."""
FEW_SMOOTH = 0.15
"""The same for spots that are not rough."""
LOCAL_STEPS = 4
"""Steps of the spots before they are chosen anew."""


@dataclass(frozen=True)
class Options:
    """How an equilibrium is sought."""

    tolerance: float = 1e-9
    """Largest net tension at a vertex over T, relative area error and Laplace-Young error over T allowed at the end."""
    flip_length: float = 0.1
    """A film may turn into its T1 partner when shorter than this times the square root of the smaller adjacent area."""
    iterations: int = 200
    """Newton steps before the foam is declared stuck."""


@dataclass
class Report:
    """What happened on the way to equilibrium."""

    iterations: int = 0
    """Newton steps of the whole foam."""
    local_iterations: int = 0
    """Newton steps of spots by themselves."""
    factorizations: int = 0
    flips: int = 0
    """T1 changes."""
    force_error: float = np.inf
    """Largest net tension at a vertex, over T: about the error of its angles [rad]."""
    area_error: float = np.inf
    """Largest relative error of a cell's area."""
    bend_error: float = np.inf
    """Largest imbalance of Laplace-Young, over T."""
    history: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        return max(self.force_error, self.area_error, self.bend_error)

    def read(self, residual: Residual) -> None:
        """Take over the errors of `residual`."""
        self.force_error, self.area_error = residual.force_error, residual.area_error
        self.bend_error = residual.bend_error
        self.history.append(self.error)


def equilibrate(
    network: Network, tension: float, options: Options | None = None, pinned: Mask | None = None
) -> Report:
    """Brings the network to equilibrium in place, the `pinned` vertices (V,) held where they are.

    Raises RunFailed, saying how far it came, when it cannot.
    """
    options = options or Options()
    n = network
    if n.vertices == 0:
        n.pressures[0] = tension * math.sqrt(math.pi / n.targets[0])
        return Report(force_error=0.0, area_error=0.0, bend_error=0.0)
    if pinned is None and n.boundary == "free":
        _swell(n)
    areas = cell_areas(n)
    far = float(np.max(np.abs(np.log(np.maximum(areas, 1e-3 * n.targets) / n.targets))))
    if far > LARGEST_RATIO:  # a long way goes in stages
        targets, stages = n.targets, math.ceil(far / LARGEST_RATIO)
        begin = np.maximum(areas, 1e-3 * targets)
        for k in range(1, stages):
            n.targets = begin ** (1 - k / stages) * targets ** (k / stages)
            if n.boundary == "periodic":
                n.targets *= targets.sum() / n.targets.sum()
            _with_growing_caution(n, tension, replace(options, tolerance=max(options.tolerance, ROUGH)), pinned)
        n.targets = targets
    return _with_growing_caution(n, tension, options, pinned)


def _with_growing_caution(
    network: Network, tension: float, options: Options, pinned: Mask | None
) -> Report:
    """Iterates; a start that runs away is tried again from the same state with shorter, more damped steps."""
    kept = network.copy()
    for caution in CAUTIONS[:-1]:
        try:
            return _iterate(network, tension, options, pinned, caution)
        except RunFailed:
            for name, array in kept.arrays().items():
                if name != "targets":
                    getattr(network, name)[...] = array
    return _iterate(network, tension, options, pinned, CAUTIONS[-1])


def _swell(network: Network) -> None:
    """Scales a free foam to the sum of its target areas, which is exact for similar foams."""
    scale = math.sqrt(network.targets.sum() / cell_areas(network).sum())
    centre = network.positions.mean(axis=0)
    network.positions[:] = centre + scale * (network.positions - centre)
    network.pressures /= scale


def _spots(network: Network, residual: Residual, level: float, rings: int) -> Mask | None:
    """Vertices within `rings` around the places with errors above `level` (V,); None when there are none, or too many."""
    bad_vertices = np.zeros(network.vertices, dtype=np.bool_)
    bad_vertices[residual.region.vertices] = residual.local > level
    bad_cells = residual.relative_area > level
    if not (np.any(bad_vertices) or np.any(bad_cells)):
        return None
    free = around(network, bad_vertices, bad_cells, rings)
    return free if np.mean(free) < (FEW if residual.error > ROUGH else FEW_SMOOTH) else None


class _Search:
    """One attempt to reach equilibrium."""

    def __init__(
        self, network: Network, tension: float, options: Options, pinned: Mask | None, caution: float, report: Report
    ) -> None:
        self.network, self.tension, self.options, self.pinned, self.caution = network, tension, options, pinned, caution
        self.report = report
        self.flips_of = np.zeros(network.films, dtype=np.int64)
        self.whole = self._newton(None)
        self.level = ROUGH
        """error above which spots are relaxed by themselves; infinite when they have had their turn"""
        self.rounds = 0
        self.before: float | None = None
        """error before the last step of the whole foam"""

    def _newton(self, free: Mask | None) -> Newton:
        region = Region(self.network, free, self.pinned)
        return Newton(self.network, self.tension, self.options.flip_length, region, self.caution, self.flips_of)

    def advance(self, residual: Residual) -> None:
        """A round of the spots, or a step of the whole foam."""
        if self.before is not None:  # a step that went well needs no help
            self.level = np.inf if residual.error < 0.2 * self.before else min(ROUGH, OUTSTANDING * residual.error)
            self.before, self.rounds = None, 0
        free = None
        if self.rounds < len(RINGS):
            free = _spots(self.network, residual, self.level, RINGS[self.rounds])
        if free is not None:
            self.rounds += 1
            self._relax(free)
            return
        self.before = residual.error
        self.report.flips += self.whole.step(residual)
        self.report.iterations += 1

    def _relax(self, free: Mask) -> None:
        """A few steps of the vertices `free`."""
        spots = self._newton(free)
        flips = 0
        for _ in range(LOCAL_STEPS):
            residual = spots.residual()
            if residual.error < 0.1 * self.level or not residual.error < RUNAWAY:
                break
            flips += spots.step(residual)
            self.report.local_iterations += 1
        if flips:
            self.report.flips += flips
            self.whole.topology_changed()


def _iterate(network: Network, tension: float, options: Options, pinned: Mask | None, caution: float) -> Report:
    report = Report()
    search = _Search(network, tension, options, pinned, caution, report)
    while report.iterations < options.iterations:
        residual = search.whole.residual()
        report.read(residual)
        if report.error < options.tolerance:
            report.factorizations = search.whole.solver.factorizations
            return report
        if not report.error < RUNAWAY:
            break
        search.advance(residual)
    worst = int(np.argmax(search.whole.residual().relative_area))
    raise RunFailed(
        f"the foam of {network.cells} cells found no equilibrium in {report.iterations} steps: tensions are off "
        f"balance by {report.force_error:.2g} T, cell {worst} misses its area by {report.area_error:.2g}; "
        f"larger cells there, or a larger flip length, would help"
    )
