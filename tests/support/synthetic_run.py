"""Runs written without a simulation: points on a lattice that turn, stretch and fall in a known way.

They have one population of points, or several populations of points and a mesh.
"""

from pathlib import Path
from typing import Any, Literal

import numpy as np

from spume.fields import IDENTITY, SYMMETRIC_IDENTITY, VOLUME_RATIO, Field, Population
from spume.runs.folder import RunFolder
from spume.runs.manifest import Manifest, population_entries
from spume.runs.storage import stored_arrays, write_arrays
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
        VOLUME_RATIO,
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
        "J": np.full(count, 1.0 + STRETCH * number),
    }


def one_population(number: int, dimension: int, cell: float) -> dict[str, dict[str, np.ndarray]]:
    """Both balls in one population."""
    return {"points": frame_arrays(number, dimension, cell)}


SHELL = (
    Field("x", (3,), unit="m", description="position"),
    Field("v", (3,), unit="m/s", description="velocity"),
    Field("triangles", (3,), dtype="int32", description="vertices of each triangle"),
    Field("strain", description="stretch of the shell"),
)


def several_populations(number: int, dimension: int, cell: float) -> dict[str, dict[str, np.ndarray]]:
    """Each ball as a population of its own, the second one without velocity, and a tetrahedron that rises."""
    both = frame_arrays(number, dimension, cell)
    first = both["material"] == 0
    second = {name: array[~first] for name, array in both.items() if name != "v"}
    corners = 0.05 * np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
    shell = {
        "x": corners + np.array([0.0, 0.1 + 0.02 * number, 0.2]),
        "v": np.tile([0.0, 0.2, 0.0], (4, 1)),
        "triangles": np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], dtype=np.int32),
        "strain": np.arange(4.0) + number,
    }
    return {"rubber": {name: array[first] for name, array in both.items()}, "jelly": second, "shell": shell}


def several_declarations(dimension: int, cell: float) -> tuple[Population, ...]:
    """The populations of `several_populations`."""
    fields = FIELDS[dimension]
    without_velocity = tuple(field for field in fields if field.name != "v")
    return (
        Population("rubber", fields, "points", cell / 2),
        Population("jelly", without_velocity, "points", cell / 2),
        Population("shell", SHELL, "mesh"),
    )


def write_run(
    folder: Path,
    frames: int = 3,
    dimension: int = 3,
    cell: float = CELL,
    complete: bool = True,
    populations: Literal["one", "several"] = "one",
    **changes: Any,
) -> Path:
    """Write a whole run with the files' own writers; `changes` replace tables of its scene."""
    place = RunFolder(folder)
    place.frames.mkdir(parents=True)
    tables = scene_tables(dimension) | changes
    tables["grid"]["cell"] = cell
    tables["duration"] = max(frames - 1, 1) / 10
    declared = several_declarations(dimension, cell)
    if populations == "one":
        declared = (Population("points", FIELDS[dimension], "points", cell / 2),)
    entries = []
    for number in range(frames):
        made = (one_population if populations == "one" else several_populations)(number, dimension, cell)
        report = diagnostics(frame_arrays(number, dimension, cell), number)
        about = {"frame": number, "time": number / 10, "diagnostics": report}
        write_arrays(place.frame(number), stored_arrays(made), about)
        entries.append(
            {"frame": number, "time": number / 10, **report, "seconds": {"transfer": 0.2 * number, "law": 0.1}}
        )
    Manifest(
        name=folder.name,
        method="mpm",
        scene=Scene(**tables).resolved(),
        version="0.0",
        populations=population_entries(declared),
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
