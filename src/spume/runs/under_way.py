"""A run while the loop computes it: its state, and its scene with the changes made so far."""

from dataclasses import dataclass, replace
from typing import Any

from spume.methods import Method
from spume.runs.crew import Crew
from spume.runs.folder import RunFolder
from spume.runs.manifest import Manifest
from spume.runs.progress import Display
from spume.runs.steering import Steering
from spume.runs.stopping import StopRequest
from spume.runs.storage import plain, stored_arrays, write_arrays
from spume.scene.common import Scene


@dataclass
class RunUnderWay:
    """A run while the loop computes it."""

    method: Method
    scene: Scene
    """The scene with the changes made so far."""
    place: RunFolder
    manifest: Manifest
    display: Display
    stop: StopRequest
    steering: Steering
    crew: Crew
    """The processes that share the points."""
    changed: int = 0
    """Changes of the manifest that have been made."""

    def waits(self) -> bool:
        """Whether something has to happen before the next step."""
        return self.stop() or self._is_due() or self.steering.wanted()

    def _is_due(self) -> bool:
        changes = self.manifest.changes
        return self.changed < len(changes) and changes[self.changed]["time"] <= self.method.time

    def make_due_changes(self) -> None:
        """Make the changes of the manifest whose time has come."""
        scene = self.scene
        while self._is_due():
            scene = scene.changed(self.manifest.changes[self.changed]["values"])
            self.changed += 1
        if scene is not self.scene:
            self.method, self.scene = self.crew.changed(self.method, scene), scene

    def build(self, scene: Scene) -> Method:
        """See `Steered`."""
        return self.crew.build(scene)

    def change(self, values: dict[str, Any]) -> None:
        """Continue with changes of the scene, which the manifest records before they have an effect."""
        scene = self.scene.changed(values)
        method = self.crew.changed(self.method, scene)
        # changes that were recorded for later, as in a resumed run, no longer apply
        kept = replace(self.manifest, changes=self.manifest.changes[: self.changed])
        self.manifest = kept.with_change(method.time, plain(values))
        self.place.keep_lock()
        self.manifest.write_header(self.place.manifest)
        self.method, self.scene, self.changed = method, scene, len(self.manifest.changes)

    def snapshot(self) -> None:
        """Write the present state for viewers."""
        about = {"frame": len(self.manifest.frames), "time": self.method.time, "diagnostics": {}}
        self.place.keep_lock()
        write_arrays(self.place.snapshot, stored_arrays(self.method.frame()), about)

    def ask_to_stop(self) -> None:
        """Stop after the present step."""
        self.stop.asked = True
