"""The median over ranks has the bits of NumPy's."""

import numpy as np
import pytest
from lockstep import on_ranks

from spume.ranks.team import Team


@pytest.mark.parametrize("count", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("kind", ["any", "equal", "signed zeros", "huge", "on one rank"])
def test_the_median_over_ranks_is_that_of_all_numbers(count, kind):
    rng = np.random.default_rng(count)
    values = rng.normal(size=count)
    if kind == "equal":
        values = np.round(values)
    elif kind == "signed zeros":
        values = np.array([0.0, -0.0])[rng.integers(2, size=count)]
    elif kind == "huge":
        values = values * 10.0 ** rng.integers(-308, 300, count)
    rank = np.zeros(count, int) if kind == "on one rank" else rng.integers(3, size=count)
    found = on_ranks(3, lambda messages: Team(messages).median(values[rank == messages.rank]))
    assert found == [float(np.median(values))] * 3
