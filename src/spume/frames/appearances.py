"""Camera, backdrop, skin and looks of a finished run that differ from those of its scene."""

from collections.abc import Mapping
from typing import Any

from spume.errors import SceneError
from spume.scene.common import Scene
from spume.scene.overrides import Changes, parse_override, parse_path

PLACES = ("camera", "backdrop", "skin")
"""Tables of a scene that pictures alone depend on."""


def appearances(changes: Changes) -> dict[str, Any]:
    """Values by path. Raises SceneError for what is not camera, backdrop, skin or a look: frames depend on the rest."""
    if isinstance(changes, Mapping):
        found = dict(changes)
    else:
        found = {text.partition("=")[0].strip(): parse_override(text)[1] for text in changes}
    for key in found:
        path = parse_path(key)
        if path[0] not in PLACES and "look" not in path:
            raise SceneError(
                f"--set {key}: the frames of a run depend on it; only camera, backdrop, skin and looks can be changed "
                "afterwards, as in camera.fov=25 or obstacle.0.look.color=#c03020"
            )
    return found


def with_appearances(scene: Scene, looks: dict[str, Any]) -> Scene:
    """The scene with these values. Raises SceneError if its points would have other materials."""
    from spume.scene.surroundings import materials  # loads the laws, and with them Numba

    changed = scene.changed(looks)
    if [each.name for each in materials(changed)] != [each.name for each in materials(scene)]:
        raise SceneError(
            f"--set {next(iter(looks))}: a look of a body or an emitter without one would divide its material, which "
            "the frames do not; change that of the material"
        )
    return changed
