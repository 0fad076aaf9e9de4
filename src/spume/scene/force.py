"""External forces on points: the tables [[force]] of scenes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from spume.errors import SceneError
from spume.geometry.shapes import Shape
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.sequences import has_sequence
from spume.scene.problems import Problem, shown
from spume.tables import Direction, Number, Table, Vector

if TYPE_CHECKING:
    from spume.scene.material_scene import MaterialScene

KINDS = ("acceleration", "force", "growth", "traction", "pressure")
"""Kinds of load, of which a table [[force]] gives one."""


class ForceTable(Table):
    """A force on the material in a shape: an acceleration, a total force, a force that grows from a centre, or a load
    on its surface."""

    name: str = Field(default="", description="a name for messages")
    shape: Shape | None = Field(default=None, description="where it acts, fixed in space; everywhere if absent")
    acceleration: Vector | None = Field(default=None, description="acceleration of the points in the shape [m/s²]")
    force: Vector | None = Field(
        default=None, description="total force, distributed over the points in the shape by mass [N], in 2D [N/m]"
    )
    growth: Vector | None = Field(
        default=None,
        description="acceleration per distance from `center` along each axis; negative values compress [1/s²]",
    )
    center: Vector | None = Field(default=None, description="where a force that grows vanishes [m]; with `growth`")
    traction: Vector | None = Field(
        default=None, description="force per area of the surface in the shape that faces `normal` [Pa]"
    )
    normal: Direction | None = Field(
        default=None, description="outward normal of the loaded surface; opposite to the traction if absent [1]"
    )
    pressure: Number | None = Field(
        default=None, description="load along the inward normal of the surface in the shape [Pa]"
    )
    times: tuple[Number, ...] = Field(default=(0.0,), min_length=1, description="times, increasing [s]")
    factors: tuple[Number, ...] = Field(
        default=(1.0,), min_length=1, description="factor at each time: linear between, constant before and after [1]"
    )

    @property
    def species(self) -> str:
        """Name of the species it acts on, or "all"."""
        return "all"

    @property
    def kinds(self) -> list[str]:
        """Which of KINDS are given."""
        return [key for key in KINDS if getattr(self, key) is not None]


def force_problems(scene: "MaterialScene") -> Iterator[Problem]:
    """Problems of the forces of a scene."""
    for k, force in enumerate(scene.force):
        path = f"force.{k}"
        yield from _kind_problems(force, path)
        for key in ("acceleration", "force", "growth", "center", "traction", "normal"):
            value = getattr(force, key)
            if value is not None and len(value) != scene.dimension:
                yield Problem(
                    f"{path}.{key}",
                    f"is {shown(value)}: a vector of a {scene.dimension}D scene has {scene.dimension} components",
                )
        if len(force.times) != len(force.factors):
            yield Problem(
                path, f"has {len(force.times)} times and {len(force.factors)} factors: each time needs one factor"
            )
        if any(later <= earlier for earlier, later in zip(force.times, force.times[1:])):
            yield Problem(f"{path}.times", f"is {shown(force.times)}: each time should be greater than the one before")
        if force.shape is not None:
            try:
                bounds(force.shape, scene.dimension)
                if has_sequence(force.shape):
                    yield Problem(f"{path}.shape", "has a 'mesh_sequence': only obstacles deform as files say")
            except SceneError as error:
                yield Problem(f"{path}.shape", f"is wrong: {error}")


def _kind_problems(force: ForceTable, path: str) -> Iterator[Problem]:
    kinds = force.kinds
    if len(kinds) != 1:
        found = "none of" if not kinds else "more than one of"
        yield Problem(path, f"has {found} {', '.join(KINDS)}: give one of them")
        return
    if (kinds[0] == "growth") != (force.center is not None):
        missing, other = ("center", "growth") if force.center is None else ("growth", "center")
        yield Problem(path, f"has '{other}' without '{missing}': a force that grows needs both")
    if force.normal is not None and kinds[0] != "traction":
        yield Problem(f"{path}.normal", f"is given with '{kinds[0]}': it belongs to 'traction'")
    if force.traction is not None and force.normal is None and not any(force.traction):
        yield Problem(f"{path}.traction", "is zero: give it a direction, or a 'normal'")
