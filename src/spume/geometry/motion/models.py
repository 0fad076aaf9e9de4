"""Rigid motions, as scenes write them.

Angles are in degrees, rates in radians or turns per second, times in seconds.
"""

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from spume.geometry.motion.interpolation import Interpolation
from spume.tables import Direction, NotEmpty, Number, Variant, Vector, one_key_table, wrong


class MotionModel(Variant):
    """Base of every motion."""


if TYPE_CHECKING:
    Motion = MotionModel


def _check_span(start: float, stop: float | None) -> None:
    if stop is not None and stop <= start:
        raise wrong(f"'stop', {stop:g} s, must be later than 'start', {start:g} s")


class Fixed(MotionModel):
    """no motion"""


class Velocity(MotionModel):
    """moves at a constant velocity"""

    linear: Vector = Field(description="velocity [m/s]")
    start: Number = Field(0.0, description="time at which it begins to move [s]")
    stop: Number | None = Field(None, description="time at which it stops [s]; never if absent")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_span(self.start, self.stop)
        return self


class Oscillate(MotionModel):
    """oscillates along a line: displacement = amplitude · sin(2π frequency t + phase)"""

    direction: Direction = Field(description="direction of the line [1]")
    amplitude: Number = Field(gt=0, description="largest displacement to either side [m]")
    frequency: Number = Field(gt=0, description="oscillations per second [Hz]")
    phase: Number = Field(0.0, description="phase at time 0; 0 begins in the middle [degrees]")


class Turn(MotionModel):
    """turns about an axis at a constant rate"""

    axis: Direction | None = Field(None, description="axis of rotation [1]; absent in a 2D scene")
    about: Vector | None = Field(None, description="a point of the axis [m]; the origin if absent")
    rate: Number | None = Field(None, description="angular velocity, counter-clockwise seen against the axis [rad/s]")
    revolutions_per_second: Number | None = Field(None, description="the same in turns [1/s], instead of 'rate'")
    start: Number = Field(0.0, description="time at which it begins to turn [s]")
    stop: Number | None = Field(None, description="time at which it stops [s]; never if absent")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_span(self.start, self.stop)
        if (self.rate is None) == (self.revolutions_per_second is None):
            raise wrong("a rotation needs one of 'rate' [rad/s] and 'revolutions_per_second', and not both")
        return self


class Keyframes(MotionModel):
    """interpolates displacements and rotations given at some times; at rest before the first and after the last"""

    times: Annotated[tuple[Number, ...], NotEmpty] = Field(description="times, increasing [s]")
    positions: tuple[Vector, ...] | None = Field(
        None, description="displacement from where the shape was put, one for each time [m]; none if absent"
    )
    rotations: tuple[Number | tuple[Number, Number, Number], ...] | None = Field(
        None,
        description="one for each time [degrees]: in 2D an angle, in 3D a vector along the axis whose length is the "
        "angle; more than a turn is turned in full",
    )
    about: Vector | None = Field(None, description="the point the shape turns about, before it is displaced [m]")
    interpolation: Interpolation = Field(
        "smooth", description="'smooth': no jump of the velocity and no overshoot; 'linear': constant between two times"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(later <= earlier for earlier, later in zip(self.times, self.times[1:])):
            raise wrong(f"'times' must increase, and these are {list(self.times)}")
        if self.positions is None and self.rotations is None:
            raise wrong("keyframes need 'positions' or 'rotations'")
        for key in ("positions", "rotations"):
            values = getattr(self, key)
            if values is not None and len(values) != len(self.times):
                raise wrong(f"'{key}' has {len(values)} items and 'times' has {len(self.times)}; they need as many")
        return self


class Combine(MotionModel):
    """several motions composed: the second is applied to the result of the first, and so on"""

    of: Annotated[tuple["Motion", ...], NotEmpty] = Field(description="the motions")


MOTIONS: dict[str, type[MotionModel]] = {
    "fixed": Fixed,
    "velocity": Velocity,
    "oscillate": Oscillate,
    "rotate": Turn,
    "keyframes": Keyframes,
    "combine": Combine,
}
"""The motions by the names that scenes use."""

if not TYPE_CHECKING:
    Motion: Any = one_key_table("motion", MOTIONS)
