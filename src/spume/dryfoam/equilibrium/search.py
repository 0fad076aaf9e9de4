"""Mechanical equilibrium of a foam at given cell areas: Newton steps of the whole foam and of spots that need more.

A foam out of equilibrium has errors of two kinds: small errors everywhere, for example because all cells have grown a
little, which one step of the whole foam removes; and large errors in a few spots, where cells have vanished, films have
met or cells are small, which take many steps. Spots are relaxed first, all together and with a few rings of cells each,
while the rest is fixed (see `newton.Newton` for the steps).

Target areas far from the present ones are approached in stages, with equilibria at areas in between; a stage that fails
is halved.
"""

import contextlib
import math
from dataclasses import replace

import numpy as np

from spume.dryfoam.equilibrium.errors import FEW, ROUGH, PlaceErrors
from spume.dryfoam.equilibrium.gauss_seidel import equilibrate_by_blocks
from spume.dryfoam.equilibrium.newton import NEAR, Kind, Newton
from spume.dryfoam.equilibrium.region import Region, around
from spume.dryfoam.equilibrium.report import Options, Report, exchanges
from spume.dryfoam.equilibrium.rescue import put_back
from spume.dryfoam.equilibrium.short_films import MOST_FLIPS
from spume.dryfoam.equilibrium.stability import stability
from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.geometry import cell_areas, centroid, reversed_vertices
from spume.dryfoam.network.half_edges import Floats, Mask, Network, validate
from spume.dryfoam.network.topology import count_sides, flip_film
from spume.errors import RunFailed, SceneError

CAUTION_STEP = 4.0
CAUTIONS = (1.0, CAUTION_STEP, CAUTION_STEP**2)
"""Damping factors, tried in turn; step lengths are divided by their square roots."""
RUNAWAY = 300.0
"""Error at which a spot is restored to its initial state, or an attempt is abandoned."""
RUNNING = 10.0
"""Error above which the vertices of a diverging foam, or of spots after their last round, are restored."""
RESCUE_RINGS = 5
"""Rings of cells around these vertices that are restored, too."""
LARGEST_RATIO = math.log(12.0)
"""Logarithmic distance of a cell from its target area above which it is approached in stages."""
ROUGHER = 0.15
"""Error above which spots are relaxed separately if there are too many above ROUGH."""
OUTSTANDING = 0.1
"""After a bad step of the whole foam, spots are where errors exceed this fraction of the largest, or ROUGH."""
RINGS = (1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8, 9, 9, 9, 9)
"""Rings of cells around a spot that move with it, by round."""
FALLBACK_RINGS = 3
"""Rings of cells around a spot that the blocked Gauss-Seidel iteration includes."""
FALLBACK_SWEEPS = 500
"""Largest number of sweeps of the blocked Gauss-Seidel iteration in this case."""
LOCAL_STEPS = 2
"""Steps of the spots before they are chosen again."""
SHORTEST_STAGE = 1.0 / 512.0
"""Fraction of the logarithmic distance to the targets below which a stage is not halved further."""
DESCENT_STEPS = 100
"""Steps of descent from a saddle point before the search continues normally."""
MOST_DESCENTS = 40
"""Largest number of descents in a search."""
KICK = 0.3
"""First displacement from a saddle point: largest move of a vertex relative to its shortest film."""


def equilibrate(network: Network, tension: float, options: Options | None = None, pinned: Mask | None = None) -> Report:
    """Bring the network to equilibrium in place, holding the `pinned` vertices (V,).

    Raises RunFailed, with the remaining errors, if this fails.
    """
    options = options or Options()
    n = network
    if n.is_lone:
        n.pressures[0] = 0.0 if n.is_closed else tension * math.sqrt(math.pi / n.targets[0])
        return Report(force_error=0.0, area_error=0.0, bend_error=0.0)
    held = None if pinned is not None or n.is_closed else centroid(n)
    begin = n.copy()
    report = _balance(n, tension, options, pinned, held is not None)
    flipped = np.zeros(n.films, dtype=np.bool_)
    while count := _flip_short_films(n, options, flipped):
        following = _balance(n, tension, options, pinned, held is not None)
        following.flips += count
        following.add(report)
        report = following
    if held is not None:  # no external force
        n.positions += held - centroid(n)
    report.exchanges = exchanges(begin.cell, begin.labels, n)
    return report


