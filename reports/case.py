"""Cases: what is compared with closed forms, published numbers or the claims of a figure, and what came out."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Check:
    """One comparison of our value with a reference, as shown in the table."""

    quantity: str
    ours: str
    theirs: str
    error: str
    tolerance: str
    passed: bool
    undecided: bool = False
    """Whether a check that did not pass failed only because the difference is within the spread."""


@dataclass
class Outcome:
    """Result of a case."""

    checks: list[Check] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    """file name and caption of each plot"""
    notes: list[str] = field(default_factory=list)
    """sentences for the page: omissions and their reasons, further measurements"""
    seconds: float = 0.0
    """processor time of the case, without runs that existed before [s]"""

    def tables(self) -> dict[str, Any]:
        """JSON-serialisable form of the outcome."""
        return asdict(self)

    @classmethod
    def of(cls, tables: dict[str, Any]) -> "Outcome":
        """Outcome from the result of `tables()`."""
        checks = [Check(**check) for check in tables["checks"]]
        figures = [(name, caption) for name, caption in tables["figures"]]
        return cls(checks, figures, list(tables["notes"]), tables.get("seconds", 0.0))

    @property
    def holds(self) -> bool:
        """Whether all checks passed."""
        return all(check.passed for check in self.checks)


@dataclass(frozen=True)
class Surroundings:
    """Inputs of a case."""

    pictures: Path
    """folder for plots"""
    runs: Path
    """folder for runs"""
    finished: dict[str, Path]
    """finished runs to use, by scene name"""
    say: Callable[[str], None]
    """function that shows the progress"""
    preset: str = "draft"
    """preset of the scenes, for cases that have several"""


@dataclass(frozen=True)
class Case:
    """A case: its explanation and the function that runs it."""

    name: str
    title: str
    explanation: str
    """for the page: the closed form or the published figure, with its source, and how our value is obtained"""
    run: Callable[[Surroundings], Outcome]
    on_request: bool = False
    """Whether it runs only if it is named, because it takes long."""


def relative(quantity: str, ours: float, theirs: float, bound: float, unit: str = "") -> Check:
    """Check that `ours` differs from `theirs` by at most the fraction `bound` of it."""
    error = ours / theirs - 1.0
    return Check(
        quantity, f"{ours:.4g} {unit}".strip(), f"{theirs:.4g} {unit}".strip(), f"{100 * error:+.2f} %",
        f"±{100 * bound:g} %", abs(error) <= bound,
    )  # fmt: skip


def deviation(
    quantity: str, error: float, bound: float, theirs: str = "closed form", ours: str = "whole curve"
) -> Check:
    """Check that the largest relative deviation is at most `bound`."""
    return Check(quantity, ours, theirs, f"{100 * error:.3g} %", f"≤ {100 * bound:g} %", error <= bound)


def at_most(quantity: str, ours: float, theirs: float) -> Check:
    """Check that a fraction (shown in percent) is at most the published one."""
    return Check(
        quantity, f"{100 * ours:.3g} %", f"{100 * theirs:g} %", f"{100 * (ours - theirs):+.3g} points", "≤ theirs",
        ours <= theirs,
    )  # fmt: skip


def at_least(quantity: str, ours: float, theirs: float) -> Check:
    """Check that a fraction (shown in percent) is at least the published one."""
    return Check(
        quantity, f"{100 * ours:.3g} %", f"{100 * theirs:g} %", f"{100 * (ours - theirs):+.3g} points", "≥ theirs",
        ours >= theirs,
    )  # fmt: skip


def differs(
    quantity: str, first: Sequence[float], second: Sequence[float], direction: Literal["less", "more"]
) -> Check:
    """Check that the mean of `second` is less or more than that of `first` by three times the larger spread, the
    standard deviation over seeds or resolutions. A difference within three spreads is undecided."""
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    spread = max(float(a.std(ddof=1)), float(b.std(ddof=1)))
    change = float(b.mean() - a.mean())
    signed = -change if direction == "less" else change
    return Check(
        quantity, f"{a.mean():.4g} and {b.mean():.4g}", f"the second is {direction}", f"{change:+.3g}",
        f"≥ 3 × {spread:.2g}", signed >= 3.0 * spread and signed > 0.0, abs(change) < 3.0 * spread,
    )  # fmt: skip


def changes(
    quantity: str, first: Sequence[float], second: Sequence[float], direction: Literal["less", "more"]
) -> Check:
    """Check that `second` is less or more than `first`, where each pair was found from the same state, by three times
    the standard deviation of the changes of the pairs. A change within three of them is undecided."""
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    spread, change = float((b - a).std(ddof=1)), float((b - a).mean())
    signed = -change if direction == "less" else change
    return Check(
        quantity, f"{a.mean():.4g} and {b.mean():.4g}", f"the second is {direction}", f"{change:+.3g}",
        f"≥ 3 × {spread:.2g}, in pairs", signed >= 3.0 * spread and signed > 0.0, abs(change) < 3.0 * spread,
    )  # fmt: skip


def states(quantity: str, ours: str, theirs: str, passed: bool) -> Check:
    """Check of a statement that is true or false."""
    return Check(quantity, ours, theirs, "", "", bool(passed))
