"""Dry foams with prescribed cell areas: `python -m validation.dry_foam_targets`.

Voronoi foams of 20 to 400 cells (uniform in the logarithm), alternately periodic and free, get areas of four kinds in
turn: polydispersity 0, 0.5 and 2, ranked like the Voronoi areas, and areas with ratios up to 1:1000, uniform in the
logarithm and unrelated to the Voronoi areas. Each foam is brought to equilibrium and checked: invariants, areas,
angles, no descending mode. Prints a line for each foam that failed, and the counts; the exit status is 1 if one failed.
"""

import argparse
import sys
import time

import numpy as np

from spume.dryfoam import Foam
from spume.dryfoam.equilibrium.report import Report
from spume.dryfoam.network import Boundary
from spume.errors import SpumeError

SMALLEST, LARGEST = 20, 400
KINDS: tuple[float | str, ...] = (0.0, 0.5, 2.0, "1:1000")


def make(seed: int, boundary: Boundary, kind: float | str) -> Foam:
    """A Voronoi foam with prescribed areas, whose size is drawn with `seed`."""
    generator = np.random.default_rng(seed)
    cells = round(SMALLEST * (LARGEST / SMALLEST) ** generator.random())
    if isinstance(kind, float):
        return Foam.voronoi(cells, boundary, seed=seed, polydispersity=kind)
    foam = Foam.voronoi(cells, boundary, seed=seed)
    areas = 1000.0 ** generator.random(cells)
    foam.network.targets = areas * (foam.network.targets.sum() / areas.sum())
    return foam


def check(foam: Foam) -> Report:
    """Bring the foam to equilibrium; raise SpumeError if the result is not a stable equilibrium."""
    report = foam.equilibrate()
    foam.validate()
    area = float(np.max(np.abs(foam.areas / foam.network.targets - 1.0)))
    angle = float(np.max(np.abs(foam.angles / (2.0 * np.pi / 3.0) - 1.0)))
    if max(area, angle) > 1e-8:
        raise SpumeError(f"areas are off by {area:.2g}, angles by {angle:.2g}")
    if not foam.stability(1).stable:
        raise SpumeError("the equilibrium is a saddle point")
    return report


def main() -> int:
    """Run the foams and print the results."""
    parser = argparse.ArgumentParser(prog="python -m validation.dry_foam_targets", description=__doc__)
    parser.add_argument("--foams", type=int, default=200, help="how many")
    parser.add_argument("--first-seed", type=int, default=50_000, help="first of consecutive seeds")
    given = parser.parse_args()
    failed, helped, began = 0, Report(), time.process_time()
    for k in range(given.foams):
        seed, kind = given.first_seed + k, KINDS[k // 2 % len(KINDS)]
        boundary: Boundary = "periodic" if k % 2 == 0 else "free"
        foam = make(seed, boundary, kind)
        try:
            helped.add(check(foam))
        except SpumeError as error:
            failed += 1
            print(f"seed {seed}, {foam.cells} cells, {boundary}, areas {kind}: {error}", flush=True)
    spent = time.process_time() - began
    print(f"{failed} of {given.foams} foams failed; {spent:.0f} s of CPU time")
    print(
        f"{helped.flips} T1s, {helped.stages} stages, {helped.restarts} restarts, {helped.saddles} saddle points left, "
        f"{helped.fallbacks} fallbacks"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