def _balance(network: Network, tension: float, options: Options, pinned: Mask | None, is_free: bool) -> Report:
    """Bring the network to equilibrium in place; if it is free, it is first scaled to its target areas."""
    n = network
    if options.solver == "gauss-seidel":
        return equilibrate_by_blocks(n, tension, options, pinned)
    begin = n.copy()
    try:
        if is_free:
            _swell(n)
        stages = _approach(n, tension, options, pinned)
        report = _with_growing_caution(n, tension, options, pinned)
        report.add(stages)
    except RunFailed:
        _restore(n, begin)
        report = _with_help(n, tension, options, pinned)
        report.restarts += len(CAUTIONS)
    return report


def _flip_short_films(network: Network, options: Options, flipped: Mask) -> int:
    """Do the T1s of [DryFoam] eq. (2): those of all films with chords below T_dist, in the order of their lengths,
    except those `flipped` (E,) before and those that would leave a cell with two sides; return their number. A new film
    is perpendicular to the old one, with the same length."""
    if options.t_dist is None:
        return 0
    n, count = network, 0
    limit = options.t_dist * math.sqrt(float(n.targets.mean()))
    chords = np.hypot(*n.chords().T)
    short = np.flatnonzero(~flipped & ~n.is_wall & (chords < limit))
    for film in short[np.argsort(chords[short], kind="stable")].tolist():
        roomy = all(n.cell[h] < 0 or count_sides(n.mesh, h) > 3 for h in (2 * film, 2 * film + 1))
        if roomy and flip_film(n, film):
            flipped[film] = True
            count += 1
    return count


def _approach(network: Network, tension: float, options: Options, pinned: Mask | None) -> Report:
    """Bring cells that are far from their target areas close to them, in stages of equal ratios."""
    n, total = network, Report()
    areas = cell_areas(n)
    far = float(np.max(np.abs(np.log(np.maximum(areas, 1e-3 * n.targets) / n.targets))))
    targets, stages = n.targets, math.ceil(far / LARGEST_RATIO)
    begin = np.maximum(areas, 1e-3 * targets)
    rough = replace(options, tolerance=max(options.tolerance, ROUGH))
    try:
        for k in range(1, stages):
            n.targets = _between(n, begin, targets, k / stages)
            total.add(_with_growing_caution(n, tension, rough, pinned))
            total.stages += 1
    finally:
        n.targets = targets
    return total


def _between(network: Network, begin: Floats, end: Floats, part: float) -> Floats:
    """Areas (F,) at the logarithmic fraction `part` between `begin` and `end`; scaled to fill a box."""
    areas = np.asarray(begin ** (1.0 - part) * end**part)
    return areas * (end.sum() / areas.sum()) if network.is_closed else areas


def _in_stages(network: Network, tension: float, options: Options, pinned: Mask | None) -> Report:
    """Find equilibrium in stages: first at the present areas, then at areas closer and closer to the targets. A stage
    that fails is halved. Raises RunFailed if even a short one fails."""
    n, total = network, Report()
    targets, begin = n.targets, np.maximum(cell_areas(n), 1e-3 * n.targets)
    rough = replace(options, tolerance=max(options.tolerance, 0.1 * ROUGH))
    part, step = -1.0, 1.0  # fraction done: 0 is equilibrium at the present areas
    try:
        while part < 1.0:
            following = min(1.0, part + step)
            kept = n.copy()
            n.targets = _between(n, begin, targets, max(following, 0.0))
            try:
                total.add(_with_growing_caution(n, tension, rough, pinned))
                total.stages += 1
                part, step = following, 2.0 * step if part >= 0.0 else 0.25
            except RunFailed:
                _restore(n, kept)
                step *= 0.5
                if step < SHORTEST_STAGE or part < 0.0:
                    raise
    finally:
        n.targets = targets
    report = _with_growing_caution(n, tension, options, pinned)
    report.add(total)
    return report


def _with_growing_caution(network: Network, tension: float, options: Options, pinned: Mask | None) -> Report:
    """Iterate; an attempt that diverges is repeated from the same state with shorter, more damped steps."""
    kept, restarts = network.copy(), 0
    for caution in CAUTIONS:
        try:
            report = _iterate(network, tension, options, pinned, caution)
            report.restarts += restarts
            return report
        except RunFailed as error:
            _restore(network, kept)
            restarts, failure = restarts + 1, error
    raise failure


