"""Runs written without a simulation: points on a lattice that turn, stretch and fall in a known way."""

from pathlib import Path
from typing import Any

import numpy as np

from spume.fields import IDENTITY, SYMMETRIC_IDENTITY, Field
from spume.run.folder import RunFolder
from spume.run.manifest import Manifest
from spume.run.storage import write_arrays
from spume.scene.common import Scene

CELL = 0.02
FIELDS = {
    3: (
        Field("x", (3,), 0.0, "m", description="position"),
        Field("v", (3,), 0.0, "m/s", description="velocity"),
        Field("mass", (), 0.0, "kg", "share"),
        Field("volume", (), 0.0, "m³", "share"),
        Field("material", (), 0, "1", "nearest", dtype="int32"),
        Field("body", (), 0, "1", "nearest", dtype="int32"),
        Field("F", (3, 3), IDENTITY, "1", description="deformation gradient"),
        Field("be", (6,), SYMMETRIC_IDENTITY, "1", description="elastic strain"),
        Field("weak", (), 0, "1", "nearest", dtype="uint8"),
    )
}
FIELDS[2] = (Field("x", (2,), unit="m"), Field("v", (2,), unit="m/s"), *FIELDS[3][2:])
STRETCH = 0.1
"""Growth per frame along the first axis [1]."""


def scene_tables(dimension: int = 3) -> dict[str, Any]:
    """A ball of foam and a ball of rubber over a ground, and a block that swings sideways."""
    wide = dimension == 3
    shape = "sphere" if wide else "circle"
    box = "box" if wide else "rectangle"
    ground = {
        "half_space" if wide else "half_plane": {"point": [0.0] * dimension, "normal": [0.0, 1.0, 0.0][:dimension]}
    }
    return {
        "title": "Two balls",
        "method": "mpm",
        "dimension": dimension,
        "duration": 0.2,
        "frame_rate": 10.0,
        "grid": {"cell": CELL},
        "body": [
            {"material": "soft rubber", "shape": {shape: {"center": [-0.15, 0.2, 0.0][:dimension], "radius": 0.1}}},
            {"material": "gelatin", "shape": {shape: {"center": [0.15, 0.2, 0.0][:dimension], "radius": 0.1}}},
        ],
        "obstacle": [
            {"name": "ground", "shape": ground},
            {
                "name": "block",
                "shape": {box: {"center": [0.0, 0.45, 0.0][:dimension], "size": [0.2, 0.05, 0.2][:dimension]}},
                "motion": {"oscillate": {"direction": [1.0, 0.0, 0.0][:dimension], "amplitude": 0.1, "frequency": 2.5}},
            },
        ],
    }


def lattice_ball(center: tuple[float, ...], radius: float, spacing: float) -> np.ndarray:
    """Points of a lattice within a ball, shape (n, dimension)."""
    half = int(np.ceil(radius / spacing))
    line = (np.arange(-half, half) + 0.5) * spacing
    grid = np.stack(np.meshgrid(*[line] * len(center), indexing="ij"), axis=-1).reshape(-1, len(center))
    return grid[np.linalg.norm(grid, axis=1) < radius] + np.array(center)


def frame_arrays(number: int, dimension: int = 3, cell: float = CELL) -> dict[str, np.ndarray]:
    """Frame `number`: both balls as they began, stretched along x by 1 + STRETCH · number."""
    centers = [(-0.15, 0.2, 0.0)[:dimension], (0.15, 0.2, 0.0)[:dimension]]
    balls = [lattice_ball(center, 0.1, cell / 2) for center in centers]
    x = np.concatenate(balls)
    count = len(x)
    which = np.repeat(np.arange(2, dtype=np.int32), [len(ball) for ball in balls])
    F = np.tile(np.eye(3), (count, 1, 1))
    F[:, 0, 0] = 1 + STRETCH * number
    stretched = x * np.array([1 + STRETCH * number, 1.0, 1.0])[:dimension]
    volume = np.full(count, (cell / 2) ** dimension)
    return {
        "x": stretched,
        "v": np.stack([STRETCH * 10 * x[:, 0], *([np.zeros(count)] * (dimension - 1))], axis=1),
        "mass": 1000 * volume,
        "volume": volume,
        "material": which,
        "body": which,
        "F": F,
        "be": np.tile(np.array(SYMMETRIC_IDENTITY), (count, 1)),
        "weak": (x[:, 1] > 0.25).astype(np.uint8),
    }


def write_run(folder: Path, frames: int = 3, dimension: int = 3, cell: float = CELL, complete: bool = True) -> Path:
    """Write a whole run with the files' own writers."""
    place = RunFolder(folder)
    place.frames.mkdir(parents=True)
    tables = scene_tables(dimension)
    tables["grid"]["cell"] = cell
    tables["duration"] = max(frames - 1, 1) / 10
    entries = []
    for number in range(frames):
        arrays = frame_arrays(number, dimension, cell)
        report = diagnostics(arrays, number)
        about = {"frame": number, "time": number / 10, "diagnostics": report}
        write_arrays(place.frame(number), arrays, about)
        entries.append(
            {"frame": number, "time": number / 10, **report, "seconds": {"transfer": 0.2 * number, "law": 0.1}}
        )
    fields = [vars(field) for field in FIELDS[dimension]]
    Manifest(
        name=folder.name,
        method="mpm",
        scene=Scene(**tables).resolved(),
        version="0.0",
        fields=[{**entry, "shape": list(entry["shape"])} for entry in fields],
        frames=entries,
        complete=complete,
    ).write(place.manifest)
    return folder


def diagnostics(arrays: dict[str, np.ndarray], number: int) -> dict[str, Any]:
    """What a method would report."""
    m, v = arrays["mass"], arrays["v"]
    return {
        "points": len(m),
        "mass": float(m.sum()),
        "momentum": (m @ v).tolist(),
        "kinetic_energy": float(0.5 * m @ (v**2).sum(axis=1)),
        "elastic_energy": 0.5 * number,
        "gravitational_energy": 3.0 - number,
        "volume": float(arrays["volume"] @ np.linalg.det(arrays["F"])),
        "volume_ratio_min": 1.0,
        "volume_ratio_max": 1.0 + STRETCH * number,
        "dt": 1e-4,
        "steps": 10 * number,
    }
