"""What does not run on several ranks: runs are refused before they start.

docs/ranks.md lists the same; tests/ranks/test_support.py compares them.
"""

from spume.errors import SceneError
from spume.scene.common import Scene

METHODS = ("mpm", "continuum-foam", "sand-water", "point-based")
"""Methods whose steps run on ranks."""


def refuse_on_ranks(scene: Scene) -> None:
    """Raise SceneError if ranks cannot run the scene."""
    if scene.method not in METHODS:
        *most, last = (f"'{name}'" for name in METHODS)
        known = f"{', '.join(most)} and {last}"
        raise SceneError(f"the method '{scene.method}' does not run on several ranks yet: {known} do; use one rank")
