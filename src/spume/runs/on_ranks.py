"""Commands whose run several ranks share."""

import sys
from collections.abc import Callable

from spume.runs.crew import Crew
from spume.terminal import tell


def on_ranks(ranks: int | None, threads: int | None, work: Callable[[Crew], int]) -> int:
    """Start the ranks of this command, or, on one of them, do the work of the writer; the others follow it."""
    from spume.runs.launching import crew, launched, start_ranks
    from spume.runs.progress import rank_sentence

    if ranks not in (None, 1) and not launched():
        return start_ranks(ranks or 1, threads, _without_ranks())
    with crew(threads) as team:
        if team is None:  # the writer has done it
            return 0
        code = work(team)
        if did := team.report():
            tell(rank_sentence(did))
        return code


def _without_ranks() -> list[str]:
    """The arguments of this command without the number of ranks."""
    found, skip = [], False
    for argument in sys.argv[1:]:
        if not skip and argument != "--ranks" and not argument.startswith("--ranks="):
            found.append(argument)
        skip = argument == "--ranks"
    return found
