"""Scenes of sand and water with mistakes: one sentence each."""

import pytest
from mixtures import body, simulate

from spume.errors import SceneError

BLOCK = {"grid": {"cell": 0.05}, "body": [body("sand", [0.0, 0.0], [0.2, 0.2])]}
FLOOR = {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}}


def curve(pairs):
    """A mixture with a curve of the cohesion."""
    return {"mixture": {"drag_coefficient": 1.0, "saturation": "degree", "cohesion_curve": pairs}}


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {"mixture": {}},
            "mixture has neither drag_coefficient nor hydraulic_conductivity: the drag needs one of them",
        ),
        (
            {"mixture": {"drag_coefficient": 1.0, "hydraulic_conductivity": 1.0}},
            "mixture has both drag_coefficient and hydraulic_conductivity",
        ),
        (
            {"mixture": {"drag_coefficient": 1.0, "cohesion_curve": "robert-soga"}},
            "mixture.saturation is 'overlap' with cohesion_curve 'robert-soga'",
        ),
        (
            {"mixture": {"drag_coefficient": 1.0, "cohesion_curve": [[0.0, 0.0], [1.0, 1.0]]}},
            "mixture.saturation is 'overlap' with cohesion_curve of pairs: that curve needs saturation = 'degree'",
        ),
        (curve([[0.4, 1.0]]), "mixture.cohesion_curve is [[0.4, 1.0]]: a curve needs at least two pairs"),
        (
            curve([[0.4, 1.0], [0.4, 0.0]]),
            "mixture.cohesion_curve is [[0.4, 1.0], [0.4, 0.0]]: each saturation should be greater than the one before",
        ),
        (
            curve([[0.0, 0.1], [0.4, 1.5]]),
            "mixture.cohesion_curve.1 is [0.4, 1.5]: saturation and fraction should be between 0 and 1",
        ),
        (curve("robert-sogga"), "did you mean 'robert-soga'?"),
        (
            {"mixture": {"drag_coefficient": 1.0, "retention_exponent": 2.7}},
            "mixture.retention_exponent is 2.7, but only cohesion_curve = 'robert-soga' uses it: drop one of them",
        ),
        (
            {"mixture": {"drag_coefficient": 1.0, "retention_exponent": 2.0}},
            "mixture.retention_exponent is 2.0: it should be greater than 2",
        ),
        (curve([[0.0, "a"], [1.0, 0.0]]), "mixture.cohesion_curve.0.1 is 'a': it should be a number"),
        (curve([[0.0], [1.0, 0.0]]), "mixture.cohesion_curve.0"),
        (curve(0.4), "mixture.cohesion_curve is 0.4: it should be a list"),
        ({"mixture": {"drag_coefficient": 1.0, "buoyancy": "archimede"}}, "did you mean 'archimedes'?"),
        ({"mixture": {"drag_coefficient": 1.0, "saturation": "pores"}}, "mixture.saturation is 'pores'"),
        ({"obstacle": [FLOOR | {"holds": "mud"}]}, "obstacle.0.holds is 'mud'"),
        ({"obstacle": [FLOOR | {"drained": "yes"}]}, "obstacle.0.drained is 'yes'"),
        ({"semi_implicit": {}}, "semi_implicit is given with integrator 'explicit'"),
        (
            {
                "time": {"integrator": "semi-implicit"},
                "semi_implicit": {
                    "plasticity": "lagged",
                    "unilateral": {"a": 0.1, "b": 0.0, "c0": 1.0, "v0": 0.01},
                },
            },
            "semi_implicit.unilateral.a is 0.1: it should be below b, 0",
        ),
        (
            {
                "body": [body("water", [0.0, 0.0], [0.2, 0.2])],
                "time": {"integrator": "semi-implicit"},
                "semi_implicit": {"unilateral": {"a": -0.1, "b": 0.0, "c0": 1.0, "v0": 0.01}},
            },
            "semi_implicit.unilateral is given, but no material has the law 'drucker-prager'",
        ),
        ({"mixture": {"drag_coefficient": 1.0, "porosity": 1.5}}, "mixture.porosity"),
        ({"mixture": {"drag_coefficient": -1.0}}, "mixture.drag_coefficient"),
    ],
)
def test_a_mistake_is_named(tables, sentence):
    with pytest.raises(SceneError) as caught:
        simulate(**(BLOCK | tables))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sand_and_water_may_overlap_but_two_sands_may_not():
    twice = [body("sand", [0.0, 0.0], [0.2, 0.2]), body("sand", [0.0, 0.0], [0.2, 0.2])]
    with pytest.raises(SceneError, match="two materials cannot fill one place"):
        simulate(grid={"cell": 0.05}, body=twice)
