"""Checks of the initial material: inside the walls, outside the obstacles, and without overlapping bodies."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.motion import pose
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes import ShapeModel
from spume.matter.environment import leaves_surface
from spume.numerics.rows import rows_times
from spume.ranks.ranks import Ranks
from spume.scene.bodies import Body
from spume.scene.emitter import Emitter
from spume.scene.followers import moving_obstacles
from spume.scene.material_scene import MaterialScene

SAMPLE = 2000
"""Number of points of a body that are tested against another body."""


class Initial(NamedTuple):
    """Points of a source that this rank has."""

    numbers: NDArray[np.int64]
    """Their numbers among all of a release."""
    whole: int
    """Number of points of a release."""
    releases: list[tuple[float, NDArray[np.float64]]]
    """Times [s] and positions [m] of some releases."""


def check_placement(scene: MaterialScene, sources: Sequence[Initial], names: list[str], ranks: Ranks) -> None:
    """Raise SceneError if material starts outside the walls or wholly inside an obstacle, or if bodies of one species
    overlap.

    sources, names: points of each source, bodies first, and its name in messages.
    ranks: the processes that have the others. All raise the same error.
    """
    tables: tuple[Body | Emitter, ...] = (*scene.body, *scene.emitter)
    for table, source, name in zip(tables, sources, names):
        for time, x in source.releases:
            called = name if time == source.releases[0][0] else f"{name}, at {time:.4g} s on its way,"
            _check_walls(scene, x, called, ranks)
            _check_obstacles(scene, table, x, called, time, ranks)
    for (j, first), (k, second) in itertools.combinations(enumerate(scene.body), 2):
        same_species = scene.species_of(first.material) == scene.species_of(second.material)
        if first.start == second.start and same_species:
            smaller, larger = (j, k) if sources[j].whole <= sources[k].whole else (k, j)
            _check_overlap(scene, scene.body[larger].shape, sources[smaller], names[smaller], names[larger], ranks)


def _check_walls(scene: MaterialScene, x: NDArray[np.float64], name: str, ranks: Ranks) -> None:
    walls = scene.walls
    if walls is None:
        return
    below, above = np.array(walls.lower) - x, x - np.array(walls.upper)
    beyond = ranks.maxima(np.concatenate([below, above], axis=1).max(axis=0, initial=-np.inf))
    worst = int(np.argmax(beyond))
    # A body may extend into the walls by up to a cell, to be held firmly. A run stops when a point is further beyond.
    if beyond[worst] > scene.cell:
        side, axis = ("lower", "upper")[worst // scene.dimension], "xyz"[worst % scene.dimension]
        outside, count = ranks.counts(int((np.maximum(below, above).max(axis=1) > 0).sum()), len(x))
        raise SceneError(
            f"{name} reaches {beyond[worst]:.3g} m beyond {scene.walls_key}.{side} along {axis}, with "
            f"{100 * outside / count:.2g} % of its points: move it inside, or the wall outwards"
        )


def _check_obstacles(
    scene: MaterialScene, table: Body | Emitter, x: NDArray[np.float64], name: str, time: float, ranks: Ranks
) -> None:
    for k, obstacle in enumerate(moving_obstacles(scene)):
        if leaves_surface(table, obstacle) or not scene.holds(obstacle, scene.species_of(table.material)):
            continue
        program = compile_shape(obstacle.shape, scene.dimension, scene.folder)
        placed = pose(obstacle.motion, time, scene.dimension)
        d = scene.dimension
        local = rows_times(x - placed.p[:d], placed.R[:d, :d])
        # a few points usually suffice to show that a body is not wholly inside
        if not ranks.any(bool((distances(program, local[:: max(1, len(x) // 50)]) > 0).any())) and not ranks.any(
            bool((distances(program, local) > 0).any())
        ):
            called = f"'{obstacle.name}'" if obstacle.name else str(k)
            raise SceneError(f"{name} lies wholly inside obstacle {called}, where it cannot move: move one of them")


def _check_overlap(
    scene: MaterialScene, shape: ShapeModel, source: Initial, name: str, other: str, ranks: Ranks
) -> None:
    sample = source.releases[0][1][source.numbers % max(1, source.whole // SAMPLE) == 0]
    covered = distances(compile_shape(shape, scene.dimension, scene.folder), sample) < 0
    hidden, count = ranks.counts(int(covered.sum()), len(sample))
    inside = hidden / max(count, 1)
    if inside > 0.5:
        raise SceneError(
            f"{100 * inside:.3g} % of {name} is inside {other}, and two materials cannot fill one place: move one of "
            "them, cut one out of the other with a 'difference', or let it start later"
        )
