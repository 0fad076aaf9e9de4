"""Table 2 of [Tampubolon17] in seconds per frame: the paper's, ours with its scheme, and our fastest of equal quality.

    python -m benchmarks.sand_table                                # all rows, with at most 20,000 points each
    python -m benchmarks.sand_table --points 1e5 sand-wedge-wet    # with more points
    python -m benchmarks.sand_table --points 2000 sand-pile        # some rows, quickly

Seconds are processor seconds of one thread. Those of a frame follow from a stretch of each scene: its processor time
per simulated second, times the length of a frame, times the paper's number of points over that of the scene. The paper
does not state the length of its frames, its machine and its cores; 1/24 s is assumed. Our scenes have SI units, and the
paper's cell, largest step and, in semi-implicit rows, distance that sound travels in it.

The stretch begins when the scene is in motion, after explicit steps up to the time `start` of the row, or, with an
emitter, up to a part of its points; all schemes of a row begin from that state.

Rows of more points than --points are measured with larger cells and steps and extrapolated: the cost of a step grows
with the points, and the number of steps with one over the cell. Iterations of semi-implicit steps are taken to be the
same, because stiffness, gravity and the distance in cells that sound travels in a step are.

Its scheme: explicit steps of the paper's length, by their cost per step, or semi-implicit steps with
scheme = "printed", which are shorter than the paper's largest step where points would move by more than half a cell.
Fastest of equal quality: the least of explicit steps of automatic length, without the paper's limit, and, in
semi-implicit rows, steps that converge; of the same scene with the same stiffness.

The table is written to benchmarks/table2.json.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba

from benchmarks.timing import machine
from spume.errors import RunFailed
from spume.scene.common import Scene
from spume.scene.loading import load_scene
from spume.simulation import Simulation

RESULTS = Path(__file__).parent / "table2.json"

SEMI_IMPLICIT = "time.integrator='semi-implicit'"
SOFT_PILE, SOFT_BOX = 'material."soft sand".youngs_modulus', 'material."sand of the box".youngs_modulus'
DAM, RIVER = 'material."dam soil".youngs_modulus', "material.river.bulk_modulus"


@dataclass(frozen=True)
class Row:
    """A row of [Tampubolon17] Table 2."""

    scene: str
    cell: float
    """[m]"""
    seconds: float
    """per frame, of the paper"""
    dt: float
    """largest step [s]"""
    points: float
    """of the paper"""
    start: float = 0.0
    """Time at which the stretch that is timed begins, unless there is an emitter [s]"""
    changes: tuple[str, ...] = ()
    moduli: dict[str, float] = field(default_factory=dict)
    """Keys of moduli, and the distance sound travels in a step of the paper, in cells. From ρ, E, ν or ρ, k, γ of the
    table; the work of a semi-implicit step grows with it."""


def in_cells(density: float, youngs_modulus: float, dt: float, cell: float) -> float:
    """c Δt/h of a solid with Poisson's ratio 0.4, as in all rows of the table."""
    return math.sqrt(youngs_modulus * 0.6 / (1.4 * 0.2) / density) * dt / cell


def water_in_cells(density: float, k: float, exponent: float, dt: float, cell: float) -> float:
    """c Δt/h of water."""
    return math.sqrt(k * exponent / density) * dt / cell


