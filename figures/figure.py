"""A figure of a paper: the claim of its caption, and how it is made and checked."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reports.case import Case, Outcome

from spume.whole_files import whole_file

Preset = Literal["draft", "medium", "paper"]
PRESETS: tuple[Preset, ...] = ("draft", "medium", "paper")
"""From coarse to fine."""


@dataclass(frozen=True, kw_only=True)
class Figure(Case):
    """A figure. `explanation` is what the caption claims."""

    paper: str
    """key in REFERENCES.bib"""
    finding: str
    """what agrees, what does not, and why"""
    cause: str = ""
    """why claims do not hold or are not shown: the paper's value, its unit, our method or our scene"""
    presets: tuple[Preset, ...] = PRESETS
    """presets with which it can be made; a figure without scenes, or with scenes of one size, has "paper" only"""

    def preset(self, asked: Preset) -> Preset:
        """The preset closest to the one that was asked for."""
        return asked if asked in self.presets else self.presets[-1]


def save_csv(folder: Path, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write the numbers that a figure shows beside it."""
    with whole_file(folder / f"{name}.csv") as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def save_claims(folder: Path, name: str, outcome: Outcome) -> None:
    """Write the checks of a figure beside it."""
    rows = [(c.quantity, c.ours, c.theirs, c.error, c.tolerance, "yes" if c.passed else "no") for c in outcome.checks]
    save_csv(folder, f"{name}-claims", ("quantity", "ours", "caption", "error", "tolerance", "holds"), rows)
