"""What moving the cuts between ranks is worth, counted in one process.

    python -m benchmarks.rank_balance SCENE [KEY=VALUE ...]

Runs the draft of a scene whose material goes elsewhere, and prints for 4 and 16 ranks the cost of the costliest rank
over the mean, as a mean of all steps and at its largest, with the cuts of the first step and with those that ranks
move as the blocks fill and empty. The ratio of the means is how much longer steps would take without moving the cuts,
if they took as long as those of the costliest rank. The cost of a block is that of `ranks/cuts.py`.
"""

import sys

import numpy as np

from spume.methods import method_class
from spume.ranks.cuts import UNEVEN, costs, even_cuts, imbalance
from spume.ranks.team import EVERY
from spume.scene.loading import load_scene

SIZES = (4, 16)


class Balance:
    """Imbalance of so many ranks from look to look, with cuts that stay and with cuts that move."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stay = self.move = None
        self.found: list[tuple[float, float]] = []

    def look(self, keys, points, dimension):
        cost = costs(points)
        if self.stay is None:
            self.stay = self.move = even_cuts(keys, cost, self.size, dimension)
        if imbalance(cost, self.move.owners(keys), self.size) > UNEVEN:
            self.move = even_cuts(keys, cost, self.size, dimension)
        self.found.append(tuple(imbalance(cost, cuts.owners(keys), self.size) for cuts in (self.stay, self.move)))


def main(name: str, changes: list[str]) -> None:
    """Measure."""
    scene = load_scene(name, changes, preset="draft")
    method = method_class(scene.method)(scene)
    world, balances = method.world, [Balance(size) for size in SIZES]

    def look() -> bool:
        if world.steps % EVERY == 1:
            keys = np.concatenate([species.cells.keys for species in world.species])
            points = np.concatenate([np.diff(species.cells.cell_start[::64]) for species in world.species])
            keys, place = np.unique(keys, return_inverse=True)
            for balance in balances:
                balance.look(keys, np.bincount(place, points).astype(np.int64), world.dimension)
        return False

    method.advance(scene.duration, look, lambda progress: None)
    print(f"{name}: {world.count:,} points, {world.steps:,} steps")
    for balance in balances:
        (stay, move), (worst, best) = np.mean(balance.found, axis=0), np.max(balance.found, axis=0)
        print(
            f"  {balance.size:3} ranks: cuts that stay {stay:.2f} (at most {worst:.2f}), "
            f"that move {move:.2f} (at most {best:.2f}), ratio {stay / move:.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
