"""Sand and water: explicit steps compared with peers, the cost of a MINRES iteration, preconditioners, explicit and
semi-implicit steps, and Table 2 of [Tampubolon17].

    python -m benchmarks.sand                 # everything; the table alone takes about an hour
    python -m benchmarks.sand explicit minres # some of explicit, minres, drag, stiffness, table2
"""

import math
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks import sand_table
from benchmarks.timing import best_of, machine
from spume.mixture.exchange import find_drag
from spume.mixture.method import build_mixture
from spume.mixture.mixture import MixtureStep
from spume.mpm.implicit.coupled_system import CoupledSystem, Preconditioner, SpeciesCoupling
from spume.mpm.step import find_contacts, rasterize, sort_points
from spume.numerics.krylov import minres
from spume.scene.common import Scene
from spume.simulation import Simulation

SAND = {
    "law": "drucker-prager", "density": 1400.0, "youngs_modulus": 1e6, "poisson_ratio": 0.3, "friction_angle": 30.0,
}  # fmt: skip
GENESIS = "SPUME_GENESIS"
"""Environment variable with the Python of an environment that has genesis-world and torch, several GB in all."""
EARLIER = {"Genesis 1.4.5": 0.83, "GeoTaichi, its own scene": 0.72}
"""Million point-steps per CPU second, measured once on a similar machine; GeoTaichi has no wheel."""


def sand_column(cell: float = 0.01) -> Simulation:
    """A cylinder of sand, r = 0.1 m, h = 0.4 m, that collapses on a rough floor, as in the measurements of peers."""
    return Simulation(
        Scene(
            title="benchmark", method="mpm", duration=100.0, material={"sand": SAND},
            grid={"cell": cell, "spline": "quadratic"}, time={"dt": 1e-4},
            body=[
                {
                    "material": "sand",
                    "shape": {"cylinder": {"center": [0.0, 0.2, 0.0], "radius": 0.1, "height": 0.4}},
                }
            ],
            obstacle=[
                {
                    "shape": {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}},
                    "contact": "separate", "friction": 0.6,
                }
            ],
        )
    )  # fmt: skip


def explicit(cell: float = 0.01, steps: int = 20, before: int = 200) -> dict[str, Any]:
    """Million point-steps/s of flowing explicit sand in 3D with quadratic splines, and the shares of its stages."""
    sims = {threads: sand_column(cell) for threads in (1, 2)}

    def stretch(threads: int) -> None:
        numba.set_num_threads(threads)
        sims[threads].advance(steps * 1e-4)

    for threads, sim in sims.items():
        numba.set_num_threads(threads)
        sim.advance(before * 1e-4)
        sim.method.world.seconds.clear()
    taken = best_of({str(k): lambda k=k: stretch(k) for k in sims}, rounds=4)
    rows = {}
    for threads, sim in sims.items():
        spent = sim.method.world.seconds
        rows[threads] = {
            "rate": len(sim.particles) * steps / taken[str(threads)] / 1e6,
            "share": {stage: seconds / sum(spent.values()) for stage, seconds in spent.items()},
        }
    peers = {"Taichi": taichi_rate(cell), "Genesis": genesis_rate(cell)}
    return {"points": len(sims[1].particles), "threads": rows, "peers": peers, "earlier": EARLIER}


_TAICHI = """
import sys
from benchmarks import peer_taichi_sand, sand
from benchmarks import sand_table
from benchmarks.timing import best_of
sim = sand.sand_column(float(sys.argv[1]))
p = sim.particles
step, sync = peer_taichi_sand.build(p.x, float(sys.argv[1]), 1e-4, 1400.0, 1e6, 0.3, 30.0, threads=1)
for _ in range(200):
    step()
sync()
def stretch():
    for _ in range(10):
        step()
    sync()
print(len(p) * 10 / best_of({"step": stretch}, 3)["step"] / 1e6)
"""


