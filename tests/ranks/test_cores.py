"""Whether ranks on one machine have cores of their own, on which the way they wait depends."""

import pytest

pytest.importorskip("mpi4py", reason="needs the extra 'ranks'")

from spume.ranks.mpi import _have_cores


class Beside:
    """Ranks of one machine, with the cores that each may use."""

    def __init__(self, *cores: set[int]):
        self.cores = cores

    def Get_size(self) -> int:
        return len(self.cores)

    def allgather(self, mine: set[int]) -> list[set[int]]:
        return list(self.cores)


@pytest.mark.parametrize(
    ("cores", "enough"),
    [
        ([{0, 1}, {0, 1}], True),
        ([{0}, {1}], True),
        ([{0, 1}, {0, 1}, {0, 1}], False),
        ([{0}, {0}], False),
        ([{3}], True),
    ],
)
def test_ranks_have_cores_if_together_they_may_use_as_many(cores: list[set[int]], enough: bool) -> None:
    assert _have_cores(Beside(*cores)) == enough
