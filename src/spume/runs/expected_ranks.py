"""What a scene would be like on several ranks: for `spume estimate`."""

from typing import Any

import numpy as np

from spume.errors import SceneError
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.matter.sources import BASE_MEMORY, sources_of
from spume.memory import amount
from spume.methods import Estimate
from spume.ranks.support import refuse_on_ranks
from spume.ranks.surface import surface
from spume.scene.common import Scene
from spume.scene.material_scene import MaterialScene
from spume.scene.mpm import MpmScene


def expected_ranks(scene: Scene, cost: Estimate, size: int, per_node: int | None = None) -> dict[str, Any]:
    """Points and memory [bytes] of each of `size` ranks, and, for methods with a grid and material that is there at the
    start, what they have to do with each other then. Raises SceneError for what ranks cannot do.

    per_node: number of ranks on each node of a cluster; None: all are on one machine.
    """
    if size < 1:
        raise SceneError(f"--ranks {size}: a run has 1 rank or more")
    per_node = size if per_node is None else per_node
    if not 1 <= per_node <= size:
        raise SceneError(f"--per-node {per_node}: a node has 1 to {size} of the ranks")
    refuse_on_ranks(scene)
    found: dict[str, Any] = {
        "ranks": size,
        "points": -(-cost.points // size),
        "memory": BASE_MEMORY + (cost.memory - BASE_MEMORY) // size,
        "per_node": per_node,
    }
    found["memory_of_node"] = per_node * found["memory"]
    assert isinstance(scene, MaterialScene)  # others are refused
    at_start = [s.points(0)["x"] for s in sources_of(scene) if len(s.times) and s.times[0] == 0.0]
    if isinstance(scene, MpmScene) and at_start:
        order = {"quadratic": 2, "cubic": 3}[scene.grid.spline]
        cells = Cells(scene.dimension, scene.cell, STENCIL_OFFSET[order])
        cells.sort(np.concatenate(at_start))
        found |= surface(cells.keys, np.diff(cells.cell_start[::64]), size, scene.dimension, order)._asdict()
    return found


def rank_lines(expected: dict[str, Any]) -> list[str]:
    """The same as lines of text."""
    size = expected["ranks"]
    lines = [f"ranks   {size} with about {expected['points']:,} points and {amount(expected['memory'])} each"]
    if size > 1:
        place = "one machine" if expected["per_node"] == size else f"a node with {expected['per_node']} of them"
        lines.append(f"        {amount(expected['memory_of_node'])} on {place}")
    if "sent" in expected:
        lines.append(
            f"        at the start the costliest has {expected['imbalance']:.2f} times the mean, and the busiest "
            f"sends {amount(expected['sent'])} a step, to at most {expected['peers']} others"
        )
    return lines