def taichi_rate(cell: float) -> float | None:
    """Million point-steps/s of the same column in Taichi on one thread, or None without Taichi."""
    if find_spec("taichi") is None:
        return None
    out = subprocess.run([sys.executable, "-c", _TAICHI, str(cell)], capture_output=True, text=True, check=True)
    return float(out.stdout.split()[-1])


def genesis_rate(cell: float) -> float | None:
    """Million point-steps per CPU second of the same column in Genesis, or None without it."""
    if GENESIS not in os.environ:
        return None
    script = Path(__file__).parent / "peer_genesis_sand.py"
    out = subprocess.run([os.environ[GENESIS], str(script), str(cell)], capture_output=True, text=True, check=True)
    return float(out.stdout.split()[-1])


def blocks(youngs_modulus: float, drag: float, size: int = 20, dimension: int = 2, **tables: Any) -> Simulation:
    """Two partly overlapping blocks of sand and water, with `size` cells per side and the drag of the paper."""
    cell, side = 0.05, size * 0.05
    shape = "rectangle" if dimension == 2 else "box"
    first = {"center": [0.5 * side] * dimension, "size": [side] * dimension}
    second = {"center": [0.83 * side] * dimension, "size": [side] * dimension}
    scene = {
        "title": "benchmark", "method": "sand-water", "dimension": dimension, "duration": 100.0, "grid": {"cell": cell},
        "material": {
            "sand": SAND | {"youngs_modulus": youngs_modulus},
            "water": {"law": "water", "density": 1000.0, "bulk_modulus": youngs_modulus},
        },
        "mixture": {"drag_coefficient": drag}, "time": {"integrator": "semi-implicit", "dt": 5e-3},
        "body": [
            {"material": "sand", "shape": {shape: first}},
            {"material": "water", "shape": {shape: second}, "velocity": [-1.0, 0.5, 0.0][:dimension]},
        ],
    }  # fmt: skip
    return Simulation(Scene(**(scene | tables)))


def system_of(sim: Simulation, preconditioner: Preconditioner = "blocks") -> CoupledSystem:
    """The equations of the first step, linearised at rest."""
    state, mixture, step = sim.method.world, build_mixture(sim.scene), MixtureStep()
    sort_points(state)
    rasterize(state)
    step.fields.fit(state, 5e-3)
    find_drag(state, 5e-3, mixture, step)
    find_contacts(state, 5e-3)
    system = CoupledSystem(state, SpeciesCoupling((), step.fields.drag), 5e-3, "in-step", None, preconditioner)
    system.residual(np.zeros((system.count, state.dimension)))
    system.prepare_preconditioner()
    return system


def minres_iteration(size: int = 30) -> dict[str, float]:
    """Milliseconds of a MINRES iteration in 3D, of one transfer in each direction, and of preparing the
    preconditioner; both species, one thread."""
    numba.set_num_threads(1)
    sim = blocks(1e6, 1e4, size, 3)
    system, state = system_of(sim), sim.method.world
    right = np.random.default_rng(0).normal(size=(system.count, 3))

    def there() -> None:
        rasterize(state)

    def back() -> None:
        for part in system.parts:
            p = part.species.particles
            part.species.transfers.to_points(("velocity", "gradient"), p.x, part.fields.array, v=p.v, tensor=part.L)

    taken = best_of(
        {
            "P2G": there, "G2P": back, "preconditioner": system.prepare_preconditioner,
            "ten iterations": lambda: minres(system, right, tolerance=0.0, limit=10),
        },
        rounds=5, clock=time.process_time,
    )  # fmt: skip
    iteration = 100.0 * taken["ten iterations"]
    both = 1e3 * (taken["P2G"] + taken["G2P"])
    return {
        "points": state.count, "iteration": iteration, "P2G + G2P": both, "ratio": iteration / both,
        "preconditioner": 1e3 * taken["preconditioner"],
    }  # fmt: skip


