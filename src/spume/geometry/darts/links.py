"""Processes that throw darts together, each in cells of its own. It also has copies of the cells beside these."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Links(Protocol):
    """What throwing asks of the other processes; `ranks/row_links.py` has it by messages."""

    @property
    def copies(self) -> NDArray[np.int64]:
        """The cells that are copies of those of other processes."""

    def fill(self, *arrays: NDArray[Any]) -> None:
        """Set the entries of the copies to those of the cells they are copies of."""

    def any(self, flag: bool) -> bool:
        """Whether a flag is set in any process."""


class NoLinks:
    """One process, which has all cells."""

    copies = np.empty(0, np.int64)

    def fill(self, *arrays: NDArray[Any]) -> None:
        """See `Links`."""

    def any(self, flag: bool) -> bool:
        """See `Links`."""
        return flag


NO_LINKS = NoLinks()
