"""Cameras of scenes: places at rest or on keyframes, a lens with a focus."""

from types import SimpleNamespace

import numpy as np
import pytest

from spume.errors import SceneError
from spume.look.pictures.camera import scene_view
from spume.scene.camera import Camera, angle_at, place_at
from spume.scene.common import Scene


def scene(camera: dict) -> Scene:
    body = {"material": "gelatin", "shape": {"sphere": {"center": [0.0, 0.1, 0.0], "radius": 0.05}}}
    tables = {"title": "camera", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.02}, "body": [body]}
    return Scene(**tables, camera=camera)


def test_a_camera_goes_through_its_keyframes() -> None:
    path = {"times": [0.0, 1.0], "values": [[0.0, 0.0, 1.0], [2.0, 0.0, 1.0]], "interpolation": "linear"}
    camera = scene({"position": path, "target": [0.0, 0.0, 0.0], "fov": {"times": [0.0, 1.0], "values": [40.0, 20.0]}})
    assert place_at(camera.camera.position, 0.25) == pytest.approx((0.5, 0.0, 1.0))
    assert angle_at(camera.camera.fov, 0.5) == pytest.approx(30.0)  # smooth, and half way by symmetry
    view = scene_view(Scene(**camera.resolved()), 2.0)
    assert view is not None
    np.testing.assert_allclose(view.position, [2.0, 0.0, 1.0])
    assert view.angle == pytest.approx(20.0)


def test_the_focus_is_a_distance_along_the_view() -> None:
    """The point of focus at (1, 0, −1), seen from z = 2 along −z: at a depth of 3 whatever its distance to the side."""
    camera = Camera(position=(0.0, 0.0, 2.0), target=(0.0, 0.0, 0.0), aperture=0.01, focus=(1.0, 0.0, -1.0))
    view = scene_view(SimpleNamespace(camera=camera))
    assert view is not None
    assert (view.aperture, view.focus) == (0.01, pytest.approx(3.0))
    sharp = scene_view(SimpleNamespace(camera=camera.model_copy(update={"focus": None})))
    assert sharp is not None
    assert sharp.focus == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("position", "sentence"),
    [
        ({"times": [0.0, 0.0], "values": [[0, 0, 1], [0, 0, 2]]}, "'times' must increase"),
        ({"times": [0.0, 1.0], "values": [[0.0, 0.0, 1.0]]}, "'times' has 2 items and 'values' has 1"),
        ({"times": [], "values": []}, "empty"),
        ("front", "position"),
    ],
)
def test_wrong_keyframes_are_one_sentence(position: object, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence) as caught:
        scene({"position": position, "target": [0.0, 0.0, 0.0]})
    assert "camera.position" in str(caught.value)


@pytest.mark.parametrize(
    ("camera", "sentence"),
    [
        ({"target": [0.0, 0.0, 0.0]}, "'target' without 'position'"),
        ({"fov": 20.0, "aperture": 0.01}, "'aperture' needs 'position' and 'target'"),
        ({"fov": {"times": [0.0, 1.0], "values": [20.0, 30.0]}}, "'fov' with keyframes needs"),
    ],
)
def test_a_camera_without_a_place_has_an_angle_alone(camera: dict, sentence: str) -> None:
    with pytest.raises(SceneError, match=sentence):
        scene(camera)
    assert scene_view(scene({"fov": 20.0})) is None
