"""Make figures of the papers: `python -m figures [NAME ...] [--preset draft|medium|paper]`; without names, list."""

import argparse
import sys
from pathlib import Path

from reports.case import Outcome
from reports.running import finished_runs, run_cases, status
from reports.store import read_results, write_results
from rich.console import Console
from rich.table import Table

from figures import dryfoam, fang19, gerszewski09, tampubolon17, yue15
from figures.figure import PRESETS, Figure, Preset, save_claims
from figures.page import Outcomes, finest, state, write_pages

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "figures"
FIGURES: tuple[Figure, ...] = (
    *yue15.FIGURES,
    *gerszewski09.FIGURES,
    *tampubolon17.FIGURES,
    *fang19.FIGURES,
    *dryfoam.FIGURES,
)


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m figures", description=__doc__)
    names = [figure.name for figure in FIGURES]
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures such as dryfoam-4, or papers such as dryfoam")
    parser.add_argument("--preset", choices=PRESETS, default="medium", help="of the scenes; default: medium")
    parser.add_argument("--missing", action="store_true", help="make all that have not been made with this preset")
    parser.add_argument(
        "--run", action="append", default=[], metavar="SCENE=FOLDER", help="use a finished run instead of a new one"
    )
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pages and pictures")
    given = parser.parse_args()
    given.finished = finished_runs(given.run, parser.error)
    papers = {paper_of(name) for name in names}
    if unknown := set(given.names) - set(names) - papers:
        parser.error(f"there is no figure '{unknown.pop()}': the figures are {', '.join(names)}")
    given.chosen = [f for f in FIGURES if f.name in given.names or paper_of(f.name) in given.names]
    return given


def paper_of(name: str) -> str:
    """The paper's part of the name of a figure."""
    return name.partition("-")[0]


def outcomes_by_preset(folder: Path) -> dict[str, dict[str, Outcome]]:
    """Outcomes on disk, by figure and preset."""
    found: dict[str, dict[str, Outcome]] = {}
    for key, outcome in read_results(folder).items():
        name, _, preset = key.partition(" ")
        found.setdefault(name, {})[preset] = outcome
    return found


def store(folder: Path, outcomes: Outcomes) -> None:
    """Write the outcomes and the pages."""
    order = {figure.name: k for k, figure in enumerate(FIGURES)}
    known = sorted((name for name in outcomes if name in order), key=order.__getitem__)
    write_results(folder, {f"{name} {preset}": o for name in known for preset, o in outcomes[name].items()})
    write_pages(folder, FIGURES, outcomes)


def keep(found: dict[str, Outcome], preset: str, outcome: Outcome) -> None:
    """Add an outcome to those of a figure. Its time is the longest so far: runs on disk are not made again."""
    if preset in found:
        outcome.seconds = max(outcome.seconds, found[preset].seconds)
    found[preset] = outcome


def listing(outcomes: Outcomes) -> Table:
    """The table of all figures."""
    table = Table("name", "figure", "state", "preset", "CPU s")
    for figure in FIGURES:
        preset = finest(outcomes.get(figure.name, {}))
        spent = f"{outcomes[figure.name][preset].seconds:.0f}" if preset else ""
        table.add_row(figure.name, figure.title, state(figure, outcomes), preset or "", spent)
    return table


def main() -> int:
    """Make the chosen figures, or list all."""
    given = arguments()
    outcomes = outcomes_by_preset(given.out)
    asked: Preset = given.preset
    if given.missing:
        given.chosen += [
            f for f in FIGURES if f.preset(asked) not in outcomes.get(f.name, {}) and f not in given.chosen
        ]
    if not given.chosen:
        Console().print(listing(outcomes))
        return 0
    found: dict[str, Outcome] = {}
    for preset in PRESETS:
        chosen = [figure for figure in given.chosen if figure.preset(asked) == preset]

        def done(figure: Figure, outcome: Outcome, preset: Preset = preset) -> None:
            outcomes.update(outcomes_by_preset(given.out))  # another call may have made figures meanwhile
            keep(outcomes.setdefault(figure.name, {}), preset, outcome)
            save_claims(given.out, figure.name, outcome)
            store(given.out, outcomes)

        if chosen:
            found |= run_cases(
                chosen, lambda _: given.out, ROOT / "out" / "figures", given.finished, preset, done
            )  # fmt: skip
    return status(found, len(given.chosen))


if __name__ == "__main__":
    sys.exit(main())
