"""The program spume in the background: what is started, how far it is, and stopping it. Nothing here needs Blender."""

import json
import shutil
import subprocess
import sys
from pathlib import Path


class Job:
    """Commands of spume that follow each other. `frames` is the number of frames that the run will have, if known."""

    def __init__(self, label, commands, folder, run=None, frames=None):
        self.label, self.folder, self.run, self.frames = label, Path(folder), run and Path(run), frames
        self._waiting = [list(command) for command in commands]
        self._process = None
        self._log = self.folder / "spume.log"
        self.error = ""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._log.write_text("")
        self._next()

    def _next(self):
        command = self._waiting.pop(0)
        flags = {"creationflags": subprocess.CREATE_NO_WINDOW} if sys.platform == "win32" else {}
        with open(self._log, "a") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **flags
            )

    def poll(self):
        """Whether the job still runs; after it, `error` says what went wrong, if anything."""
        if self._process is None:
            return False
        ended = self._process.poll()
        if ended is None:
            return True
        if ended != 0:
            self.error = self.last_line() or f"spume ended with {ended}"
        elif self._waiting:
            self._next()
            return True
        self._process = None
        return False

    def stop(self):
        """Stop as Ctrl-C does: a run can be continued."""
        self._waiting.clear()
        if self._process is not None:
            self._process.terminate()

    def last_line(self):
        """The last line that spume printed."""
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def progress(self):
        """The fraction of the frames that are there, 0 to 1."""
        if self.run is None or not self.frames:
            return 0.0
        return min(1.0, finished_frames(self.run) / self.frames)


def finished_frames(run):
    """The number of frames of a run."""
    try:
        with open(Path(run) / "frames.jsonl", encoding="utf-8") as lines:
            return sum(1 for line in lines if line.endswith("\n"))
    except OSError:
        return 0


def program(given):
    """The program spume: the one that is given, or the one on the search path. None if there is none."""
    return shutil.which(given) if given else shutil.which("spume")


def frames_of(run):
    """The number of frames that a run has when it is complete; None if that cannot be read."""
    try:
        scene = json.loads((Path(run) / "manifest.json").read_text(encoding="utf-8"))["scene"]
        return 1 + max(1, round(float(scene["duration"]) * float(scene.get("frame_rate", 30.0))))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_command(spume, scene, run):
    """The command that runs a scene."""
    return [spume, "run", str(scene), "--out", str(run), "--overwrite"]


def export_command(spume, run, folder, what="surface"):
    """The command that writes the frames that are missing in a folder for Blender."""
    return [spume, "export", str(run), "--to", "blender-cache", "--what", what, "--out", str(folder)]
