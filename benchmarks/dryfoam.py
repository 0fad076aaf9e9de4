"""Dry foam: time of an equilibrated coarsening frame, its scaling with the cells, and a whole evolution [DryFoam].

A frame is defined as in figure 5 of the paper: the areas advance, cells vanish, and the foam is brought back to
equilibrium with all T1s and T2s, here to 1e-9, in the paper to 1e-4. A step may contain many events: those less than
0.005 ⟨A⟩/(K T) apart are simultaneous, and the whole foam is equilibrated once. Times are CPU times of one thread.

`python -m benchmarks.dryfoam evolution out/` writes the times of a complete evolution, a plot like figure 5, a page of
statistics and a film.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from spume.dryfoam import Foam
from spume.dryfoam.network.half_edges import Boundary

PAPER_SECONDS = {10_000: 39.5, 11: 0.084}
"""[DryFoam] figure 5: cells and seconds of the first and the last frame, one core of 2 GHz"""
GROWTH = ((1_000, 40), (3_000, 20), (10_000, 10), (30_000, 5), (100_000, 3))
"""numbers of cells, and of measured frames"""


def frame(foam: Foam) -> dict:
    """CPU time and events of one frame of `foam`."""
    cells, began = foam.cells, time.process_time()
    events = foam.coarsen(float("inf"), most_steps=1)
    spent = time.process_time() - began
    return {"cells": cells, "seconds": spent, "flips": events.flips, "vanished": events.vanished, "time": foam.time}


def fresh(cells: int, frames: int, boundary: Boundary = "periodic", seed: int = 5) -> dict:
    """Equilibrate a Voronoi foam and measure its first frames."""
    warm = Foam.voronoi(60, boundary, seed=0)
    warm.coarsen(0.05)
    foam = Foam.voronoi(cells, boundary, seed=seed)
    began = time.process_time()
    foam.equilibrate()
    equilibrium = time.process_time() - began
    rows = [frame(foam) for _ in range(frames)]
    seconds = [row["seconds"] for row in rows]
    return {
        "cells": cells, "boundary": boundary, "equilibrium": equilibrium, "mean": float(np.mean(seconds)),
        "best": min(seconds), "worst": max(seconds), "flips": sum(row["flips"] for row in rows),
        "vanished": sum(row["vanished"] for row in rows),
    }  # fmt: skip


def steady(cells: int, frames: int, boundary: Boundary = "periodic", seed: int = 5) -> dict:
    """Measure frames of a foam of `cells` that started with a quarter more, so that T1s and T2s have steady rates."""
    foam = Foam.voronoi(round(1.25 * cells), boundary, seed=seed)
    foam.coarsen(float("inf"), until_cells=cells)
    rows = [frame(foam) for _ in range(frames)]
    seconds = [row["seconds"] for row in rows]
    return {
        "cells": cells, "boundary": boundary, "mean": float(np.mean(seconds)), "median": float(np.median(seconds)),
        "worst": max(seconds), "flips": sum(row["flips"] for row in rows),
        "vanished": sum(row["vanished"] for row in rows),
    }  # fmt: skip


def growth(largest: int = 100_000) -> list[dict]:
    """Measure the first frames of foams of 1,000 to `largest` cells."""
    return [fresh(cells, frames) for cells, frames in GROWTH if cells <= largest]


def evolution(cells: int, until_cells: int, boundary: Boundary, out: Path, shots: int = 240) -> dict:
    """Coarsen a foam from `cells` to `until_cells`; time every frame; write pictures, a plot like figure 5 and a film
    to `out`."""
    from spume.dryfoam.picture import save_film, save_frame_times, save_picture, save_statistics
    from spume.dryfoam.statistics import summary

    out.mkdir(parents=True, exist_ok=True)
    foam = Foam.voronoi(cells, boundary, seed=5, seeds="poisson-disk")
    began = time.process_time()
    foam.equilibrate()
    equilibrium = time.process_time() - began
    at = np.geomspace(cells, until_cells, shots)
    rows, networks, records = [], [foam.network.copy()], [{"time": 0.0, **summary(foam)}]
    widest = None
    while foam.cells > until_cells:
        rows.append(frame(foam))
        if len(networks) < shots and foam.cells <= at[len(networks)]:
            networks.append(foam.network.copy())
            spent = sum(row["seconds"] for row in rows)
            print(f"{foam.cells} cells left, {len(rows)} frames, {spent:.0f} s of CPU time", flush=True)
            records.append({"time": foam.time, **summary(foam)})
        if widest is None and foam.cells <= 0.5 * cells:
            widest = foam.network.copy()
    found = {
        "cells": cells, "until": until_cells, "boundary": boundary, "equilibrium": equilibrium, "frames": len(rows),
        "seconds": sum(row["seconds"] for row in rows), "worst frame": max(row["seconds"] for row in rows),
        "happened": records[-1] | {"sides": None}, "notices": foam.notices, "rows": rows,
    }  # fmt: skip
    (out / "evolution.json").write_text(json.dumps(found))
    counts, seconds = [row["cells"] for row in rows], [row["seconds"] for row in rows]
    save_frame_times(counts, seconds, out / "frame-times.png", paper=PAPER_SECONDS)
    save_statistics(widest if widest is not None else foam.network, records, out / "statistics.png")
    for part in (1.0, 0.3, 0.1, 0.03, 0.01, 0.001):
        shown = next((n for n in networks if n.cells <= part * cells), networks[-1])
        save_picture(shown, out / f"cells-{shown.cells}.png")
    save_film(networks, out / "evolution.mp4")
    return found


def main() -> None:
    """Run the requested benchmark and print the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dryfoam", description=__doc__)
    parser.add_argument("what", choices=("frame", "steady", "growth", "evolution"))
    parser.add_argument("out", nargs="?", type=Path, default=Path("out/dryfoam"), help="folder for an evolution")
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--until", type=int, default=10)
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--boundary", choices=("periodic", "free"), default="periodic")
    given = parser.parse_args()
    if given.what == "frame":
        print(json.dumps(fresh(given.cells, given.frames, given.boundary)))
    elif given.what == "steady":
        print(json.dumps(steady(given.cells, given.frames, given.boundary)))
    elif given.what == "growth":
        for cells, frames in GROWTH:
            print(json.dumps(fresh(cells, frames, given.boundary)), flush=True)
    else:
        found = evolution(given.cells, given.until, given.boundary, given.out)
        print({name: value for name, value in found.items() if name != "rows"})


if __name__ == "__main__":
    main()
