"""Names of objects in other programs, and of folders."""

import itertools
import re
from collections.abc import Callable


def identifier(name: str) -> str:
    """`name` with only letters, digits and underscores, not beginning with a digit.

    >>> identifier("soft gel"), identifier("3 balls")
    ('soft_gel', '_3_balls')
    """
    plain = re.sub(r"[^A-Za-z0-9]", "_", name)
    return plain if plain and not plain[0].isdigit() else f"_{plain}"


def slug(name: str) -> str:
    """`name` as the name of a folder.

    >>> slug("Soft gel (warm)")
    'soft-gel-warm'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


class Names:
    """Names that stand side by side, in a spelling such as `identifier` or `slug`, and each of them once."""

    def __init__(self, *reserved: str, spelling: Callable[[str], str] = identifier) -> None:
        self._taken, self._spelling = set(reserved), spelling

    def add(self, name: str) -> str:
        """`name` as it is spelled, followed by a number if that is taken.

        >>> names = Names("camera")
        >>> names.add("camera"), names.add("a b"), names.add("a_b")
        ('camera_2', 'a_b', 'a_b_2')
        """
        spelled = itertools.chain([self._spelling(name)], (self._spelling(f"{name} {k}") for k in itertools.count(2)))
        chosen = next(each for each in spelled if each not in self._taken)
        self._taken.add(chosen)
        return chosen
