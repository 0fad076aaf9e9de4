"""Scenes of continuum foam: the paper's values of its stages if nothing is said, and sentences about what cannot be."""

import pytest
from foam_bench import dollop

from spume.errors import SceneError
from spume.scene.common import Scene


def test_without_tables_the_values_of_the_paper_hold():
    scene = Scene(
        title="foam",
        method="continuum-foam",
        duration=1.0,
        grid={"cell": 0.01},
        body=[{"material": "shaving cream", "shape": {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.05}}}],
    )
    assert scene.tearing.enabled
    assert scene.recovery.enabled
    assert (scene.subgrid_removal.enabled, scene.subgrid_removal.threshold, scene.subgrid_removal.smallest) == (
        True,
        1e-5,
        1e-5,
    )
    assert (scene.resampling.enabled, scene.resampling.every, scene.resampling.depth) == (True, 50, 2.2)
    assert Scene(**scene.resolved()).resolved() == scene.resolved()


@pytest.mark.parametrize(
    ("table", "values", "path"),
    [
        ("recovery", {"every": 0}, "recovery.every"),
        ("subgrid_removal", {"threshold": -1.0}, "subgrid_removal.threshold"),
        ("resampling", {"coverage": 0.7}, "resampling.coverage"),
        ("resampling", {"coverage": 1.2}, "resampling.coverage"),
        ("resampling", {"depth": 3.0}, "resampling.depth"),
        ("resampling", {"merge_distance": 0.8}, "resampling.merge_distance"),
        ("tearing", {"enabled": 1}, "tearing.enabled"),
        ("tearing", {"treshold": 1.0}, "tearing.treshold"),
    ],
)
def test_a_wrong_value_is_named_by_its_path(table, values, path):
    with pytest.raises(SceneError, match=path.replace(".", r"\.")):
        dollop(2, **{table: values})