def drag_iterations(size: int = 20) -> list[dict[str, Any]]:
    """MINRES iterations to 1e-6 for several c_E [1/(kg s)], preconditioned by node blocks and by masses only."""
    rows = []
    for modulus in (1e5, 1e7):
        for kind in ("blocks", "mass"):
            counts = {}
            for drag in (1.0, 1e2, 1e4, 1e6, 1e8):
                system = system_of(blocks(modulus, drag, size), kind)
                r, _ = system.residual(np.zeros((system.count, 2)))
                system.prepare_preconditioner()
                counts[drag] = minres(system, -r, tolerance=1e-6, limit=5000).iterations
            rows.append({"E": modulus, "preconditioner": kind, "iterations": counts})
    return rows


def stiffness(
    moduli: tuple[float, ...] = (1e5, 1e6, 1e7, 1e8, 1e9), drags: tuple[float, ...] = (1e2, 1e4, 1e6, 1e8),
    size: int = 12, simulated: float = 0.02,
) -> list[dict[str, Any]]:  # fmt: skip
    """CPU seconds per simulated second, explicit (drag node by node) and semi-implicit with Δt ≤ 5 ms."""
    rows = []
    for modulus in moduli:
        for drag in drags:
            row: dict[str, Any] = {"E": modulus, "c_E": drag}
            for integrator in ("explicit", "semi-implicit"):
                time_table = {"integrator": integrator} | ({} if integrator == "explicit" else {"dt": 5e-3})
                sim = blocks(modulus, drag, size, time=time_table)
                sim.advance(1e-4)  # compiles
                length = simulated
                if integrator == "explicit":  # as many steps as needed for a reliable time
                    length = min(simulated, 300 * 0.5 * 0.05 / math.sqrt(1.35 * modulus / 1000.0))
                start = time.process_time()
                sim.advance(length)
                row[integrator] = (time.process_time() - start) / length
            rows.append(row)
    return rows


def main(chosen: list[str]) -> dict[str, Any]:
    """Measure and print some of the parts, or all; returns what was measured."""
    measured: dict[str, Any] = {}
    parts = chosen or ["explicit", "minres", "drag", "stiffness", "table2"]
    if "explicit" in parts:
        found = measured["explicit"] = explicit()
        for threads, row in found["threads"].items():
            share = ", ".join(f"{stage} {100 * part:.0f} %" for stage, part in row["share"].items())
            print(f"explicit sand, {found['points']:,} points, {threads} thread(s): {row['rate']:.2f} M/s ({share})")
        one = found["threads"][1]["rate"]
        for peer, rate in found["peers"].items():
            if rate is not None:
                print(f"  {peer} (float32), one core: {rate:.2f} M/s; spume {one / rate:.1f}×")
        for peer, rate in found["earlier"].items():
            print(f"  {peer}: {rate:.2f} M/s, measured earlier; spume {one / rate:.1f}×")
    if "minres" in parts:
        row = measured["minres"] = minres_iteration()
        print(
            f"MINRES iteration, {row['points']:,} points: {row['iteration']:.1f} ms; P2G + G2P "
            f"{row['P2G + G2P']:.1f} ms; ratio {row['ratio']:.2f}; preparing the preconditioner "
            f"{row['preconditioner']:.1f} ms"
        )
    if "drag" in parts:
        measured["drag"] = drag_iterations()
        for row in measured["drag"]:
            counts = ", ".join(f"{drag:g}: {count}" for drag, count in row["iterations"].items())
            print(f"MINRES iterations, E = {row['E']:g} Pa, {row['preconditioner']}: {counts}")
    if "stiffness" in parts:
        print("CPU seconds per simulated second, explicit and semi-implicit")
        measured["stiffness"] = stiffness()
        for row in measured["stiffness"]:
            print(f"  E = {row['E']:g}, c_E = {row['c_E']:g}: {row['explicit']:.1f}  {row['semi-implicit']:.1f}")
    if "table2" in parts:
        measured["table 2"] = sand_table.main([])
    return measured


if __name__ == "__main__":
    print(f"sand and water on {machine()}")
    main(sys.argv[1:])
