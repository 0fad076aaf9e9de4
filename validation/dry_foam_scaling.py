"""The scaling state of a coarsening dry foam: side distribution and growth law."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Check, Outcome, Surroundings, relative
from reports.drawing import COLOURS, THEIRS, panels, save

from spume.dryfoam import Foam
from spume.dryfoam.network.topology import flip_film


@dataclass(frozen=True)
class Size:
    """Size of the foams."""

    cells: int
    """cells at the start"""
    first: int
    last: int
    """numbers of cells between which states are averaged: the foam no longer depends on its start and is still large"""
    starts: tuple[tuple[int, str], ...]
    """seed and arrangement of the Voronoi seeds"""


MODERATE = Size(
    2_000,
    650,
    150,
    ((1, "random"), (2, "poisson-disk"), (3, "random"), (4, "poisson-disk"), (5, "random"), (6, "random")),
)
LARGE = Size(20_000, 4_000, 800, ((1, "random"), (2, "poisson-disk"), (3, "random")))
EARLY = 0.05
"""Length of a film, over √⟨A⟩, at which a T1 is forced in the foams that mimic Plateau borders"""
EARLY_STARTS = 3
"""number of starts that are also coarsened with forced T1s"""
PUBLISHED, PUBLISHED_ERROR = 1.4, 0.1
"""μ2 of the scaling state of soap between plates [Stavans89]"""


@dataclass
class ScalingState:
    """One state of a coarsening foam."""

    cells: int
    time: float
    mean_area: float
    growth: float
    """d⟨A⟩/dt by the moments of the state, see `explanation`"""
    mu2: float
    sides: NDArray[np.int64]


def state_of(foam: Foam) -> ScalingState:
    """Present state of a foam."""
    sides, areas = foam.sides, foam.areas
    weighted = float(areas @ sides / areas.sum())
    rate = math.pi / 3.0 * foam.K * foam.T
    growth = 2.0 * rate * (weighted - 6.0) * float(areas.mean() ** 2 / np.mean(areas**2))
    return ScalingState(foam.cells, foam.time, float(areas.mean()), growth, float(sides.var()), sides)


def force_early_t1s(foam: Foam, length: float) -> None:
    """Do T1s of all films shorter than `length` √⟨A⟩, in the order of their lengths, except those that would leave a
    cell with two sides; then equilibrate."""
    network, lengths = foam.network, foam.film_lengths
    limit = length * math.sqrt(float(foam.areas.mean()))
    forced = False
    for film in np.argsort(lengths):
        if lengths[film] >= limit:
            break
        sides = network.sides()[network.cell[[2 * film, 2 * film + 1]]]
        forced = (bool(np.all(sides > 3)) and flip_film(network, int(film))) or forced
    if forced:
        foam.equilibrate()


def coarsen(seed: int, seeds: str, around: Surroundings, size: Size, early: float = 0.0) -> list[ScalingState]:
    """States of one foam, each with a tenth fewer cells; with `early`, T1s of films shorter than this times √⟨A⟩ are
    forced whenever a hundredth of the cells have vanished."""
    foam = Foam.voronoi(size.cells, "periodic", seed=seed, seeds=seeds)  # type: ignore[arg-type]
    foam.equilibrate()
    states = [state_of(foam)]
    while foam.cells > size.last:
        until = max(size.last, int(0.9 * foam.cells))
        while foam.cells > until:
            part = max(until, int(0.99 * foam.cells)) if early else until
            foam.coarsen(math.inf, until_cells=part, event_tolerance=0.01)
            if early:
                force_early_t1s(foam, early)
        states.append(state_of(foam))
        around.say(f"{seeds} {seed}: {foam.cells} cells, μ2 = {states[-1].mu2:.3f}")
    return states


def histogram(sides: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers of sides that occur, and the fractions of cells that have them."""
    n, counts = np.unique(sides, return_counts=True)
    return n, counts / len(sides)


