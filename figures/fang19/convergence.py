"""Residuals of one implicit step over the iterations of ADMM, for figures 10 to 12 of [Fang19]."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reports.case import Surroundings
from reports.drawing import COLOURS
from validation.admm import PLAIN, SAND, Study

Array = NDArray[np.float64]

INSTANTS = {"elastic-balls": (0.3, 0.35, 0.4), "roller": (0.8, 1.0, 1.2), "sand-column-implicit": (0.3, 0.4, 0.5)}
"""Times of the steps [s]: states with large deformation, whose spread says what counts as a difference."""
COUNTS = (1, 2, 4, 8, 12, 16, 20, 30, 40, 60, 80)
"""Iterations after which the residual is evaluated."""

COLUMNS = ("choice", "instant", "iterations", "residual")
"""Of the tables."""


CELLS = {"sand-column-implicit": {"draft": SAND, "medium": ("grid.cell=0.02",)}}
"""Changes of scenes whose presets are too fine."""


def studies(around: Surroundings, scene: str) -> list[Study]:
    """The scene's steps at its three instants, with the cells of the preset."""
    common = CELLS.get(scene, {}).get(around.preset, ())
    found = []
    for time in INSTANTS[scene]:
        around.say(f"{scene} until {time:g} s")
        found.append(Study(scene, common, time, around.preset))
    return found


def curve(study: Study, changes: Sequence[str], counts: Iterable[int] = COUNTS) -> Array:
    """Residual of the momentum equation after each number of iterations, without our acceleration."""
    own = (PLAIN, *changes, "implicit.tolerance=1e-13")
    return np.array([study.solved((*own, f"implicit.iterations={count}"))[1] for count in counts])


def reached(residuals: Array, goal: float, counts: Sequence[int] = COUNTS) -> float:
    """Iterations to a residual, between those that were evaluated in the logarithm; infinite if it is not reached."""
    below = np.flatnonzero(residuals <= goal)
    if not len(below):
        return float("inf")
    k = int(below[0])
    if k == 0:
        return float(counts[0])
    a, b = np.log(residuals[k - 1]), np.log(residuals[k])
    return float(counts[k - 1] + (counts[k] - counts[k - 1]) * (a - np.log(goal)) / (a - b))


def plot(axes: Any, curves: Mapping[str, Sequence[Array]], counts: Sequence[int] = COUNTS) -> None:
    """The geometric mean of the curves of each choice over the instants, and their range as a band."""
    for (label, found), colour in zip(curves.items(), COLOURS):
        logs = np.log(found)
        axes.fill_between(counts, *np.exp([logs.min(axis=0), logs.max(axis=0)]), color=colour, alpha=0.18, linewidth=0)
        axes.semilogy(counts, np.exp(logs.mean(axis=0)), "o-", color=colour, linewidth=1.8, markersize=3.5, label=label)
    axes.set(xlabel="iterations", ylabel="unbalanced impulses")
    axes.legend(frameon=False, fontsize=10)


def table(curves: Mapping[str, Sequence[Array]], counts: Sequence[int] = COUNTS) -> list[list[object]]:
    """Rows of label, instant, iterations and residual."""
    return [
        [label, k, count, f"{value:.4g}"]
        for label, found in curves.items()
        for k, each in enumerate(found)
        for count, value in zip(counts, each)
    ]
