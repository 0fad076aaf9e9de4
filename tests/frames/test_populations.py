"""A frame gives the arrays of every population, under their own names and under short ones."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import synthetic_run

from spume.errors import SceneError
from spume.fields import Field, Population
from spume.frames.extent import point_bounds, point_spacing, quantity_limits
from spume.frames.info import describe_frame, frame_lines
from spume.frames.quantities import label, quantities, quantity_names
from spume.frames.reader import Run, open_run


def test_every_array_comes_back_under_its_population(several_run: Path) -> None:
    written = synthetic_run.several_populations(1, 3, synthetic_run.CELL)
    frame = open_run(several_run)[1]
    assert list(frame.populations) == ["rubber", "jelly", "shell"]
    for name, arrays in written.items():
        assert set(frame[name]) == set(arrays)
        for field, array in arrays.items():
            np.testing.assert_array_equal(frame[name][field], array)
            np.testing.assert_array_equal(getattr(frame[name], field), array)


def test_short_names_are_those_of_the_first_population_that_has_the_field(several_run: Path) -> None:
    frame = open_run(several_run)[0]
    np.testing.assert_array_equal(frame.x, frame["rubber"].x)
    np.testing.assert_array_equal(frame["J"], frame["rubber"]["J"])
    np.testing.assert_array_equal(frame.strain, frame["shell"].strain)
    assert "strain" in frame
    assert "shell" in frame
    assert {"x", "v", "J", "triangles", "strain"} <= set(frame)
    with pytest.raises(KeyError, match="temperature"):
        frame["temperature"]
    with pytest.raises(KeyError, match="'jelly' has no field 'v'"):
        frame["jelly"]["v"]


def test_declarations_tell_kind_spacing_and_fields(several_run: Path) -> None:
    run = open_run(several_run)
    assert run.populations == synthetic_run.several_declarations(3, synthetic_run.CELL)
    assert point_spacing(run, run.populations[0]) == synthetic_run.CELL / 2
    assert {field.name for field in run.fields} == set(run[0])
    # The shell declares none: its four vertices share a box of 0.1 m.
    assert point_spacing(run, run.populations[2]) == pytest.approx(0.1 * 0.25 ** (1 / 3))


def test_a_quantity_is_that_of_all_populations_that_have_it_or_of_one(several_run: Path) -> None:
    run = open_run(several_run)
    assert set(quantities(run[1], "speed")) == {"rubber", "shell"}
    assert set(quantities(run[1], "shell/speed")) == {"shell"}
    np.testing.assert_allclose(quantities(run[1], "shell/v.y")["shell"], 0.2)
    assert quantity_limits(run, "strain") == (0.0, 5.0)
    assert label(run.populations, "shell/strain") == "stretch of the shell (strain)"
    assert {"speed", "J", "strain", "material"} <= set(quantity_names(run.populations))
    with pytest.raises(SceneError, match=r"'jelly/speed'.*rubber: speed"):
        quantities(run[1], "jelly/speed")


def test_bounds_hold_all_populations(several_run: Path) -> None:
    lower, upper = point_bounds(open_run(several_run))
    assert lower[0] < -0.2  # the rubber
    assert upper[0] > 0.2  # the jelly
    assert upper[2] > 0.24  # the shell


def test_info_describes_every_population(several_run: Path) -> None:
    run = open_run(several_run)
    about = describe_frame(run, 0)
    assert about["populations"]["shell"]["kind"] == "mesh"
    assert about["populations"]["shell"]["fields"]["strain"]["max"] == 3.0
    assert about["fields"]["v"]["shape"] == about["populations"]["rubber"]["fields"]["v"]["shape"]
    text = "\n".join(frame_lines(run, 0))
    assert "rubber (points, 0.01 m apart)" in text
    assert "shell (mesh)" in text


def test_a_frame_is_hashed_once_and_a_scene_checked_once(several_run: Path, monkeypatch) -> None:
    from spume.frames import reader

    hashed: list[str] = []
    verify = reader.verify_whole
    monkeypatch.setattr(reader, "verify_whole", lambda path: (hashed.append(path.name), verify(path)))
    run = open_run(several_run)
    for _ in range(3):
        assert run[1].x is not None
    assert run.scene is run.scene
    assert hashed == ["frame_00001.safetensors"]


def test_a_run_sent_to_another_process_is_opened_there_once(several_run: Path) -> None:
    run = open_run(several_run)
    first, second = pickle.loads(pickle.dumps(run)), pickle.loads(pickle.dumps(run))
    assert isinstance(first, Run)
    assert first is second
    assert first.path == run.path


def test_a_population_that_contradicts_its_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks triangles"):
        Population("shell", (Field("x", (3,)),), "mesh")
    with pytest.raises(ValueError, match="'/'"):
        Population("a/b", (Field("x", (3,)),))
