"""The folders that `spume export --to blender-cache` writes. Nothing here needs Blender."""

import json
import re
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np

FORMAT = 1
"""The only format of folders that this extension reads."""
SCENE = "scene.json"
KEPT = 6
"""Number of frames whose arrays stay in memory."""

_frames = OrderedDict()


class CacheError(Exception):
    """A sentence for the user."""


def is_cache(folder):
    """Whether a folder is one that spume has written for Blender."""
    return (Path(folder) / SCENE).is_file()


def is_run(folder):
    """Whether a folder is a run of spume."""
    return (Path(folder) / "manifest.json").is_file()


def read_scene(folder):
    """What there is in a folder: pieces, materials, obstacles."""
    try:
        scene = json.loads((Path(folder) / SCENE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CacheError(f"'{folder}' has no scene that can be read: {error}") from None
    if scene.get("format") != FORMAT:
        raise CacheError(
            f"'{folder}' has format {scene.get('format')}, and this extension reads {FORMAT}: "
            "export the run again, or install the extension of that version of spume"
        )
    return scene


def frame_numbers(folder):
    """The frames that are there, increasing."""
    found = (re.fullmatch(r"frame_(\d+)\.npz", file.name) for file in Path(folder).glob("frame_*.npz"))
    return sorted(int(match[1]) for match in found if match)


def nearest_frame(numbers, wanted):
    """The last frame at or before the wanted one, or the first; None if there are none."""
    before = [number for number in numbers if number <= wanted]
    return before[-1] if before else (numbers[0] if numbers else None)


def frame(folder, number):
    """The arrays of a frame, by name; those of the last few frames are kept while their files do not change."""
    file = Path(folder) / f"frame_{number:05d}.npz"
    try:
        key = str(file), file.stat().st_mtime_ns
        if key not in _frames:
            with np.load(file) as arrays:
                _frames[key] = {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise CacheError(f"'{file.name}' cannot be read: {error}") from None
    _frames.move_to_end(key)
    while len(_frames) > KEPT:
        _frames.popitem(last=False)
    return _frames[key]


def obstacle_arrays(folder):
    """The meshes of obstacles and of the ground, by name."""
    file = Path(folder) / "obstacles.npz"
    if not file.is_file():
        return {}
    with np.load(file) as arrays:
        return {name: arrays[name] for name in arrays.files}


def stamps(folder):
    """The number of each frame as text, and the time of its file as text: properties of Blender have 32 bits."""
    found = {}
    for number in frame_numbers(folder):
        try:
            found[str(number)] = str((Path(folder) / f"frame_{number:05d}.npz").stat().st_mtime_ns)
        except OSError:  # it has just been replaced
            continue
    return found


def state(folder):
    """What changes whenever a folder gets other or more frames."""
    folder = Path(folder)
    try:
        return (folder / SCENE).stat().st_mtime_ns, tuple(
            (file.name, file.stat().st_mtime_ns) for file in sorted(folder.glob("frame_*.npz"))
        )
    except OSError:
        return None
