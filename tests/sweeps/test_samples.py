"""Values of the parameters of a sweep."""

import numpy as np
import pytest

import spume
from spume.sweeps.samples import draw_samples, parse_variation, variations


def test_a_grid_has_all_combinations_in_order():
    samples = draw_samples(variations(["a.b=1,2", 'c="x","y"', "d=[0, 1],[1, 0]"]))
    assert len(samples) == 8
    assert samples[0] == {"a.b": 1, "c": "x", "d": [0, 1]}
    assert samples[-1] == {"a.b": 2, "c": "y", "d": [1, 0]}
    assert len({str(sample) for sample in samples}) == 8


def test_words_need_no_quotes():
    assert parse_variation("grid.spline=quadratic,cubic") == ("grid.spline", ("quadratic", "cubic"))


def test_a_latin_hypercube_has_one_value_in_every_stratum():
    """Of n samples exactly one lies in each nth part of every range, on its own scale."""
    n = 16
    varied = variations({"a": "10:40", "b": "1e-3:10:log", "c": spume.Range(1, 8, "int")})
    samples = draw_samples(varied, "latin", n, seed=3)
    a = (np.array([sample["a"] for sample in samples]) - 10) / 30
    b = np.log(np.array([sample["b"] for sample in samples]) / 1e-3) / np.log(1e4)
    for parts in (a, b):
        assert sorted(np.floor(parts * n).astype(int)) == list(range(n))
    assert sorted(sample["c"] for sample in samples) == sorted([*range(1, 9), *range(1, 9)])
    assert all(isinstance(sample["c"], int) for sample in samples)


@pytest.mark.parametrize("sampling", ["random", "latin"])
def test_samples_follow_from_the_seed(sampling):
    varied = variations(["a=0:1", "b=u,v"])
    one, same, other = (draw_samples(varied, sampling, 5, seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert {sample["b"] for sample in draw_samples(varied, sampling, 20, 0)} == {"u", "v"}


@pytest.mark.parametrize(
    ("vary", "sampling", "count", "sentence"),
    [
        (["a"], "grid", None, "path.to.key=a,b,c"),
        (["a=1:2"], "grid", None, "a grid needs a list"),
        (["a=2:1"], "random", 3, "should be the greater one"),
        (["a=0:1:log"], "random", 3, "begin above 0"),
        (["a=1,2"], "random", None, "need a number of runs"),
        (["a=1,2"], "grid", 3, "as many runs as its values make"),
        (["a=1", "a=2"], "grid", None, "varied twice"),
        ([], "grid", None, "at least one parameter"),
        (["a=1,,2]"], "grid", None, "neither a list of values"),
    ],
)
def test_a_wrong_variation_is_one_sentence(vary, sampling, count, sentence):
    with pytest.raises(spume.SceneError, match=sentence):
        draw_samples(variations(vary), sampling, count)
