"""Running cases one after another, with progress and a table of their checks."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from reports.case import Case, Check, Outcome, Surroundings
from spume.errors import SpumeError

AnyCase = TypeVar("AnyCase", bound=Case)


def run_case(case: Case, around: Surroundings) -> Outcome:
    """Run a case; an error counts as a failed check."""
    began = time.process_time()
    try:
        outcome = case.run(around)
    except SpumeError as error:
        outcome = Outcome([Check("the case itself", "stopped", "-", str(error), "runs to its end", False)])
    outcome.seconds = time.process_time() - began
    return outcome


def run_cases(
    cases: Iterable[AnyCase],
    pictures: Callable[[AnyCase], Path],
    runs: Path,
    finished: dict[str, Path],
    preset: str,
    done: Callable[[AnyCase, Outcome], object],
) -> dict[str, Outcome]:
    """Run `cases`, call `done` after each, print their table, and return what came out. Ctrl-C ends with the case that
    runs."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    found: dict[str, Outcome] = {}
    with console.status("") as status:
        tell = status.update if console.is_terminal else console.print
        for case in cases:

            def say(text: str, title: str = case.title) -> None:
                tell(escape(f"{title}: {text}"))

            say("begins")
            try:
                found[case.name] = run_case(case, Surroundings(pictures(case), runs, finished, say, preset))
            except KeyboardInterrupt:
                console.print(f"{case.title}: stopped; the next call goes on from here")
                break
            outcome = found[case.name]
            done(case, outcome)
            good = sum(check.passed for check in outcome.checks)
            console.print(f"{case.title}: {good} of {len(outcome.checks)} checks passed, {outcome.seconds:.0f} CPU s")
    console.print(_table(found))
    for outcome in found.values():
        for note in outcome.notes:
            console.print(escape(note))
    return found


def finished_runs(texts: Iterable[str], fail: Callable[[str], object]) -> dict[str, Path]:
    """Runs given on the command line as SCENE=FOLDER."""
    taken = {}
    for text in texts:
        scene, separator, folder = text.partition("=")
        if not separator:
            fail(f"--run {text}: it should be SCENE=FOLDER, as in shaving-cream=out/demo")
        taken[scene] = Path(folder)
    return taken


def status(found: dict[str, Outcome], wanted: int) -> int:
    """Exit status: 1 if a check failed or a case is missing."""
    return 0 if len(found) == wanted and all(outcome.holds for outcome in found.values()) else 1


def _table(found: dict[str, Outcome]) -> Table:
    table = Table("case", "quantity", "ours", "theirs", "error", "tolerance", "pass")
    for name, outcome in found.items():
        for check in outcome.checks:
            verdict = "[green]yes[/green]" if check.passed else "[bold red]no[/bold red]"
            cells = (name, check.quantity, check.ours, check.theirs, check.error, check.tolerance)
            table.add_row(*map(escape, cells), verdict)
    return table
