"""Settings of point-based scenes that do not go together."""

import pytest

import spume

SHAPES = {
    2: {"circle": {"center": [0.0, 0.0], "radius": 0.05}},
    3: {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.05}},
}


@pytest.mark.parametrize(("dimension", "neighbours"), [(2, 1), (2, 3), (3, 2), (3, 5)])
def test_fewer_neighbours_than_a_lattice_has_are_refused(dimension, neighbours):
    tables = {
        "title": "p", "method": "point-based", "dimension": dimension, "duration": 0.1,
        "points": {"spacing": 0.01, "neighbours": neighbours},
        "body": [{"material": "gelatin", "shape": SHAPES[dimension]}],
    }  # fmt: skip
    sentence = rf"points\.neighbours is {neighbours}: in {dimension}D it should be at least {2 * dimension}"
    with pytest.raises(spume.SceneError, match=sentence):
        spume.load_scene(tables)
    tables["points"]["neighbours"] = 2 * dimension
    spume.load_scene(tables)


@pytest.mark.parametrize("laws", [1.0, 7, True, {"file": "a.py"}, [1], [["a.py"]]])
def test_laws_that_are_no_names_of_files_are_one_sentence(laws):
    tables = {"title": "p", "method": "mpm", "duration": 0.1, "grid": {"cell": 0.01}, "laws": laws}
    with pytest.raises(spume.SceneError, match=r"laws(\.0)? is .*: it should be"):
        spume.load_scene(tables)
