"""Rigid motions of scenes.

Angles are in degrees, rates in radians or turns per second, times in seconds.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

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
    revolutions_per_second: Number | None = Field(None, description="turns per second [1/s], instead of 'rate'")
    start: Number = Field(0.0, description="time at which it begins to turn [s]")
    stop: Number | None = Field(None, description="time at which it stops [s]; never if absent")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_span(self.start, self.stop)
        if (self.rate is None) == (self.revolutions_per_second is None):
            raise wrong("a rotation needs one of 'rate' [rad/s] and 'revolutions_per_second', and not both")
        return self


class Keyframes(MotionModel):
    """interpolates displacements and rotations given at certain times; at rest before the first and after the last"""

    times: Annotated[tuple[Number, ...], NotEmpty] = Field(description="times, increasing [s]")
    positions: tuple[Vector, ...] | None = Field(
        None, description="displacement from the shape's own position, one for each time [m]; none if absent"
    )
    rotations: tuple[Number | tuple[Number, Number, Number], ...] | None = Field(
        None,
        description="one for each time [degrees]: in 2D an angle, in 3D a vector along the axis whose length is the "
        "angle; rotations of more than a full turn are carried out",
    )
    about: Vector | None = Field(None, description="centre of rotation, before the displacement [m]")
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


class Spiral(MotionModel):
    """moves along a spiral or a helix about an axis through the shape's own position, without turning"""

    axis: Direction | None = Field(None, description="axis of the spiral [1]; absent in a 2D scene")
    start_radius: Number = Field(ge=0, description="distance from the axis at the start [m]")
    end_radius: Number = Field(ge=0, description="distance from the axis at the end [m]")
    revolutions: Number = Field(description="turns, counter-clockwise seen against the axis; clockwise if negative [1]")
    rise: Number = Field(0.0, description="displacement along the axis from start to end [m]")
    phase: Number = Field(
        0.0, description="angle of the start from the x axis, or from y where the axis is x, about the axis [degrees]"
    )
    start: Number = Field(0.0, description="time at which it begins to move [s]")
    stop: Number = Field(description="time at which it arrives [s]")
    pacing: Literal["speed", "angle"] = Field("speed", description="what is constant: the speed, or the turns per time")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_span(self.start, self.stop)
        if self.revolutions == 0 and self.start_radius == self.end_radius and self.rise == 0:
            raise wrong("the spiral has no length: give it 'revolutions', a 'rise', or two different radii")
        if self.start_radius == self.end_radius == 0 and self.rise == 0:
            raise wrong("the spiral has no length: both radii are 0 and so is the 'rise'")
        return self


class Polyline(MotionModel):
    """moves along straight lines from point to point at a constant speed, without turning"""

    points: tuple[Vector, ...] = Field(description="displacements from where the shape was put, in order [m]")
    start: Number = Field(0.0, description="time at which it leaves the first point [s]")
    stop: Number | None = Field(None, description="time at which it arrives at the last point [s]")
    speed: Number | None = Field(None, gt=0, description="speed on the way, instead of 'stop' [m/s]")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_span(self.start, self.stop)
        if (self.stop is None) == (self.speed is None):
            raise wrong("a polyline needs one of 'stop' [s] and 'speed' [m/s], and not both")
        if len(self.points) < 2:
            raise wrong(f"a polyline needs at least 2 points, and this one has {len(self.points)}")
        if len({len(point) for point in self.points}) > 1:
            raise wrong("the points of a polyline need as many components as each other")
        for k, (one, two) in enumerate(zip(self.points, self.points[1:])):
            if one == two:
                raise wrong(f"points {k + 1} and {k + 2} of the polyline are the same place")
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
    "spiral": Spiral,
    "polyline": Polyline,
    "combine": Combine,
}
"""Motions by their names in scenes."""

if not TYPE_CHECKING:
    Motion: Any = one_key_table("motion", MOTIONS)
