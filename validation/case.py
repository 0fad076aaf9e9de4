"""What a case of validation hands back."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Check:
    """One figure of ours beside theirs, as the table shows it."""

    quantity: str
    ours: str
    theirs: str
    error: str
    tolerance: str
    passed: bool


@dataclass
class Outcome:
    """What a case found."""

    checks: list[Check] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)
    """file name and caption of each plot"""
    notes: list[str] = field(default_factory=list)
    """sentences for the page: what was left out and why, what was measured besides"""

    def tables(self) -> dict[str, Any]:
        """The outcome as JSON takes it."""
        return asdict(self)

    @classmethod
    def of(cls, tables: dict[str, Any]) -> "Outcome":
        """The outcome that `tables()` wrote."""
        checks = [Check(**check) for check in tables["checks"]]
        return cls(checks, [(name, caption) for name, caption in tables["figures"]], list(tables["notes"]))


@dataclass(frozen=True)
class Surroundings:
    """What a case is told."""

    pictures: Path
    """folder its plots go to"""
    runs: Path
    """folder for runs it makes"""
    finished: dict[str, Path]
    """finished runs to take instead of making them, by scene name"""
    say: Callable[[str], None]
    """shows how far it is"""


@dataclass(frozen=True)
class Case:
    """A case: what it compares, and the function that does."""

    name: str
    title: str
    explanation: str
    """for the page: the closed form or the published figure, with its source, and how ours is had"""
    run: Callable[[Surroundings], Outcome]
    on_request: bool = False
    """Whether it runs only when it is named, for the time it takes."""


def relative(quantity: str, ours: float, theirs: float, bound: float, unit: str = "") -> Check:
    """ours within `bound` (a part of theirs) of theirs."""
    error = ours / theirs - 1.0
    return Check(
        quantity, f"{ours:.4g} {unit}".strip(), f"{theirs:.4g} {unit}".strip(), f"{100 * error:+.2f} %",
        f"±{100 * bound:g} %", abs(error) <= bound,
    )  # fmt: skip


def deviation(quantity: str, error: float, bound: float, theirs: str = "closed form") -> Check:
    """A largest relative deviation no greater than `bound`."""
    return Check(quantity, "whole curve", theirs, f"{100 * error:.3g} %", f"≤ {100 * bound:g} %", error <= bound)


def at_most(quantity: str, ours: float, theirs: float) -> Check:
    """A part (shown in percent) that should be no greater than the published one."""
    return Check(
        quantity, f"{100 * ours:.3g} %", f"{100 * theirs:g} %", f"{100 * (ours - theirs):+.3g} points", "≤ theirs",
        ours <= theirs,
    )  # fmt: skip


def at_least(quantity: str, ours: float, theirs: float) -> Check:
    """A part (shown in percent) that should be no smaller than the published one."""
    return Check(
        quantity, f"{100 * ours:.3g} %", f"{100 * theirs:g} %", f"{100 * (ours - theirs):+.3g} points", "≥ theirs",
        ours >= theirs,
    )  # fmt: skip
