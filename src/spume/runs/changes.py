"""Changes of a scene during a run. Each takes effect between two steps, so that its time alone determines where: a run
that repeats them has the same bits."""

from collections.abc import Iterable
from typing import Any

from spume.errors import SceneError
from spume.methods import Method, method_class
from spume.scene.common import Scene


def with_scene(method: Method, scene: Scene) -> Method:
    """A method of `scene` in the state of `method`. Raises SceneError if the scene needs other fields.

    Laws, obstacles, gravity and the limits of the time step are those of `scene`; the points and the length of the last
    step, from which the next grows at the most by a factor, are those of the present state.
    """
    return continued(method_class(scene.method)(scene), *method.checkpoint())


def continued(new: Method, arrays: dict[str, Any], values: dict[str, Any]) -> Method:
    """`new` in the state of a checkpoint. Raises SceneError if it needs other fields."""
    try:
        new.restore({name: array.copy() for name, array in arrays.items()}, values)
    except (ValueError, KeyError):
        raise SceneError(
            "the simulation cannot continue with this scene, since its points carry other fields: make a new one"
        ) from None
    return new


def scene_at(scene: Scene, changes: Iterable[dict[str, Any]], time: float) -> Scene:
    """The scene that began a run, with those of its changes that hold at `time` [s]."""
    for change in changes:
        if change["time"] <= time:
            scene = scene.changed(change["values"])
    return scene
