"""Contact sheets show what happens."""

from pathlib import Path

import numpy as np
import pytest

from spume.look.pictures.lettering import MAP, Legend
from spume.look.pictures.png import read_png, write_png
from spume.look.pictures.sheet import GAP, TILES, WIDTH, SheetPicture, contact_sheet, eventful, with_material


def test_pictures_are_chosen_where_they_change() -> None:
    """Nothing changes but from picture 40 to 50: four of six pictures are from there."""
    steps = np.clip((np.arange(100) - 40) / 10, 0.0, 1.0)
    chosen = eventful(np.tile(steps[:, None], (1, 12)), 6)
    assert chosen[0] == 0
    assert chosen[-1] == 99
    assert sum(38 <= k <= 51 for k in chosen) >= 3
    assert chosen == sorted(set(chosen))


def test_pictures_that_do_not_change_are_spread_evenly() -> None:
    chosen = eventful(np.zeros((11, 4)), 6)
    assert chosen == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("total", [1, 2, 5, 6, 7])
def test_few_pictures_are_all_different(total: int) -> None:
    jump = np.zeros((total, 3))
    jump[total // 2 :] = 1.0
    chosen = eventful(jump, 6)
    assert len(set(chosen)) == len(chosen) == min(total, 6)
    assert max(chosen) < total


def test_empty_pictures_are_left_out() -> None:
    listed = [SheetPicture(Path("x"), float(k), covered) for k, covered in enumerate([0.0, 0.001, 0.2, 0.3, 0.25])]
    assert [each.time for each in with_material(listed)] == [2.0, 3.0, 4.0]
    nothing = [each._replace(covered=0.0) for each in listed]
    assert with_material(nothing) == nothing


def test_a_sheet_has_three_tiles_in_a_row_and_one_colour_bar(tmp_path: Path) -> None:
    pictures = []
    for k in range(9):
        picture = np.full((90, 160, 3), 20 * k, np.uint8)
        write_png(tmp_path / f"{k}.png", picture, "")
        pictures.append(SheetPicture(tmp_path / f"{k}.png", 0.1 * k, 0.5))
    contact_sheet(pictures, tmp_path / "sheet.png", None, False)
    plain = read_png(tmp_path / "sheet.png")
    assert WIDTH >= 480
    assert TILES == 6
    assert plain.shape == (2 * 270 + GAP, 3 * WIDTH + 2 * GAP, 3)
    assert (plain[:200, :200] != plain[:200, 2 * WIDTH + 2 * GAP : 2 * WIDTH + 2 * GAP + 200]).any()
    from spume.look.pictures.lettering import with_color_bar

    legend = Legend(MAP, (0.0, 2.0), "speed [m/s]")
    for each in pictures:
        write_png(each.file, with_color_bar(read_png(each.file), legend), "")
    contact_sheet(pictures, tmp_path / "sheet.png", legend, False)
    colored = read_png(tmp_path / "sheet.png")
    assert colored.shape[1] == plain.shape[1]
    np.testing.assert_array_equal(colored[: plain.shape[0]], plain)
