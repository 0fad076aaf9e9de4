"""Run the cases: `python -m validation [CASE ...] [--quick] [--run SCENE=FOLDER]`."""

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spume.errors import SpumeError
from validation import (
    admm,
    blender_import,
    cantilever,
    channel,
    consolidation,
    dam_break,
    dry_foam_scaling,
    flow_curve,
    foam_quality,
    granular_layer,
    implicit_foam,
    incline,
    press_and_release,
    rebound,
    round_trips,
    sand_collapse,
    silicone_steps,
    skins,
    start_up,
    torsion,
    viscoelasticity,
)
from validation.case import Case, Check, Outcome, Surroundings
from validation.page import write_page

ROOT = Path(__file__).parents[1]
CASES: tuple[Case, ...] = (
    flow_curve.CASE,
    start_up.CASE,
    channel.CASE,
    incline.CASE,
    rebound.CASE,
    foam_quality.CASE,
    implicit_foam.CASE,
    dry_foam_scaling.CASE,
    dry_foam_scaling.LARGE_CASE,
    dam_break.CASE,
    consolidation.CASE,
    sand_collapse.CASE,
    granular_layer.CASE,
    viscoelasticity.CASE,
    admm.CASE,
    cantilever.CASE,
    round_trips.CASE,
    silicone_steps.CASE,
    torsion.CASE,
    press_and_release.CASE,
    blender_import.CASE,
    skins.CASE,
)
ABSENT = "if absent, all except the longest"
QUICK = ("flow-curve", "start-up", "incline", "skins")
"""Cases of --quick, which take about a minute."""


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    names = [case.name for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"one or more of {', '.join(names)}; {ABSENT}")
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}, about a minute")
    parser.add_argument(
        "--run", action="append", default=[], metavar="SCENE=FOLDER", help="use a finished run instead of a new one"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "validation", help="folder for the page and plots")
    given = parser.parse_args()
    if unknown := set(given.cases) - set(names):
        parser.error(f"there is no case '{unknown.pop()}': the cases are {', '.join(names)}")
    if wrong := [text for text in given.run if "=" not in text]:
        parser.error(f"--run {wrong[0]}: it should be SCENE=FOLDER, as in shaving-cream=out/demo")
    usual = [case.name for case in CASES if not case.on_request]
    given.cases = given.cases or (list(QUICK) if given.quick else usual)
    return given


def run_case(case: Case, around: Surroundings) -> Outcome:
    """Run a case; an exception counts as a failed check."""
    try:
        return case.run(around)
    except SpumeError as error:
        return Outcome([Check("the case itself", "stopped", "-", str(error), "runs to its end", False)])


def main() -> int:
    """Run the cases, print their table and write the page; return 1 if a check failed."""
    given = arguments()
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    taken = {scene: Path(folder) for scene, _, folder in (text.partition("=") for text in given.run)}
    found: dict[str, Outcome] = {}
    with console.status("") as status:
        for case in CASES:
            if case.name not in given.cases:
                continue
            began = time.perf_counter()
            tell = status.update if console.is_terminal else console.print
            around = Surroundings(
                given.out, ROOT / "out" / "validation", taken,
                lambda text, title=case.title, tell=tell: tell(escape(f"{title}: {text}")),
            )  # fmt: skip
            around.say("begins")
            found[case.name] = run_case(case, around)
            good = sum(check.passed for check in found[case.name].checks)
            spent = time.perf_counter() - began
            console.print(f"{case.title}: {good} of {len(found[case.name].checks)} checks passed, {spent:.0f} s")
    console.print(_table(found))
    for outcome in found.values():
        for note in outcome.notes:
            console.print(escape(note))
    page = write_page(given.out, CASES, found)
    console.print(f"written to {page}")
    return 0 if all(check.passed for outcome in found.values() for check in outcome.checks) else 1


def _table(found: dict[str, Outcome]) -> Table:
    table = Table("case", "quantity", "ours", "theirs", "error", "tolerance", "pass")
    for name, outcome in found.items():
        for check in outcome.checks:
            verdict = "[green]yes[/green]" if check.passed else "[bold red]no[/bold red]"
            cells = (name, check.quantity, check.ours, check.theirs, check.error, check.tolerance)
            table.add_row(*map(escape, cells), verdict)
    return table


if __name__ == "__main__":
    sys.exit(main())
