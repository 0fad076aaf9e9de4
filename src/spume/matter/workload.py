"""How much of a run is done, where points are released on the way: for the time left in the progress display."""

from collections.abc import Sequence

import numpy as np

from spume.matter.sources import Release, Source

ALWAYS = 1000
"""Number of points that take as long as the part of a step that does not depend on their number."""


class Workload:
    """The work of a run: the number of points, from their release on, over time. What resampling adds and what is
    removed are left out."""

    def __init__(self, releases: Sequence[Release], sources: Sequence[Source], duration: float) -> None:
        self._times = np.array([release.time for release in releases])
        self._counts = np.array([sources[release.source].count for release in releases], np.float64)
        self._first = min(self._times, default=0.0)
        self._total = self._until(duration)
        self._flows = bool((self._times > 0.0).any())

    def done(self, time: float) -> float | None:
        """Fraction of the work up to `time` [s]; None if all points are there from the start: it is then that of the
        time."""
        return self._until(time) / self._total if self._flows and self._total > 0.0 else None

    def _until(self, time: float) -> float:
        return float(ALWAYS * max(time - self._first, 0.0) + self._counts @ np.maximum(time - self._times, 0.0))