TABLE_2 = [
    Row("hourglass", 0.0037, 0.84, 5e-4, 3.0e4, 0.5),
    Row("hourglass", 0.0074, 0.73, 5e-4, 3.0e4, 0.5),
    Row("sand-pile", 0.0025, 7.26, 5e-5, 4.7e4),
    Row(
        "sand-pile-semi-implicit", 0.0025, 3.39, 1e-4, 4.7e4,
        moduli={SOFT_PILE: in_cells(20.0, 100.0, 1e-4, 0.0025)},
    ),
    Row(
        "sand-pile-unilateral", 0.0025, 0.67, 1e-2, 4.7e4,
        moduli={SOFT_PILE: in_cells(20.0, 100.0, 1e-2, 0.0025)},
    ),
    Row(
        "sand-column-unilateral", 0.004, 24.30, 1e-3, 9.4e3, 0.1, ("time.dt='auto'",),
        {SOFT_PILE: in_cells(2.0, 100.0, 1e-3, 0.004)},
    ),
    Row("sand-wedge", 0.003, 129.65, 1e-4, 1.0e6, 0.2),
    Row(
        "sand-wedge-wet", 0.003, 72.65, 1e-3, 1.0e6, 0.2, (SEMI_IMPLICIT,),
        {SOFT_BOX: in_cells(4.0, 24.0, 1e-3, 0.003)},
    ),
    Row(
        "dam-breach-2d", 0.0115, 59.09, 1e-3, 1.7e5, 0.3, (SEMI_IMPLICIT,),
        {DAM: in_cells(2.0, 400.0, 1e-3, 0.0115), RIVER: water_in_cells(2.0, 50.0, 3.0, 1e-3, 0.0115)},
    ),
    # the authors' cell of 0.01 is in their units: this one gives as many points
    Row(
        "dam-breach", 0.0214, 268.99, 1e-3, 3.0e6, 0.5, (SEMI_IMPLICIT,),
        {DAM: in_cells(2.0, 100.0, 1e-3, 0.01), RIVER: water_in_cells(2.0, 100.0, 7.0, 1e-3, 0.01)},
    ),
]  # fmt: skip
FILLED = 0.3
"""Piles grow until they have this fraction of the points of the row, or for half of their duration."""
MOST = 20_000.0
"""Points above which a row is measured with larger cells"""
FRAME = 1.0 / 24.0
"""Assumed length of a frame of the paper [s]"""
BUDGET = 30.0
"""Processor seconds after which the stretch of a scene that is timed ends [s]"""
LEAST = 4
"""Steps that are timed at least"""


def scene_of(row: Row, coarser: float = 1.0, *more: str) -> Scene:
    """The scene of a row with the paper's largest step, with moduli for which sound travels as many cells in it, and
    with changes of its keys. With coarser cells the steps are as much longer."""
    cell, dt = coarser * row.cell, coarser * row.dt
    scene = load_scene(row.scene, [f"grid.cell={cell}", *row.changes, f"time.max_dt={dt}"])
    changes = []
    for key, cells in row.moduli.items():
        name = key.split(".")[1].strip('"')
        material = next(m for m in scene.materials if m.name == name)
        stiffness = material.parameters.density * (cells * cell / dt) ** 2
        if key.endswith("youngs_modulus"):
            nu = material.parameters.poisson_ratio
            stiffness *= (1.0 + nu) * (1.0 - 2.0 * nu) / (1.0 - nu)
        changes.append(f"{key}={stiffness}")
    return load_scene(row.scene, [f"grid.cell={cell}", *row.changes, f"time.max_dt={dt}", *changes, *more])


def moving(row: Row, scene: Scene, points: float) -> Simulation:
    """The scene in motion, by explicit steps; `points` is the number that a pile shall have in the end."""
    sim = Simulation(scene)
    if not row.start:
        while len_of(sim) < FILLED * points and sim.time < 0.5 * sim.scene.duration:
            sim.advance(sim.scene.duration / 200)
    else:
        sim.advance(row.start)
    return sim


def continued(earlier: Simulation, scene: Scene) -> Simulation:
    """A simulation of `scene`, by other steps, from the state of an earlier one."""
    sim = Simulation(scene)
    own, (arrays, values) = sim.method.checkpoint()[1], earlier.method.checkpoint()
    sim.method.restore(arrays, own | values | {"last_dt": 0.0})  # the step does not grow from that of the earlier one
    return sim


def stretch(sim: Simulation, budget: float) -> dict[str, Any]:
    """Processor seconds per simulated second and per step of a stretch of a simulation, its points, and what its solver
    reports."""
    world = sim.method.world
    sim.advance(1e-9)  # chooses the length of a step
    sim.advance(min(max(world.time_step.last, 1e-9), FRAME))  # compiles
    first, steps, began = sim.time, world.steps, time.process_time()
    while True:
        length = max(world.time_step.last, 1e-9)
        sim.advance(min(LEAST * length, FRAME))
        taken, done = time.process_time() - began, world.steps - steps
        if done >= LEAST and (sim.time - first >= FRAME or taken > budget):
            break
    report = sim.diagnostics()
    reported = ("repeated_steps", "unconverged_steps", "largest_residual")
    return {
        "points": len_of(sim), "per second": taken / (sim.time - first), "per step": taken / done,
        "steps per frame": FRAME * done / (sim.time - first),
    } | {key: report[key] for key in reported if key in report}  # fmt: skip


