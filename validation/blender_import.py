"""Exports opened by Blender's own importers: positions of all objects, compared with the scene."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Check, Outcome, Surroundings

from spume import load_scene
from spume.exports.contents import Contents, contents, identifier
from spume.frames.reader import Run, open_run
from spume.look.blender.process import has_blender, run_script
from spume.look.blender.studio import to_blender
from spume.look.surface.files import skin_of
from spume.runs.loop import start_run

Floats = NDArray[np.float64]
SINGLE = float(np.finfo(np.float32).eps)
BOUND = 8 * SINGLE
"""Tolerance relative to the size of the scene: coordinates and matrices are multiplied in single precision."""
ANGLE_BOUND = 1e-5
"""Tolerance of the angle of view, which is converted to a focal length and back in single precision."""


def _usd(chosen: Contents, file: Path) -> None:
    from spume.exports.usd import write_usd

    write_usd(chosen, file)


def _alembic(chosen: Contents, file: Path) -> None:
    from spume.exports.alembic import write_alembic

    write_alembic(chosen, file)


def _gltf(chosen: Contents, file: Path) -> None:
    from spume.exports.gltf import write_gltf

    write_gltf(chosen, file)


def _blend(chosen: Contents, file: Path) -> None:
    from spume.exports.blend import write_blend

    write_blend(chosen, file)


WRITERS: dict[str, tuple[str, Callable[[Contents, Path], None]]] = {
    "usd": ("run.usdc", _usd),
    "alembic": ("run.abc", _alembic),
    "gltf": ("run.glb", _gltf),
    "blend": ("run.blend", _blend),
}


def imported(run: Run, numbers: list[int], kind: str, folder: Path) -> dict[str, Any]:
    """Objects that Blender finds in an export of the surfaces of `run`."""
    name, write = WRITERS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    write(contents(run, numbers, "surface", None), folder / name)
    job = {"file": str((folder / name).resolve()), "format": kind, "frames": numbers}
    return run_script("importing", job | {"rate": run.scene.frame_rate}, {}, "importing")


def checks(run: Run, numbers: list[int], kind: str, folder: Path) -> list[Check]:
    """Compare obstacles, skin and camera in Blender with the scene."""
    report = imported(run, numbers, kind, folder)
    chosen = contents(run, numbers, "surface", None)
    turn = to_blender(chosen.up)
    lower, upper = chosen.box
    size = float(np.linalg.norm(upper - lower))
    skin_error = matrix_error = vertex_error = 0.0
    for number, found, poses in zip(numbers, report["frames"], chosen.poses):
        for solid, mesh in chosen.obstacles():
            there = _named(found, solid.name)
            R, p = solid.place(poses)
            expected = turn @ (R @ mesh.vertices[0] + p)
            vertex_error = max(vertex_error, float(np.abs(np.array(there["first"]) - expected).max()))
            # Blender rotates objects of USD files as a whole, but the vertices of the others
            own = R if kind == "usd" else R @ turn.T
            matrix = np.array(there["matrix"])
            matrix_error = max(matrix_error, float(np.abs(matrix[:3, :3] - turn @ own).max()) * size)
            matrix_error = max(matrix_error, float(np.abs(matrix[:3, 3] - turn @ p).max()))
        population = run.populations[0]
        skin = skin_of(run, run[number], population, ("fine",)).vertices @ turn.T
        shown = _skin(found, kind, number, chosen)
        box = np.array([shown["lower"], shown["upper"]])
        skin_error = max(skin_error, float(np.abs(box - [skin.min(axis=0), skin.max(axis=0)]).max()))
    view = next(iter(chosen.views().values()))
    camera = next(entry for entry in report["frames"][0].values() if entry["type"] == "CAMERA")
    matrix = np.array(camera["matrix"])
    eye_error = float(np.abs(matrix[:3, 3] - turn @ view.position).max())
    forward = turn @ (view.target - view.position) / np.linalg.norm(view.target - view.position)
    direction_error = float(np.abs(-matrix[:3, 2] - forward).max())
    angle_error = abs(camera["angle"] - np.radians(view.angle)) / np.radians(view.angle)
    bounds = f"≤ {BOUND:.1e} of the scene"

    def within(quantity: str, error: float) -> Check:
        part = error / size
        return Check(f"{kind}: {quantity}", "Blender", "the scene", f"{part:.1e}", bounds, part <= BOUND)

    return [
        within("first vertex of each obstacle, all frames", vertex_error),
        within("world matrix of each obstacle, all frames", matrix_error),
        within("box of the skin, all frames", skin_error),
        within("position of the camera", eye_error),
        within("direction of the camera", direction_error * size),
        Check(
            f"{kind}: angle of view", f"{np.degrees(camera['angle']):.4f}°", f"{view.angle:.4f}°", f"{angle_error:.1e}",
            f"≤ {ANGLE_BOUND:g}", bool(angle_error <= ANGLE_BOUND),
        ),
    ]  # fmt: skip


def _named(found: dict[str, Any], name: str) -> dict[str, Any]:
    """Mesh of an obstacle: importers keep its name, some with a suffix or under the name of its shape."""
    wanted = (name, identifier(name), f"{identifier(name)}_shape")
    for key, entry in found.items():
        if entry["type"] == "MESH" and key.partition(".")[0] in wanted:
            return dict(entry)
    raise LookupError(f"Blender has no mesh called '{name}', only {', '.join(found)}")


def _skin(found: dict[str, Any], kind: str, number: int, chosen: Contents) -> dict[str, Floats]:
    """Bounding box of the visible skin in a frame."""
    names = {"usd": "surface", "alembic": chosen.name, "gltf": f"frame {number}"}
    seen = [entry for entry in found.values() if entry["type"] == "MESH" and not entry["hidden"]]
    shown = {key.partition(".")[0]: entry for key, entry in found.items() if entry in seen}
    parts = [
        entry
        for key, entry in shown.items()
        if (key.startswith("surface") if kind == "blend" else key.endswith(names[kind]))
    ]
    if not parts:
        raise LookupError(f"Blender shows no skin in frame {number}, only {', '.join(found)}")
    lower, upper = (np.array([part[end] for part in parts]) for end in ("lower", "upper"))
    return {"lower": lower.min(axis=0), "upper": upper.max(axis=0)}


def run(around: Surroundings) -> Outcome:
    """Export a coarse dollop on its shaking block in every format and import it into Blender."""
    if not has_blender():
        return Outcome(notes=["Blender is not installed here (bpy, or SPUME_BLENDER): nothing was imported."])
    scene = load_scene("shaving-cream", ("grid.cell=0.014", "duration=0.2"), preset="draft")
    folder = around.runs / "blender-import"
    start_run(scene, folder, name="blender-import", overwrite=True)
    finished = open_run(folder)
    numbers = [0, 3, 6]
    outcome = Outcome()
    for kind in WRITERS:
        around.say(f"{kind} to Blender")
        outcome.checks += checks(finished, numbers, kind, around.runs / "blender-import-files")
    return outcome


CASE = Case(
    "blender-import",
    "Exports opened by Blender",
    "A run is exported to USD, Alembic, glTF and .blend and opened by Blender's own importers. Every obstacle's world "
    "matrix and first vertex, the box of the skin and the camera are compared with the scene, turned to z up.",
    run,
)
