"""What does not run on several ranks yet: one table, from which runs are refused before they start.

docs/ranks.md lists the same; tests/ranks/test_support.py compares them.
"""

from collections.abc import Callable
from typing import NamedTuple

from spume.errors import SceneError
from spume.scene.common import Scene
from spume.scene.mpm import MpmScene


class Missing(NamedTuple):
    """Something that a scene may have and ranks cannot do."""

    what: str
    """What the scene has, as part of a sentence."""
    has: Callable[[MpmScene], bool]
    """Whether a scene has it."""


METHODS = ("mpm", "continuum-foam", "sand-water", "point-based")
"""Methods whose steps run on ranks."""
MISSING = (
    Missing("grids that deform with the material (grid.frame = 'total')", lambda scene: scene.grid.frame == "total"),
)
"""For scenes of METHODS with a grid."""


def refuse_on_ranks(scene: Scene) -> None:
    """Raise SceneError if the scene has what ranks cannot do."""
    if scene.method not in METHODS:
        *most, last = (f"'{name}'" for name in METHODS)
        known = f"{', '.join(most)} and {last}"
        raise SceneError(f"the method '{scene.method}' does not run on several ranks yet: {known} do; use one rank")
    for missing in MISSING:
        if isinstance(scene, MpmScene) and missing.has(scene):
            raise SceneError(f"{missing.what} do not run on several ranks yet: use one rank")
