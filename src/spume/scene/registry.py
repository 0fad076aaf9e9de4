"""Which model checks the scenes of which method. A model is imported only when a scene asks for its method."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spume.scene.problems import Problem, SceneProblems
from spume.suggestions import did_you_mean

if TYPE_CHECKING:
    from spume.scene.common import Scene

SCENE_MODELS = {
    "mpm": "spume.scene.mpm:MpmScene",
    "continuum-foam": "spume.scene.continuum_foam:ContinuumFoamScene",
    "sand-water": "spume.scene.sand_water:SandWaterScene",
    "dry-foam": "spume.scene.dry_foam:DryFoamScene",
}
"""Where the scene model of each method is."""


def scene_model(method: Any) -> "type[Scene]":
    """The scene model of `method`, the name a scene gives."""
    if not isinstance(method, str) or method not in SCENE_MODELS:
        known = ", ".join(f"'{name}'" for name in SCENE_MODELS)
        found = f"is {method!r}, which is not a method" if method is not None else "is missing"
        wanted = did_you_mean(method, SCENE_MODELS, f"known methods are {known}")
        raise SceneProblems([Problem("method", f"{found}: {wanted}")])
    module, _, attribute = SCENE_MODELS[method].partition(":")
    found_model: type[Scene] = getattr(import_module(module), attribute)
    return found_model
