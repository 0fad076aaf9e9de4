"""Suggestions for misspelled names."""

import difflib
from collections.abc import Iterable


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The name among `known` that `name` is most likely a misspelling of; case does not matter."""
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(str(name).lower(), list(by_lower_case), n=1, cutoff=0.6)
    return by_lower_case[found[0]] if found else None


def did_you_mean(name: object, known: Iterable[str], otherwise: str = "") -> str:
    """ "did you mean 'sphere'?", or `otherwise` if no name is close; by default, the known names."""
    names = list(dict.fromkeys(known))
    close = nearest(name, names)
    if close is not None:
        return f"did you mean '{close}'?"
    return otherwise or f"known are {', '.join(names)}"