def _with_help(network: Network, tension: float, options: Options, pinned: Mask | None) -> Report:
    """Find the equilibrium of a foam for which Newton steps have failed: in stages, and if that fails, too, after
    sweeps of the blocked Gauss-Seidel iteration over the bad spots."""
    kept = network.copy()
    try:
        return _in_stages(network, tension, options, pinned)
    except RunFailed:
        _restore(network, kept)
        failed = Report(fallbacks=1)
    residual = Residual(network, tension, Region.of(network, None, pinned))
    spots = PlaceErrors(network, residual).spots(ROUGH, FALLBACK_RINGS)
    rough = replace(options, tolerance=max(options.tolerance, ROUGH))
    with contextlib.suppress(RunFailed):  # even a failure brings the foam nearer to equilibrium
        failed.add(equilibrate_by_blocks(network, tension, rough, pinned, spots, FALLBACK_SWEEPS))
    report = _iterate(network, tension, options, pinned, CAUTIONS[1])
    report.add(failed)
    return report


def _restore(network: Network, kept: Network) -> None:
    """Restore the state `kept` of the network, except for the targets."""
    for name, array in kept.arrays().items():
        if name != "targets":
            getattr(network, name)[...] = array


def _swell(network: Network) -> None:
    """Scale a free foam to the sum of its target areas, which is exact for similar foams."""
    scale = math.sqrt(network.targets.sum() / cell_areas(network).sum())
    centre = network.positions.mean(axis=0)
    network.positions[:] = centre + scale * (network.positions - centre)
    network.pressures /= scale


