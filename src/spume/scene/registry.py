"""Maps the method named by a scene to the model that validates the scene."""

from typing import TYPE_CHECKING

from spume.methods import METHODS, load
from spume.scene.problems import Problem, SceneProblems
from spume.suggestions import did_you_mean

if TYPE_CHECKING:
    from spume.scene.common import Scene


def scene_model(method: object) -> "type[Scene]":
    """The scene model of `method`, the name a scene gives."""
    if not isinstance(method, str) or method not in METHODS:
        known = ", ".join(f"'{name}'" for name in METHODS)
        found = f"is {method!r}, which is not a method" if method is not None else "is missing"
        wanted = did_you_mean(method, METHODS, f"known methods are {known}")
        raise SceneProblems([Problem("method", f"{found}: {wanted}")])
    model: type[Scene] = load(METHODS[method].scene_model)
    return model
