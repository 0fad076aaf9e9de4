"""The parameters that papers print, beside those of the scenes."""

import pytest
from figures.printed import papers, rows

from spume.scene.extending import library_entries


@pytest.mark.parametrize("paper", papers())
def test_every_difference_from_a_paper_has_a_reason(paper: str) -> None:
    """A scene uses the printed number, or the file says why not. The keys exist."""
    found = list(rows(paper))
    assert found
    assert [f"{row.scene}: {row.key}" for row in found if not row.same and not row.why] == []


@pytest.mark.parametrize("paper", papers())
def test_printed_parameters_belong_to_scenes_of_that_paper(paper: str) -> None:
    """The names are those of built-in scenes in the folder of the paper."""
    own = {entry["name"] for entry in library_entries() if entry["paper"] == paper}
    assert {row.scene for row in rows(paper)} <= own


def test_units_are_converted_before_numbers_are_compared() -> None:
    """[Fang19] prints 3.4e-3 for the cherries' cream; times 500 this is the 1.7 Pa of the scene."""
    (row,) = [row for row in rows("fang19") if row.scene == "cherries" and row.key.endswith("cream.shear_modulus")]
    assert (row.printed, row.converted, row.used, row.same) == (3.4e-3, 1.7, 1.7, True)
