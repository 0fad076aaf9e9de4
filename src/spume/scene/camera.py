"""The camera and the backdrop of pictures; values may change in time."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from spume.geometry.motion.interpolation import Interpolation, KeyframedVector
from spume.materials.appearance import HexColor
from spume.tables import NotEmpty, Number, Table, Vector, wrong

Angle = Annotated[float, Field(strict=True, gt=0, lt=180)]


class _Path(Table):
    """Values at times."""

    times: Annotated[tuple[Number, ...], NotEmpty] = Field(description="times, increasing [s]")
    interpolation: Interpolation = Field(
        default="smooth", description="'smooth' starts and ends at rest with continuous speed; or 'linear'"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        values: tuple[Any, ...] = getattr(self, "values")  # noqa: B009 - of the classes below
        if any(later <= earlier for earlier, later in zip(self.times, self.times[1:])):
            raise wrong(f"'times' must increase, and these are {list(self.times)}")
        if len(values) != len(self.times):
            raise wrong(f"'times' has {len(self.times)} items and 'values' has {len(values)}: give one value per time")
        return self


class VectorPath(_Path):
    """A point that moves."""

    values: tuple[Vector, ...] = Field(description="place at each time [m]")


class AnglePath(_Path):
    """An angle that changes."""

    values: tuple[Angle, ...] = Field(description="angle at each time [degrees]")


def _is_table(value: object) -> str:
    return "path" if isinstance(value, Mapping | _Path) else "value"


Place = Annotated[Annotated[Vector, Tag("value")] | Annotated[VectorPath, Tag("path")], Discriminator(_is_table)]
FieldOfView = Annotated[Annotated[Angle, Tag("value")] | Annotated[AnglePath, Tag("path")], Discriminator(_is_table)]


class Camera(Table):
    """The camera of pictures; without it, or with `fov` alone, the material of the whole run is shown."""

    position: Place | None = Field(
        default=None,
        description="place of the eye [m], or keyframes { times, values }; where the material of the whole run is seen "
        "if absent",
    )
    target: Place | None = Field(default=None, description="point looked at [m], or keyframes { times, values }")
    up: Vector = Field(default=(0.0, 1.0, 0.0), description="direction that is up in the picture")
    fov: FieldOfView = Field(
        default=40.0, description="vertical angle of view [degrees], or keyframes { times, values }"
    )
    aperture: Annotated[float, Field(strict=True, ge=0)] = Field(
        default=0.0, description="diameter of the lens [m], for depth of field; 0: everything is in focus"
    )
    focus: Place | None = Field(
        default=None, description="point in focus [m], or keyframes { times, values }; the target if absent"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.position is None) != (self.target is None):
            given, absent = ("position", "target") if self.target is None else ("target", "position")
            raise wrong(f"it has '{given}' without '{absent}': give both, or neither for a camera that finds its place")
        if self.position is None:
            others = sorted(self.model_fields_set & {"up", "aperture", "focus"})
            if others:
                raise wrong(f"'{others[0]}' needs 'position' and 'target', too; only 'fov' can be given alone")
            if isinstance(self.fov, AnglePath):
                raise wrong("'fov' with keyframes needs 'position' and 'target', too; give one angle")
        return self


def place_at(place: tuple[float, ...] | VectorPath, time: float) -> tuple[float, ...]:
    """Position of the camera at a time [s]."""
    if isinstance(place, VectorPath):
        return KeyframedVector(place.times, place.values, place.interpolation).at(time)[0]
    return place


def angle_at(angle: float | AnglePath, time: float) -> float:
    """The angle of view at a time [s], in degrees."""
    if isinstance(angle, AnglePath):
        return KeyframedVector(angle.times, [(value,) for value in angle.values], angle.interpolation).at(time)[0][0]
    return angle


class Backdrop(Table):
    """Background of pictures; the ground has the look of its obstacle."""

    color: HexColor | None = Field(default=None, description="colour behind everything, in sRGB; light grey if absent")
    ground: HexColor | None = Field(
        default=None, description="colour of the ground where its obstacle has no look, in sRGB"
    )
    floor: Number | None = Field(
        default=None, description="height of a floor that is only drawn, where no obstacle is one [m]"
    )
