"""Spray, foam and bubbles of a run, frame by frame, on disk: DIR/whitewater/frame_00012.safetensors."""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from spume.errors import SceneError
from spume.frames.extent import point_spacing, run_dimension
from spume.frames.poses import ObstaclePoses, obstacle_poses
from spume.frames.reader import Frame, Run
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.memory import refuse_memory
from spume.runs.folder import RunFolder
from spume.runs.storage import read_arrays, read_metadata, write_arrays
from spume.scene.surroundings import gravity, materials, obstacles, walls
from spume.whitewater.points import Motion, Points, Water, moved, none, seeded
from spume.whitewater.potentials import Thresholds, potentials
from spume.work import each_frame

Floats = NDArray[np.float64]
FORMAT = 2
REACH = 2.0
"""Distance of neighbours, in point spacings."""
BYTES_PER_POINT = 500
"""Memory for a new point while it is made and moved."""
STEPS = 4
"""Steps between two frames."""


class Settings(NamedTuple):
    """What is made."""

    rate: float = 200.0
    """new points per second and point of water where all potentials are 1 [1/s]"""
    life: tuple[float, float] = (0.3, 1.5)
    """time that foam lives, where the potential is low and where it is 1 [s]"""
    thresholds: Thresholds = Thresholds()
    seed: int = 0


DEFAULT = Settings()


def whitewater_file(run: Run, number: int) -> Path:
    """The file of a frame."""
    return RunFolder(run.path).whitewater / f"frame_{number:05d}.safetensors"


def has_whitewater(run: Run, numbers: list[int] | None = None) -> bool:
    """Whether there are points for all of the frames."""
    listed = range(len(run)) if numbers is None else numbers
    return RunFolder(run.path).whitewater.is_dir() and all(whitewater_file(run, number).exists() for number in listed)


def whitewater(run: Run, number: int) -> Points:
    """The points of a frame, as they were made."""
    found = read_arrays(whitewater_file(run, number), list(Points._fields))
    return Points(found["x"], found["v"], found["kind"], found["life"], found["id"])


def make_whitewater(run: Run, settings: Settings = DEFAULT, again: bool = False) -> int:
    """Make the points of all frames of a run; returns how many frames were made. Those that are there and up to date
    are kept, and the next ones go on from them."""
    if run_dimension(run) != 3:
        raise SceneError(f"'{run.path}' is 2D, and spray is made for 3D runs only")
    _water(run, run[0])  # refuses runs without water
    recipe = hashlib.sha256(json.dumps([FORMAT, settings]).encode()).hexdigest()[:16]
    RunFolder(run.path).whitewater.mkdir(exist_ok=True)
    state, next_id = none(), 0
    made = 0
    fresh = again

    def one(number: int) -> None:
        nonlocal state, next_id, made, fresh
        file = whitewater_file(run, number)
        fresh = fresh or not _is_current(run, file, number, recipe)
        if not fresh:
            state, next_id = whitewater(run, number), int(read_metadata(file)["next_id"])
            return
        state, next_id = _advanced(run, number, state, next_id, settings)
        write_arrays(file, state.arrays(), {"recipe": recipe, "next_id": next_id})
        made += 1

    each_frame(one, list(range(len(run))), "whitewater")
    return made


def _is_current(run: Run, file: Path, number: int, recipe: str) -> bool:
    if not file.exists() or file.stat().st_mtime < RunFolder(run.path).frame(number).stat().st_mtime:
        return False
    return bool(read_metadata(file).get("recipe") == recipe)


def _water(run: Run, frame: Frame) -> tuple[Floats, Floats, float]:
    """Positions and velocities of the points of water, and their distance [m]."""
    fluid = np.array([each.law.traits.fluid is not None for each in materials(run.scene)])
    found = [each for each in frame.of_kind("points") if "material" in each and "v" in each]
    if not (fluid.any() and found):
        raise SceneError(f"'{run.path}' has no water: spray is made by materials with the law of water")
    wet = [fluid[np.asarray(each["material"], dtype=np.int64)] for each in found]
    most = int(np.argmax([own.sum() for own in wet]))
    x, v = (np.asarray(found[most][name], dtype=np.float64)[wet[most]] for name in ("x", "v"))
    return x, v, point_spacing(run, found[most].declared)


def _advanced(run: Run, number: int, before: Points, first_id: int, settings: Settings) -> tuple[Points, int]:
    """The points of a frame from those of the frame before, and the next free id."""
    frame = run[number]
    x, v, spacing = _water(run, frame)
    dt = frame.time - run[number - 1].time if number else 0.0
    if dt == 0.0:
        return before, first_id
    h = REACH * spacing
    found = potentials(x, v, h, settings.thresholds)
    chance = found.energy * 0.5 * (found.trapped_air + found.crest)
    random = np.random.default_rng([settings.seed, number])
    expected = settings.rate * dt * chance
    refuse_memory(
        BYTES_PER_POINT * (float(expected.sum()) + len(before.x)),
        f"frame {number} has about {float(expected.sum()):.3g} new points of whitewater",
        "give a smaller --rate",
    )
    counts = np.floor(expected + random.uniform(size=len(x))).astype(np.int64)
    low, high = settings.life
    new = seeded(x - dt * v, v, counts, low + (high - low) * chance, 0.5 * spacing, dt, first_id, random)
    points = before.joined(new)
    # the water half way between this frame and the one before
    water = Water(cKDTree(x - 0.5 * dt * v), v, h)
    inside = _Inside(run, obstacle_poses(run, frame))
    motion = Motion(np.asarray(gravity(run.scene), dtype=np.float64))
    for _ in range(STEPS):
        points = moved(points, water, motion, dt / STEPS, inside)
    return points, first_id + len(new.x)


class _Inside:
    """Whether places are inside of obstacles or beyond the walls."""

    def __init__(self, run: Run, poses: ObstaclePoses) -> None:
        self._poses = poses
        self._programs = [compile_shape(each.shape, 3) for each in obstacles(run.scene)]
        self._walls = walls(run.scene)

    def __call__(self, x: Floats) -> NDArray[np.bool_]:
        found = np.zeros(len(x), np.bool_)
        for program, R, p in zip(self._programs, self._poses.rotation, self._poses.position):
            found |= distances(program, (x - p) @ R) < 0.0
        if self._walls is not None:
            found |= ((x < self._walls.lower) | (x > self._walls.upper)).any(axis=1)
        return found