class _Search:
    """One attempt to reach equilibrium."""

    def __init__(
        self, network: Network, tension: float, options: Options, pinned: Mask | None, caution: float, report: Report
    ) -> None:
        self.network, self.tension, self.options, self.pinned = network, tension, options, pinned
        self.report = report
        self.kept = network.copy()
        self.caution = np.full(network.vertices, caution)
        self.flips_of = np.zeros(network.films, dtype=np.int64)
        self.whole = self._newton(None)
        self.level = ROUGH
        """error above which spots are relaxed separately; infinite after they have been relaxed, until a step of the
        whole foam goes badly"""
        self.before: float | None = None
        """error before the last step of the whole foam"""
        self.descents = 0

    def _newton(self, free: Mask | None) -> Newton:
        region = Region.of(self.network, free, self.pinned)
        return Newton(self.network, self.tension, self.options.flip_length, region, self.caution, self.flips_of)

    def relax_spots(self, residual: Residual) -> bool:
        """Relax the spots that need it before the next step of the whole foam; return False if there were none."""
        if self.before is not None:  # not needed after a step that went well
            self.level = np.inf if residual.error < 0.2 * self.before else min(ROUGH, OUTSTANDING * residual.error)
            self.before = None
        errors, rounds, flips = PlaceErrors(self.network, residual), 0, 0
        while rounds < len(RINGS) and errors.largest < RUNAWAY:
            free = errors.spots(self.level, RINGS[rounds])
            if free is None and self.level == ROUGH:
                free = errors.spots(ROUGHER, RINGS[rounds])
            if free is None:
                break
            flips += self._relax(free)
            errors.follow(self.tension, free, self.pinned)
            rounds += 1
        if flips:
            self.whole.topology_changed()
        self.level = np.inf
        if rounds == len(RINGS) and errors.largest > RUNNING:
            self.rescue(errors.places(RUNNING))
        return rounds > 0

    def rescue(self, lost: Mask) -> bool:
        """Restore the vertices `lost` (V,) and their surroundings to the initial state, to try again with shorter, more
        damped steps there; False if there are none, if damping is already largest, or if too many are lost."""
        n = self.network
        if not np.any(lost) or np.any(self.caution[lost] >= CAUTIONS[-1]):
            return False
        spot = around(n, lost, np.zeros(n.cells, dtype=np.bool_), RESCUE_RINGS)
        if np.mean(spot) > FEW:
            return False
        before = n.copy()
        spot = put_back(n, self.kept, spot)
        try:
            validate(n)
        except SceneError:
            _restore(n, before)
            return False
        self.caution[spot] *= CAUTION_STEP
        films = np.all(spot[n.origin].reshape(-1, 2), axis=1)
        self.report.flips -= int(np.sum(np.minimum(self.flips_of[films], MOST_FLIPS)))  # undone
        self.flips_of[films] = 0
        self.whole.topology_changed()
        self.level, self.before = ROUGH, None
        self.report.restarts += 1
        return True

    def _relax(self, free: Mask) -> int:
        """Take a few steps of the vertices `free`; return the number of T1s."""
        spots = self._newton(free)
        flips = 0
        for _ in range(LOCAL_STEPS):
            residual = spots.residual()
            if residual.error < 0.1 * self.level or not residual.error < RUNAWAY:
                break
            flips += self._step(spots, residual)
            self.report.local_iterations += 1
        return flips

    def step(self, residual: Residual) -> None:
        """Take a step of the whole foam."""
        self.before = residual.error
        self._step(self.whole, residual)
        self.report.iterations += 1
        if self.whole.descending_modes:
            self.descend()

    def descend(self) -> None:
        """Take steps of the whole foam that lower the energy in every mode, until near a minimum."""
        self.descents += 1
        if self.descents > MOST_DESCENTS:
            cells = self.network.cells
            raise RunFailed(f"the foam of {cells} cells moved from one saddle point of its energy to the next")
        for _ in range(DESCENT_STEPS):
            residual = self.whole.residual()
            if not residual.error < RUNAWAY:
                break
            self._step(self.whole, residual, "descent")
            self.report.iterations += 1
            if residual.error < NEAR and self.whole.descending_modes == 0:
                break
        self.level, self.before = ROUGH, None

    def at_minimum(self, residual: Residual) -> bool:
        """Whether the energy has no descending mode at the present equilibrium, whose residual is given. If it has one,
        move the foam along the lowest mode and descend."""
        if self.whole.descending_modes is None or self.whole.descending_modes > 0:
            self.whole.count_descending_modes(residual)
        if not self.whole.descending_modes:
            return True
        n = self.network
        self.report.saddles += 1
        mode = stability(n, self.tension, 1, self.pinned).modes[0]
        shortest = np.full(n.vertices, np.inf)
        np.minimum.at(shortest, n.origin, np.repeat(residual.chord, 2))
        n.positions += mode * (KICK / np.max(np.hypot(mode[:, 0], mode[:, 1]) / shortest))
        self.whole.system = None
        self.descend()
        return False

    def _step(self, newton: Newton, residual: Residual, kind: Kind = "newton") -> int:
        flips = newton.step(residual, kind)
        self.report.flips += flips
        if flips and self.options.checks == "events":
            validate(self.network)
        return flips


def _iterate(network: Network, tension: float, options: Options, pinned: Mask | None, caution: float) -> Report:
    report = Report()
    search = _Search(network, tension, options, pinned, caution, report)
    while report.iterations < options.iterations:
        residual = search.whole.residual()
        report.read(residual)
        if report.error < options.tolerance:
            folded = np.zeros(network.vertices, dtype=np.bool_)
            folded[reversed_vertices(network)] = True
            if not np.any(folded):
                if not search.at_minimum(residual):
                    continue
                report.factorizations = search.whole.solver.factorizations
                report.cycles = int(np.sum(search.flips_of > MOST_FLIPS))
                return report
            if search.rescue(folded):
                continue
            raise RunFailed(
                f"the foam of {network.cells} cells reached an equilibrium that overlaps itself at vertex "
                f"{np.argmax(folded)}"
            )
        if not report.error < RUNAWAY:
            if search.rescue(PlaceErrors(network, residual).places(RUNNING)):
                continue
            break
        if not search.relax_spots(residual):
            search.step(residual)
    worst = int(np.argmax(search.whole.residual().relative_area))
    cycles = int(np.sum(search.flips_of > MOST_FLIPS))
    held = f", {cycles} films went through cycles of T1s" if cycles else ""
    raise RunFailed(
        f"the foam of {network.cells} cells reached no equilibrium in {report.iterations} steps: the net tension at a "
        f"vertex is {report.force_error:.2g} T, cell {worst} misses its area by {report.area_error:.2g}{held}; "
        f"larger cells there, or a larger flip length, would help"
    )
