"""Drained obstacles and regions: water passes through their surface and is removed behind it."""

from typing import Any

import numpy as np

from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.mpm.world import GridWorld
from spume.numerics.rows import rows_times
from spume.scene.sand_water import SandWaterScene, SelectiveObstacle

DEPTH = 2.0
"""Depth below the surface of a solid at which water is removed [cells], beyond the reach of the splines of points
outside; a region that holds nothing removes all of its water."""


class Drains:
    """The drained obstacles of a scene, and the water they have removed."""

    def __init__(self, scene: SandWaterScene) -> None:
        self._shapes = [
            (k, compile_shape(o.shape, scene.dimension, scene.folder), 0.0 if o.holds == "none" else DEPTH)
            for k, o in enumerate(scene.obstacle)
            if isinstance(o, SelectiveObstacle) and o.drained
        ]
        self.mass = 0.0
        """Mass of the water removed since the start [kg]"""
        self.points = 0

    def __len__(self) -> int:
        return len(self._shapes)

    def drain(self, world: GridWorld, dt: float) -> None:
        """Remove the water that is deep inside a drained obstacle, or anywhere in a drained region."""
        p = world.species[1].particles
        gone = np.zeros(len(p), np.bool_)
        d, poses = world.dimension, world.obstacles.at(world.time).poses
        for k, program, depth in self._shapes:
            R, position = poses[k, :9].reshape(3, 3), poses[k, 9:12]
            local = rows_times(p.x - position[:d], R[:d, :d])
            gone |= distances(program, local) < -depth * world.cell
        if count := world.ranks.count(int(gone.sum())):
            self.mass += world.ranks.total(p.mass[gone])
            self.points += count
            p.take(~gone)

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """What has been removed since the start."""
        return self.checkpoint()

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {"drained_mass": self.mass, "drained_points": self.points} if len(self) else {}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        if len(self):
            self.mass, self.points = values["drained_mass"], values["drained_points"]
