"""Controls: what can be adjusted while a scene runs, in ranges that the scene accepts, without jumps of obstacles."""

from typing import Any

import numpy as np
import pytest

from spume.geometry.motion import pose
from spume.materials import LAWS
from spume.scene.controls import changes, controls, parameter_range
from spume.scene.loading import load_scene

NAMES = ("shaving-cream", "dam-breach-2d", "silicone", "elastic-balls", "oobleck-sphere", "sand-column-implicit")


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_takes_both_ends_of_every_slider(name: str) -> None:
    scene = load_scene(name)
    found = controls(scene)
    assert {control.key.split(".")[0] for control in found} >= {"gravity", "material"}
    for control in found:
        assert control.low <= control.value <= control.high
        for value in (control.low, control.high):
            scene.changed(changes(scene, scene, control.key, value, 0.1))


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_a_slider_stays_within_the_bounds_of_the_schema(law: Any) -> None:
    for entry in law.parameters.model_json_schema()["properties"].values():
        number = next((each for each in entry.get("anyOf", ()) if each.get("type") == "number"), entry)
        if number.get("type") != "number":
            continue
        least = number.get("minimum", number.get("exclusiveMinimum"))
        most = number.get("maximum", number.get("exclusiveMaximum"))
        value = 0.3 if most is None or most > 0.3 else 0.5 * (most + least)
        low, high, _ = parameter_range(value, entry, 5.0)
        assert low < high
        assert low > least if "exclusiveMinimum" in number else low >= least
        assert most is None or (high < most if "exclusiveMaximum" in number else high <= most)


def test_a_parameter_of_zero_goes_up_to_that_of_named_materials() -> None:
    assert parameter_range(0.0, {"type": "number", "minimum": 0}, 7.0) == (0.0, 7.0, "linear")


SCENE = {
    "title": "obstacles",
    "method": "mpm",
    "dimension": 2,
    "duration": 1.0,
    "grid": {"cell": 0.01},
    "body": [{"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.5], "radius": 0.1}}}],
    "obstacle": [
        {
            "shape": {"circle": {"center": [-0.5, 0.0], "radius": 0.1}},
            "motion": {"oscillate": {"direction": [1, 0], "amplitude": 0.05, "frequency": 2.0}},
        },
        {"shape": {"circle": {"center": [0.5, 0.0], "radius": 0.1}}},
        {"shape": {"half_plane": {"point": [0, -1], "normal": [0, 1]}}},
    ],
}


def test_the_ground_and_the_density_cannot_be_changed() -> None:
    keys = {control.key for control in controls(load_scene(SCENE))}
    assert {"obstacle.0.speed", "obstacle.1.shift.0", "obstacle.1.shift.1", "obstacle.2.friction"} <= keys
    assert not {key for key in keys if key.startswith("obstacle.2") and "friction" not in key}
    assert not {key for key in keys if "density" in key}


@pytest.mark.parametrize(("obstacle", "key"), [(0, "obstacle.0.speed"), (1, "obstacle.1.shift.0")])
def test_an_obstacle_goes_on_from_where_it_is(obstacle: int, key: str) -> None:
    """The pose up to a change is the same before and after it, again and again, even while the obstacle is on its way;
    afterwards its displacement is that of its speed."""
    first = present = load_scene(SCENE)
    for time, value in ((0.2, 0.1), (0.25, 0.05), (0.25, 0.15), (0.5, 0.0)):
        new = present.changed(changes(first, present, key, value, time))
        before, after = present.obstacle[obstacle].motion, new.obstacle[obstacle].motion
        for t in (0.0, 0.1, 0.2, 0.22, 0.25, 0.4, 0.5):
            if t <= time:
                np.testing.assert_allclose(pose(after, t, 2).p, pose(before, t, 2).p, atol=1e-15)
        t, h = time + 1e-3, 1e-6
        moved = (pose(after, t + h, 2).p - pose(after, t - h, 2).p) / (2 * h)
        np.testing.assert_allclose(moved, pose(after, t, 2).v, atol=1e-6)
        present = new


def test_a_shifted_obstacle_arrives_at_one_reach_a_second() -> None:
    """The largest extent in the scene is 0.2 m: the way of 0.1 m takes 0.5 s."""
    scene = load_scene(SCENE)
    motion = scene.changed(changes(scene, scene, "obstacle.1.shift.1", -0.1, 0.2)).obstacle[1].motion
    np.testing.assert_allclose(pose(motion, 0.45, 2).p, [0, -0.05, 0], rtol=1e-12)
    np.testing.assert_allclose(pose(motion, 0.45, 2).v, [0, -0.2, 0], rtol=1e-12)
    np.testing.assert_allclose(pose(motion, 0.71, 2).p, [0, -0.1, 0], rtol=1e-12)
