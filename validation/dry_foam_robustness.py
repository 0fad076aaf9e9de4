"""Many random dry foams coarsened to a few cells: `python -m validation.dry_foam_robustness`.

Foams of 50 to 2,000 cells (uniform in the logarithm), alternately periodic and free, from Voronoi diagrams of random
seeds, coarsen to ten cells. The invariants of the network are checked after every T1 and T2, angles and areas after
every step. Prints a line for each foam that failed or needed a fallback, and the counts; the exit status is 1 if one
failed.
"""

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spume.dryfoam import Foam
from spume.dryfoam.equilibrium.report import Options
from spume.dryfoam.network.half_edges import Boundary
from spume.errors import SpumeError

SMALLEST, LARGEST = 50, 2000


@dataclass
class Outcome:
    """Outcome of one foam."""

    seed: int
    cells: int
    boundary: Boundary
    failure: str
    """empty if it finished"""
    left: int
    """cells at the end"""
    seconds: float
    """processor time"""
    happened: dict[str, Any]
    """counts of events and fallbacks"""
    worst_error: float
    """largest error of an angle or an area after a step, relative"""


def coarsen(seed: int, boundary: Boundary, until_cells: int, event_tolerance: float, largest: int = LARGEST) -> Outcome:
    """Coarsen one random foam, whose size is drawn with `seed`."""
    cells = round(SMALLEST * (largest / SMALLEST) ** np.random.default_rng(seed).random())
    began, failure, worst = time.process_time(), "", 0.0
    foam = Foam.voronoi(cells, boundary, seed=seed)
    foam.options = Options(checks="events")
    try:
        foam.equilibrate()
        foam.validate()
        while foam.cells > until_cells:
            foam.coarsen(float("inf"), until_cells=until_cells, event_tolerance=event_tolerance, most_steps=1)
            foam.validate()
            area_error = np.max(np.abs(foam.areas / foam.network.targets - 1.0))
            angle_error = np.max(np.abs(foam.angles / (2.0 * np.pi / 3.0) - 1.0))
            worst = max(worst, float(area_error), float(angle_error))
    except SpumeError as error:
        failure = str(error)
    return Outcome(
        seed, cells, boundary, failure, foam.cells, time.process_time() - began, foam.happened.counts(), worst
    )


def main() -> int:
    """Run the foams and print the results."""
    parser = argparse.ArgumentParser(prog="python -m validation.dry_foam_robustness", description=__doc__)
    parser.add_argument("--foams", type=int, default=200, help="how many")
    parser.add_argument("--first-seed", type=int, default=1000, help="first of consecutive seeds")
    parser.add_argument("--until-cells", type=int, default=10, help="number of cells at which a foam is finished")
    parser.add_argument("--event-tolerance", type=float, default=0.005, help="event tolerance of Foam.coarsen")
    parser.add_argument("--out", type=Path, help="file for the outcomes, JSON lines")
    given = parser.parse_args()
    outcomes = []
    for k in range(given.foams):
        boundary: Boundary = "periodic" if k % 2 == 0 else "free"
        outcome = coarsen(given.first_seed + k, boundary, given.until_cells, given.event_tolerance)
        outcomes.append(outcome)
        helped = {
            name: outcome.happened[name]
            for name in ("stuck", "cycles", "fallbacks", "saddles")
            if outcome.happened[name]
        }
        if outcome.failure or helped:
            print(f"seed {outcome.seed}, {outcome.cells} cells, {boundary}: {outcome.failure or helped}", flush=True)
        if given.out is not None:
            with given.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
    failed = sum(bool(outcome.failure) for outcome in outcomes)
    total = {name: sum(o.happened[name] for o in outcomes) for name in outcomes[0].happened}
    cells, seconds = sum(o.cells for o in outcomes), sum(o.seconds for o in outcomes)
    print(f"{failed} of {given.foams} foams failed; {cells} cells, {seconds:.0f} s of CPU time")
    print(f"events: {total}; largest error of an angle or an area {max(o.worst_error for o in outcomes):.2g}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
