"""Frames to work on, quantities to colour by, and files that are whole or absent."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spume.errors import CacheError, MissingExtra, SceneError, SpumeError
from spume.extras import require
from spume.frames.quantities import quantity
from spume.frames.selection import select_frames, spread
from spume.look.commands import view
from spume.whole_files import whole_file
from spume.work import each_frame


@given(
    st.integers(1, 50),
    st.none() | st.integers(-60, 60),
    st.none() | st.integers(-60, 60),
    st.none() | st.integers(1, 9),
)
def test_frames_are_chosen_as_python_slices_do(count: int, first, last, step) -> None:
    text = ":".join("" if part is None else str(part) for part in (first, last, step))
    expected = list(range(count))[first:last:step]
    if expected:
        assert select_frames(text, count) == expected
    else:
        with pytest.raises(SceneError, match="chooses nothing"):
            select_frames(text, count)


@pytest.mark.parametrize("text", ["", "a", "1:2:3:4", "5", "-6", "1:4:0", "1:4:-1", "1.5"])
def test_wrong_choices_are_one_sentence(text: str) -> None:
    with pytest.raises(SceneError, match="--frames"):
        select_frames(text, 5)


def test_the_served_viewer_refuses_a_selection_it_would_ignore(tmp_path: Path) -> None:
    with pytest.raises(SpumeError, match="--frames was given without --export"):
        view([tmp_path], frames="0:2")


@given(st.integers(1, 200), st.integers(1, 12))
def test_a_spread_has_both_ends_and_no_more_than_asked(count: int, most: int) -> None:
    chosen = spread(list(range(count)), most)
    assert len(chosen) == min(count, most) == len(set(chosen))
    assert chosen[-1] == count - 1
    assert most == 1 or chosen[0] == 0


def test_quantities_are_what_their_names_say() -> None:
    random = np.random.default_rng(1)
    frame = {"x": random.normal(size=(4, 3)), "v": random.normal(size=(4, 3)), "F": random.normal(size=(4, 3, 3))}
    frame |= {"be": random.normal(size=(4, 6)), "weak": np.array([0, 1, 1, 0], np.uint8)}
    np.testing.assert_allclose(quantity(frame, "speed") ** 2, (frame["v"] ** 2).sum(axis=1))
    np.testing.assert_array_equal(quantity(frame, "v.z"), frame["v"][:, 2])
    np.testing.assert_array_equal(quantity(frame, "F.yx"), frame["F"][:, 1, 0])
    np.testing.assert_array_equal(quantity(frame, "be.xz"), frame["be"][:, 4])
    xx, yy, zz, xy, xz, yz = frame["be"].T
    full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    np.testing.assert_allclose(quantity(frame, "be"), np.sqrt((full**2).sum(axis=(0, 1))))
    np.testing.assert_array_equal(quantity(frame, "weak"), [0, 1, 1, 0])
    for name in ("temperature", "v.w", "weak.x"):
        with pytest.raises(SceneError, match=name):
            quantity(frame, name)


def test_an_interrupted_file_leaves_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        _write_half(file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def _write_half(file: Path) -> None:
    with whole_file(file) as unfinished:
        unfinished.write_text("half")
        raise KeyboardInterrupt


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(CacheError, match="cannot be written"), whole_file(tmp_path / "taken" / "a.txt"):
        pass


def test_a_missing_package_is_one_sentence_with_the_command(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(MissingExtra, match=r"--beauty needs .*pip install 'spume\[render\]'"):
        require("mitsuba", "--beauty")


def test_results_come_in_order_from_several_processes(capsys) -> None:
    assert each_frame(abs, [-3, -1, -2], "test", processes=2) == {-3: 3, -1: 1, -2: 2}
    assert "3 of 3" in capsys.readouterr().err


def test_a_lost_process_is_one_sentence():
    with pytest.raises(SpumeError, match="test: a process was lost"):
        each_frame(os._exit, [3, 3, 3], "test", processes=2)
