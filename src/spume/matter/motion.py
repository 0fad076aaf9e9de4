"""Collisions of points and their new positions: [Yue15] algorithms 16 and 17."""

import math
from typing import Any, NoReturn

import numba
import numpy as np
from numba import prange

from spume.errors import RunFailed
from spume.geometry.obstacles.collision import collide_and_move_open
from spume.grid.contacts import MARGIN
from spume.matter.obstacle_loads import WatchedPoints
from spume.matter.species import Species
from spume.matter.world import World
from spume.matter.worst import is_first
from spume.numerics.array_pointers import open_arrays
from spume.numerics.jit import compiled


def collide_and_move(world: World[Any], dt: float, advice: str) -> None:
    """Collide the velocities of points inside obstacles, then x ← x + Δt v; sticking points move rigidly with their
    obstacle. `advice` tells what to change when a velocity is not finite."""
    threads = numba.get_num_threads()
    fastest, lost = 0.0, False
    for species in world.species:
        p, obstacles = species.particles, world.obstacles_for(species, dt)
        travelled = world.obstacles.travelled
        tasks = len(p) * np.arange(threads + 1) // threads
        speed, broken = np.zeros(threads), np.zeros(threads, np.int64)
        clear_until, margin = species.clear_until(), MARGIN * world.cell
        watched = None
        if len(world.obstacles) and world.obstacle_loads.active:
            watched = WatchedPoints(p.x, p.v, clear_until, travelled + margin)
        sides = world.passages.sides(p.x)
        move_points[world.dimension](tasks, dt, obstacles, travelled, margin, clear_until, p.x, p.v, speed, broken)
        world.passages.count(sides, p.x, p.mass)
        if watched is not None:
            watched.load(world.obstacle_loads, obstacles, p.v, p.mass)
        fastest = max(fastest, float(speed.max(initial=0.0)))
        lost = lost or broken.max(initial=-1) >= 0
    world.speed = world.ranks.largest(math.inf if lost else fastest)
    if world.speed == math.inf:
        report_lost(world, dt, advice)


def report_lost(world: World[Any], dt: float, advice: str) -> None:
    """Raise the error for the point with the lowest id whose velocity is not finite, on all ranks."""
    for species in world.species:
        p = species.particles
        broken = np.flatnonzero(~np.isfinite(np.einsum("ij,ij->i", p.v, p.v)))
        point = int(broken[np.argmin(p.id[broken])]) if broken.size else None
        mine = is_first(world.ranks, None if point is None else (float(p.id[point]),), 1)
        with world.ranks.agreed():
            if mine and point is not None:
                report_broken_point(world, species, point, dt, advice)


def report_broken_point(world: World[Any], species: Species, point: int, dt: float, advice: str) -> NoReturn:
    """Raise the error for a point whose velocity is not finite."""
    p = species.particles
    place = ", ".join(f"{c:.4g}" for c in p.x[point])
    law, _ = species.model.materials[int(p.material[point])]
    raise RunFailed(
        f"the velocity of point {p.id[point]} near ({place}) is not finite at t = {world.time + dt:.6g} s "
        f"(dt = {dt:.3g} s, material {int(p.material[point])}, law {law.name}): {advice}"
    )


def _make_move(dimension: int) -> Any:
    D = dimension

    @compiled(parallel=True)
    def move(tasks, dt, obstacles, travelled, margin, clear_until, x, v, speed, broken_point):
        """Move the points. For each task, a range of points, write the largest speed [m/s] and the index of a point
        whose velocity is not finite, −1 if there is none."""
        for task in prange(tasks.size - 1):
            fastest = 0.0
            broken = -1
            o = open_arrays(obstacles)
            for p in range(tasks[task], tasks[task + 1]):
                if not clear_until[p] > travelled + margin:  # also if both are infinite: unknown
                    pz = x[p, 2] if D == 3 else 0.0
                    vz = v[p, 2] if D == 3 else 0.0
                    px, py, pz, ux, uy, uz, clearance = collide_and_move_open(
                        o, dt, x[p, 0], x[p, 1], pz, v[p, 0], v[p, 1], vz
                    )
                    v[p, 0] = ux
                    v[p, 1] = uy
                    if D == 3:
                        v[p, 2] = uz
                    clear_until[p] = travelled + clearance
                else:
                    px = x[p, 0] + dt * v[p, 0]
                    py = x[p, 1] + dt * v[p, 1]
                    pz = x[p, 2] + dt * v[p, 2] if D == 3 else 0.0
                square = 0.0
                for q in range(D):
                    square += v[p, q] * v[p, q]
                if square < np.inf:
                    x[p, 0] = px
                    x[p, 1] = py
                    if D == 3:
                        x[p, 2] = pz
                    fastest = max(fastest, square)
                    clear_until[p] -= dt * math.sqrt(square)
                else:
                    broken = p  # it is not moved, so that the message can give its position
            speed[task] = math.sqrt(fastest)
            broken_point[task] = broken

    return move


move_points = {2: _make_move(2), 3: _make_move(3)}
"""By dimension."""