def run(around: Surroundings, size: Size = MODERATE, picture: str = "dry-foam-scaling") -> Outcome:
    """Coarsen foams from several starts to the scaling state."""
    outcome = Outcome()
    figure, (left, right) = panels(2)
    found, slopes, predicted, together = [], [], [], []
    for k, (seed, seeds) in enumerate(size.starts):
        colour = COLOURS[k % len(COLOURS)]
        states = coarsen(seed, seeds, around, size)
        scaling = [s for s in states if s.cells <= size.first]
        found.append(float(np.mean([s.mu2 for s in scaling])))
        times = np.array([s.time for s in scaling])
        slopes.append(float(np.polyfit(times, [s.mean_area for s in scaling], 1)[0]))
        predicted.append(float(np.trapezoid([s.growth for s in scaling], times) / (times[-1] - times[0])))
        left.semilogx([s.cells for s in states], [s.mu2 for s in states], ".-", color=colour, label=f"{seeds} {seed}")
        together.append(np.concatenate([s.sides for s in scaling]))
        right.plot(*histogram(together[-1]), ".-", color=colour, label=f"{seeds} {seed}")
    mu2, error = float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(len(found)))
    n, part = histogram(np.concatenate(together))
    parts = ", ".join(f"{k}: {p:.4f}" for k, p in zip(n, part))
    outcome.notes.append(f"Fraction of cells with n sides, over all starts: {parts}; μ2 = {mu2:.3f} ± {error:.3f}.")
    earlier = [_early(seed, seeds, around, size) for seed, seeds in size.starts[:EARLY_STARTS]]
    n, part = histogram(np.concatenate([sides for _, sides in earlier]))
    right.plot(n, part, "k--", label=f"T1s below {EARLY} √⟨A⟩")
    parts = ", ".join(f"{k}: {p:.4f}" for k, p in zip(n, part))
    outcome.notes.append(
        f"With forced T1s of all films shorter than {EARLY} √⟨A⟩, as caused by Plateau borders, {EARLY_STARTS} of the "
        f"starts give μ2 = {np.mean([m for m, _ in earlier]):.3f}, and {parts}."
    )
    off, bound = mu2 - PUBLISHED, 2.0 * math.hypot(PUBLISHED_ERROR, error)
    ours, theirs = f"{mu2:.3f} ± {error:.3f}", f"{PUBLISHED} ± {PUBLISHED_ERROR}"
    outcome.checks.append(
        Check("μ2 of the scaling state", ours, theirs, f"{off:+.3f}", f"±{bound:.2g}", abs(off) <= bound)
    )
    # the scaling state does not depend on the start
    ordered = [m for m, (_, seeds) in zip(found, size.starts) if seeds == "poisson-disk"]
    random = [m for m, (_, seeds) in zip(found, size.starts) if seeds == "random"]
    apart, spread = float(np.mean(ordered) - np.mean(random)), float(np.std(found, ddof=1))
    allowed = 3.0 * spread * math.sqrt(1.0 / len(ordered) + 1.0 / len(random))
    outcome.checks.append(
        Check(
            "μ2 from poisson-disk seeds and from random seeds", f"{np.mean(ordered):.3f}", f"{np.mean(random):.3f}",
            f"{apart:+.3f}", f"±{allowed:.2g}", abs(apart) <= allowed,
        )
    )  # fmt: skip
    slope, theory = float(np.mean(slopes)), float(np.mean(predicted))
    outcome.checks.append(relative("d⟨A⟩/dt over K T, mean of the starts", slope, theory, 0.1))
    left.axhspan(PUBLISHED - PUBLISHED_ERROR, PUBLISHED + PUBLISHED_ERROR, color=THEIRS["color"], alpha=0.12)
    left.set(xlabel="cells left", ylabel="μ2")
    left.invert_xaxis()
    right.set(xlabel="sides n", ylabel="fraction of cells")
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8)
    caption = "μ2 while foams coarsen, with the published value as a band; side distributions of the scaling state."
    outcome.figures.append((save(figure, around.pictures, picture), caption))
    return outcome


def _early(seed: int, seeds: str, around: Surroundings, size: Size) -> tuple[float, NDArray[np.int64]]:
    """μ2 and the numbers of sides of the scaling state with early T1s."""
    states = [s for s in coarsen(seed, seeds, around, size, EARLY) if s.cells <= size.first]
    return float(np.mean([s.mu2 for s in states])), np.concatenate([s.sides for s in states])


def run_large(around: Surroundings) -> Outcome:
    """The same, starting from more cells."""
    return run(around, LARGE, "dry-foam-scaling-large")


def _explanation(size: Size) -> str:
    return (
        f"Periodic foams coarsen from {size.cells:,} cells; states between {size.first:,} and {size.last:,} cells are "
        "averaged, over all cells of each. The second moment μ2 of the numbers of sides is compared with 1.4 ± 0.1 for "
        "soap between plates [Stavans89]; the bound is twice the error of both. Real films have Plateau borders, so "
        "that T1s happen before a film has shrunk to zero; here small bubbles with four and five sides keep their "
        "sides while they shrink, and hardly any has three. Foams with forced T1s of short films show this effect. The "
        "growth of the mean area has an exact form in a self-similar state: with von Neumann's law, the constancy of "
        "⟨A²⟩/⟨A⟩² gives d⟨A⟩/dt = (2π/3) K T (⟨⟨n⟩⟩ - 6) ⟨A⟩²/⟨A²⟩, where ⟨⟨n⟩⟩ is the area-weighted mean number "
        "of sides [Roth13]. Fluctuations of ⟨A²⟩/⟨A⟩² among so few cells affect the slopes "
        "between the first and the last state; the bound for their mean is 10 %."
    )


CASE = Case("dry-foam-scaling", "Scaling state of a dry foam", _explanation(MODERATE), run)
LARGE_CASE = Case(
    "dry-foam-scaling-large", "Scaling state of a dry foam, large", _explanation(LARGE), run_large, on_request=True
)