def step_at_full_size(row: Row) -> tuple[int, float]:
    """Points of the scene at the paper's size, and processor seconds of one of its first explicit steps."""
    numba.set_num_threads(1)
    sim = Simulation(scene_of(row, 1.0, "time.integrator='explicit'", "time.max_dt=1.0"))
    sim.advance(1e-9)
    length = sim.method.world.time_step.last
    sim.advance(length)
    steps, began = sim.method.world.steps, time.process_time()
    sim.advance(LEAST * length)
    return len_of(sim), (time.process_time() - began) / (sim.method.world.steps - steps)


def len_of(sim: Simulation) -> int:
    """Number of points of all species."""
    return int(sim.method.world.count)


def table_2(names: list[str], most: float = MOST, budget: float = BUDGET) -> Iterator[dict[str, Any]]:
    """The rows of the table for the scenes in `names`, or all."""
    numba.set_num_threads(1)
    for row in TABLE_2:
        if names and row.scene not in names:
            continue
        dimension = load_scene(row.scene).dimension
        coarser = max(1.0, (row.points / most) ** (1.0 / dimension))
        implicit = scene_of(row, coarser).time.integrator == "semi-implicit"
        free = ("time.max_dt=1.0",)
        schemes = {"explicit": ("time.integrator='explicit'", *free)}
        if implicit:
            schemes |= {"converged": (), "printed": ("semi_implicit.scheme='printed'",)}
        found: dict[str, dict[str, Any]] = {}
        earlier = moving(row, scene_of(row, coarser, *schemes["explicit"]), row.points / coarser**dimension)
        for name, changes in schemes.items():
            try:
                found[name] = stretch(continued(earlier, scene_of(row, coarser, *changes)), budget)
            except RunFailed as failure:
                found[name] = {"failure": str(failure)}
        seconds = {
            name: coarser * one["per second"] * FRAME * row.points / one["points"]
            for name, one in found.items() if "failure" not in one
        }  # fmt: skip
        if implicit:
            theirs = seconds.get("printed")
        else:
            one = found["explicit"]
            theirs = one["per step"] * FRAME / row.dt * row.points / one["points"]
        equal = {name: value for name, value in seconds.items() if name != "printed"}
        fastest = min(equal, key=lambda name: equal[name])
        yield {
            "scene": row.scene, "cell": row.cell, "coarser": coarser, "points": row.points, "paper": row.seconds,
            "its scheme": "printed" if implicit else "explicit", "with its scheme": theirs, "fastest": fastest,
            "fastest of equal quality": equal[fastest], "measured": found,
        }  # fmt: skip


def line(row: dict[str, Any]) -> str:
    """A row of the printed table."""
    theirs = row["with its scheme"]
    own = "fails" if theirs is None else f"{theirs:.3g}"
    return (
        f"{row['scene']:24} {1e3 * row['cell']:6.3g} × {row['coarser']:<4.3g} {row['points']:9.3g} "
        f"{row['paper']:8.2f} {own:>8} ({row['its scheme']}) {row['fastest of equal quality']:8.3g} ({row['fastest']})"
    )


def main(names: list[str], most: float = MOST, budget: float = BUDGET) -> list[dict[str, Any]]:
    """Print the table row by row, write it to RESULTS, and return it."""
    print("scene, cell [mm] × factor of the measured one, points;", end=" ")
    print("seconds per frame: the paper, ours with its scheme, our fastest of equal quality")
    rows = []
    for row in table_2(names, most, budget):
        rows.append(row)
        print(line(row), flush=True)
        RESULTS.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Table 2 of Tampubolon et al. 2017 in seconds per frame")
    parser.add_argument("scenes", nargs="*", help="rows to measure, by scene; all if absent")
    parser.add_argument("--points", type=float, default=MOST, help="points above which cells are larger")
    parser.add_argument("--budget", type=float, default=BUDGET, help="processor seconds per scene and scheme")
    chosen = parser.parse_args()
    print(f"on {machine()}, one thread")
    main(chosen.scenes, chosen.points, chosen.budget)
