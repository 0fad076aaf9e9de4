"""Run the cases: `python -m validation [CASE ...] [--quick] [--run SCENE=FOLDER]`."""

import argparse
import sys
from pathlib import Path

from reports.case import Case
from reports.running import finished_runs, run_cases, status

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
    rest_state,
    round_trips,
    sand_collapse,
    silicone_steps,
    skins,
    start_up,
    torsion,
    viscoelasticity,
)
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
    rest_state.CASE,
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
    given.finished = finished_runs(given.run, parser.error)
    usual = [case.name for case in CASES if not case.on_request]
    given.cases = given.cases or (list(QUICK) if given.quick else usual)
    return given


def main() -> int:
    """Run the cases, print their table and write the page; return 1 if a check failed."""
    given = arguments()
    chosen = [case for case in CASES if case.name in given.cases]
    found = run_cases(
        chosen, lambda case: given.out, ROOT / "out" / "validation", given.finished, "draft",
        lambda case, outcome: write_page(given.out, CASES, {case.name: outcome}),
    )  # fmt: skip
    print(f"written to {write_page(given.out, CASES, found)}")
    return status(found, len(chosen))


if __name__ == "__main__":
    sys.exit(main())
