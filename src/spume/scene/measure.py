"""Measurements of a scene: [[measure]] tables, each with a name and a quantity."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from spume.scene.common import Positive
from spume.scene.problems import Problem, shown
from spume.suggestions import did_you_mean
from spume.tables import Direction, Number, Table, Variant, Vector, one_key_table

if TYPE_CHECKING:
    from spume.scene.material_scene import MaterialScene

Part = Annotated[float, Field(strict=True, ge=0, lt=1)]
BODY = "name of a body or emitter; all material if absent"


class Height(Variant):
    """Extent of the material in a direction [m]: the height of a slump, the position of a front."""

    direction: Direction | None = Field(default=None, description="direction; up, along y, if absent")
    origin: Vector | None = Field(default=None, description="where the height is zero [m]; the origin if absent")
    ignore: Part = Field(default=0.0, description="outermost fraction of the mass to ignore, such as drops [1]")
    body: str | None = Field(default=None, description=BODY)


class RunOut(Variant):
    """Distance of the material furthest from an axis [m]."""

    center: Vector | None = Field(default=None, description="a point of the axis [m]; the origin if absent")
    axis: Direction | None = Field(default=None, description="direction of the axis; along y if absent")
    ignore: Part = Field(default=0.0, description="outermost fraction of the mass to ignore, such as drops [1]")
    body: str | None = Field(default=None, description=BODY)


class Rebound(Variant):
    """Height of the centre of mass in a direction [m]; as a single number, the ratio of the height it rises to after
    the first turning point to the height it fell from [1]."""

    direction: Direction | None = Field(default=None, description="direction; up, along y, if absent")
    body: str | None = Field(default=None, description=BODY)


class NeckWidth(Variant):
    """Smallest width of a strand between two positions along its axis [m], from the volume of slices across it; in 3D
    the diameter of a circle of the same area. Zero if the strand has broken."""

    axis: Direction | None = Field(default=None, description="direction of the strand; along y if absent")
    between: tuple[Number, Number] = Field(description="coordinates along the axis within which the neck is [m]")
    slice: Positive | None = Field(default=None, description="thickness of a slice [m]; four point spacings if absent")
    body: str | None = Field(default=None, description=BODY)


class Force(Variant):
    """Mean force of the material on an obstacle since the previous frame [N], in 2D per metre of depth."""

    obstacle: str = Field(description="name of the obstacle; 'obstacle.0' or 'lower wall y' if it has none")
    direction: Direction | None = Field(default=None, description="component that is measured; all if absent")


class Torque(Variant):
    """Mean torque of the material on an obstacle since the previous frame [N m], in 2D per metre of depth."""

    obstacle: str = Field(description="name of the obstacle; 'obstacle.0' or 'lower wall y' if it has none")
    about: Vector | None = Field(default=None, description="point it is about [m]; the origin if absent")
    axis: Direction | None = Field(default=None, description="component that is measured; all, in 2D z, if absent")


class Discharge(Variant):
    """Mean mass flow through a plane since the previous frame [kg/s], positive along the normal."""

    point: Vector = Field(description="a point of the plane [m]")
    normal: Direction = Field(description="normal of the plane")


class Pressure(Variant):
    """Pressure at a point [Pa]: −tr σ/3, averaged over the material points around it; none where there is no
    material."""

    point: Vector = Field(description="place of the probe [m]")
    radius: Positive | None = Field(default=None, description="reach of the average [m]; four point spacings if absent")


class Stress(Variant):
    """Stress in the material [Pa]: the von Mises stress or the pressure, its largest value or its mean by volume."""

    component: Literal["von-mises", "pressure"] = Field(default="von-mises", description="what is taken of the stress")
    statistic: Literal["max", "mean"] = Field(default="max", description="over all points")
    body: str | None = Field(default=None, description=BODY)


QUANTITIES: dict[str, type[Variant]] = {
    "height": Height,
    "run_out": RunOut,
    "rebound": Rebound,
    "neck_width": NeckWidth,
    "force": Force,
    "torque": Torque,
    "discharge": Discharge,
    "pressure": Pressure,
    "stress": Stress,
}
if TYPE_CHECKING:
    Quantity = Variant
else:
    Quantity = one_key_table("quantity", QUANTITIES)
UNITS: dict[type, str] = {Force: "N", Torque: "N m", Discharge: "kg/s", Pressure: "Pa", Stress: "Pa"}
"""Units that are not metres."""


class MeasureTable(Table):
    """A measurement, made at every frame."""

    name: Annotated[str, Field(min_length=1)] = Field(description="name of the measurement in tables and plots")
    what: Quantity = Field(description="what is measured")
    reduce: Literal["last", "first", "max", "min", "mean", "rebound"] | None = Field(
        default=None,
        description="how all frames become one number; 'last' if absent, 'min' of a neck, 'max' of a stress, 'mean' of "
        "a discharge, 'rebound' of a rebound",
    )

    @property
    def reduction(self) -> str:
        """`reduce`, or its default for the quantity."""
        usual: dict[type, str] = {NeckWidth: "min", Stress: "max", Discharge: "mean", Rebound: "rebound"}
        return self.reduce or usual.get(type(self.what), "last")

    @property
    def unit(self) -> str:
        """Unit of the values of the frames."""
        return UNITS.get(type(self.what), "m")


def obstacle_labels(scene: "MaterialScene") -> list[str]:
    """Names of the obstacles and walls of a scene in measurements."""
    named = [table.name or f"obstacle.{k}" for k, table in enumerate(scene.obstacle)]
    if scene.walls is not None:
        named += [f"{side} wall {axis}" for axis in "xyz"[: scene.dimension] for side in ("lower", "upper")]
    return named


def measure_problems(scene: "MaterialScene") -> Iterator[Problem]:
    """Problems of the measurements of a scene."""
    names: dict[str, int] = {}
    sources = [name for name in (*(body.name for body in scene.body), *(each.name for each in scene.emitter)) if name]
    tables: tuple[MeasureTable, ...] = scene.measure
    for k, table in enumerate(tables):
        if names.setdefault(table.name, k) != k:
            yield Problem(f"measure.{k}.name", f"is '{table.name}', the name of measure.{names[table.name]} already")
        what = table.what
        path = f"measure.{k}.what"
        for key, value in what:
            if key in ("direction", "origin", "center", "axis", "about", "point", "normal") and value is not None:
                wanted = 3 if isinstance(what, Torque) and key == "axis" else scene.dimension
                if len(value) != wanted:
                    yield Problem(f"{path}.{key}", f"is {shown(value)}: it should have {wanted} components here")
        body, obstacle = getattr(what, "body", None), getattr(what, "obstacle", None)
        if body is not None and body not in sources:
            wanted_name = did_you_mean(body, sources, "no body or emitter of this scene has a name")
            yield Problem(f"{path}.body", f"is '{body}', which no body or emitter is called: {wanted_name}")
        labels = obstacle_labels(scene)
        if obstacle is not None and obstacle not in labels:
            wanted_name = did_you_mean(obstacle, labels) if labels else "there is none"
            yield Problem(f"{path}.obstacle", f"is '{obstacle}', which no obstacle is called: {wanted_name}")
        if isinstance(what, NeckWidth) and not what.between[0] < what.between[1]:
            yield Problem(f"{path}.between", f"is {shown(what.between)}: the second place should be beyond the first")
        if table.reduction == "rebound" and not isinstance(what, Rebound):
            yield Problem(f"measure.{k}.reduce", "is 'rebound', which is for the quantity 'rebound' only")
