"""The scaling state of a coarsening dry foam: side distribution and law of growth."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam import Foam
from validation.case import Case, Check, Outcome, Surroundings, relative
from validation.drawing import COLOURS, THEIRS, panels, save

CELLS = 20_000
"""at the start"""
FIRST, LAST = 4_000, 800
"""cells between which the foam has forgotten its start and is still large: the states that are averaged"""
STARTS = ((1, "random"), (2, "poisson-disk"), (3, "random"))
"""seed and arrangement of the Voronoi seeds"""
PUBLISHED, PUBLISHED_ERROR = 1.4, 0.1
"""μ2 of the scaling state of soap between plates [Stavans89]"""


@dataclass
class State:
    """One state of a coarsening foam."""

    cells: int
    time: float
    mean_area: float
    growth: float
    """d⟨A⟩/dt by the moments of the state, see `explanation`"""
    mu2: float
    sides: NDArray[np.int64]


def state_of(foam: Foam) -> State:
    """What the comparison needs of the present state."""
    sides, areas = foam.sides, foam.areas
    weighted = float(areas @ sides / areas.sum())
    rate = math.pi / 3.0 * foam.K * foam.T
    growth = 2.0 * rate * (weighted - 6.0) * float(areas.mean() ** 2 / np.mean(areas**2))
    return State(foam.cells, foam.time, float(areas.mean()), growth, float(sides.var()), sides)


def coarsen(seed: int, seeds: str, around: Surroundings, cells: int = CELLS, last: int = LAST) -> list[State]:
    """States of one foam, a tenth of the cells fewer each time."""
    foam = Foam.voronoi(cells, "periodic", seed=seed, seeds=seeds)  # type: ignore[arg-type]
    foam.equilibrate()
    states = [state_of(foam)]
    while foam.cells > last:
        until = max(last, int(0.9 * foam.cells))
        foam.coarsen(math.inf, until_cells=until, event_tolerance=0.01)
        states.append(state_of(foam))
        around.say(f"{seeds} {seed}: {foam.cells} cells, μ2 = {states[-1].mu2:.3f}")
    return states


def run(around: Surroundings) -> Outcome:
    """Foams from several starts into the scaling state."""
    outcome = Outcome()
    figure, (left, right) = panels(2)
    found, slopes, predicted = [], [], []
    for (seed, seeds), colour in zip(STARTS, COLOURS):
        states = coarsen(seed, seeds, around)
        scaling = [s for s in states if s.cells <= FIRST]
        found.append(float(np.mean([s.mu2 for s in scaling])))
        times = np.array([s.time for s in scaling])
        slopes.append(float(np.polyfit(times, [s.mean_area for s in scaling], 1)[0]))
        predicted.append(float(np.trapezoid([s.growth for s in scaling], times) / (times[-1] - times[0])))
        left.semilogx([s.cells for s in states], [s.mu2 for s in states], ".-", color=colour, label=f"{seeds} {seed}")
        sides = np.concatenate([s.sides for s in scaling])
        n, counts = np.unique(sides, return_counts=True)
        right.plot(n, counts / len(sides), ".-", color=colour, label=f"{seeds} {seed}")
        parts = ", ".join(f"{k}: {c / len(sides):.4f}" for k, c in zip(n, counts))
        outcome.notes.append(f"Side distribution from {seeds} seeds {seed}: {parts}; μ2 = {found[-1]:.3f}.")
    mu2 = float(np.mean(found))
    error, bound = mu2 - PUBLISHED, 2.0 * PUBLISHED_ERROR
    ours, theirs = f"{mu2:.3f} ± {np.std(found):.3f}", f"{PUBLISHED} ± {PUBLISHED_ERROR}"
    passed = abs(error) <= bound
    outcome.checks.append(Check("μ2 of the scaling state", ours, theirs, f"{error:+.3f}", f"±{bound:g}", passed))
    for (seed, seeds), slope, theory in zip(STARTS, slopes, predicted):
        outcome.checks.append(relative(f"d⟨A⟩/dt over K T, {seeds} {seed}", slope, theory, 0.1))
    left.axhspan(PUBLISHED - PUBLISHED_ERROR, PUBLISHED + PUBLISHED_ERROR, color=THEIRS["color"], alpha=0.12)
    left.set(xlabel="cells left", ylabel="μ2")
    left.invert_xaxis()
    right.set(xlabel="sides n", ylabel="part of cells")
    for axes in (left, right):
        axes.legend(frameon=False, fontsize=8)
    caption = "μ2 while foams coarsen, with the published value as a band; side distributions of the scaling state."
    outcome.figures.append((save(figure, around.pictures, "dry-foam-scaling"), caption))
    return outcome


CASE = Case(
    "dry-foam-scaling",
    "Scaling state of a dry foam",
    f"Periodic foams coarsen from {CELLS:,} cells; states between {FIRST:,} and {LAST:,} cells are averaged. The "
    "second moment μ2 of the numbers of sides stands beside the 1.4 ± 0.1 of soap between plates [Stavans89]; the "
    "bound is twice that error. Real films have Plateau borders, whose T1s come before a film has shrunk to nothing. "
    "The growth of the mean area has an exact form in a self-similar state: with von Neumann's law, the constancy of "
    "⟨A²⟩/⟨A⟩² gives d⟨A⟩/dt = (2π/3) K T (⟨⟨n⟩⟩ - 6) ⟨A⟩²/⟨A²⟩, ⟨⟨n⟩⟩ the number of sides averaged by area [Roth13]. "
    "Fluctuations of ⟨A²⟩/⟨A⟩² among a thousand cells, about 3 %, enter the slope between the first and the last "
    "state, whose areas differ by a factor of five; the bound is 10 %.",
    run,
)
