"""Tables about points where material is stretched: filling of voids, and tearing by the total stretch."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from spume.scene.common import Count, NotNegative, Positive
from spume.scene.problems import Problem
from spume.tables import Table

if TYPE_CHECKING:
    from spume.scene.mpm import MpmScene


class Resampling(Table):
    """Filling of the voids that open between points where material is stretched, and merging of points too close."""

    enabled: bool = Field(default=True, strict=True, description="whether voids are filled")
    every: Count = Field(
        default=50,
        description="steps between two searches for voids; implicit steps search after the time of as many explicit "
        "steps",
    )
    coverage: Positive | None = Field(
        default=None,
        description="distance from every interior place to the nearest point, in half cells [1]; half the diagonal of "
        "a cube (in 2D a square) + 0.01 if absent",
    )
    depth: Annotated[float, Field(strict=True, ge=math.sqrt(3), le=4 - math.sqrt(3))] = Field(
        default=2.2, description="new points are at least this deep below the surface, in half cells [1]"
    )
    merge_distance: NotNegative = Field(
        default=0.03, description="points nearer than this are merged, in half cells [1]"
    )


class StretchTearing(Table):
    """Points that are stretched too far are torn: they resist compression only."""

    enabled: bool = Field(default=True, strict=True, description="whether material tears")
    stretch: Annotated[float, Field(strict=True, gt=1, le=1e6)] = Field(
        description="stretch of a bar at which it tears; any change of shape counts by the equal ‖dev C̄‖ [1]"
    )
    recovery_time: Positive | None = Field(
        default=None,
        description="time in which the stretch that counts decays, for fluids; none: it counts from the start [s]",
    )
    every: Count = Field(
        default=10,
        description="steps between two applications of the decay; implicit steps apply it after the time of as many "
        "explicit steps",
    )

    @property
    def threshold(self) -> float:
        """‖dev C̄‖ of a bar with this stretch at constant volume, √(2/3) (λ² − 1/λ) [1]."""
        return math.sqrt(2.0 / 3.0) * (self.stretch**2 - 1.0 / self.stretch)


def coverage_problems(table: Resampling, dimension: int) -> Iterator[Problem]:
    """Lengths that contradict each other."""
    half_diagonal = math.sqrt(dimension) / 2
    coverage, merge = table.coverage, table.merge_distance
    if coverage is not None and not half_diagonal < coverage < 1:
        yield Problem(
            "resampling.coverage",
            f"is {coverage:g}: in {dimension}D it should be greater than {half_diagonal:.4g}, or a lattice of "
            "points would have voids, and less than 1",
        )
    if merge >= (coverage or half_diagonal):
        yield Problem(
            "resampling.merge_distance",
            f"is {merge:g}: it should be less than {coverage or half_diagonal:.4g}, or merging opens voids again",
        )


def _nothing_resampled(scene: "MpmScene") -> Iterator[Problem]:
    """The points of a body with an embedded surface stay as they are, because the mesh is bound to them."""
    if scene.body and len(scene.embedded_bodies) == len(scene.body) and not scene.emitter:
        yield Problem(
            "resampling", "has no effect: every body has surface = 'embedded', whose points stay as they are; drop it, "
            "or set surface = 'reconstructed'",
        )  # fmt: skip


def stretching_problems(scene: "MpmScene") -> Iterator[Problem]:
    """What the tables [resampling] and [tearing] of plain scenes contradict."""
    given = {"resampling": scene.resampling, "tearing": scene.tearing}
    if scene.method != "mpm":
        if scene.method == "sand-water":
            for key, table in given.items():
                if table is not None:
                    yield Problem(key, "is given with method 'sand-water', which has none: drop it")
        return
    for key, table in given.items():
        if table is None or not table.enabled:
            continue
        if scene.grid.frame == "total":
            yield Problem(key, "is given with grid.frame = 'total', where points stay in their cells: drop it")
        if scene.time.integrator == "semi-implicit" and key == "tearing":
            yield Problem(
                key, "is given with integrator 'semi-implicit': torn points need 'explicit' or 'implicit' steps"
            )
    if scene.resampling is not None and scene.resampling.enabled:
        yield from coverage_problems(scene.resampling, scene.dimension)
        yield from _nothing_resampled(scene)
