"""Sources of material, as scenes write them."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from spume.geometry.motion import KeyframedVector, Motion
from spume.geometry.motion.interpolation import Interpolation
from spume.geometry.nozzles import Nozzle
from spume.geometry.shapes import Shape
from spume.materials.appearance import Appearance
from spume.scene.common import Count, NotNegative, Positive
from spume.tables import NotEmpty, Number, Table, Vector


def spelling(value: object) -> str:
    """Which of several forms a value has."""
    if isinstance(value, str):
        return "word"
    if isinstance(value, list | tuple):
        return "list"
    return "number" if isinstance(value, int | float) else "table"


Spin = Annotated[
    Annotated[Number, Tag("number")] | Annotated[Vector, Tag("list")],
    Discriminator(lambda value: "list" if spelling(value) in ("list", "table") else "number"),
]


class Fill(Table):
    """How a shape is filled with points."""

    pattern: Literal["lattice", "poisson-disk"] = Field(default="lattice", description="arrangement of the points")
    points_per_axis: Count = Field(default=2, description="points along each edge of a cell")
    jitter: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.0, description="random displacement of lattice points, as a fraction of their spacing [1]"
    )


class Copies(Table):
    """A schedule on which copies of a body are released."""

    count: Count = Field(description="number of copies")
    interval: Positive = Field(description="time between two copies [s]")


class RateKeyframes(Table):
    """A rate that changes in time; constant before the first time and after the last."""

    times: Annotated[tuple[Number, ...], NotEmpty] = Field(description="times, increasing [s]")
    values: Annotated[tuple[NotNegative, ...], NotEmpty] = Field(
        description="volume released per time at each of them [m³/s], in 2D [m²/s]; 0 pauses the flow"
    )
    interpolation: Interpolation = Field(default="linear", description="'linear', or 'smooth' without overshoot")


class VelocityKeyframes(Table):
    """A velocity that changes in time; constant before the first time and after the last."""

    times: Annotated[tuple[Number, ...], NotEmpty] = Field(description="times, increasing [s]")
    values: Annotated[tuple[Vector, ...], NotEmpty] = Field(description="velocity at each of them [m/s]")
    interpolation: Interpolation = Field(default="linear", description="'linear', or 'smooth' without overshoot")


class OutflowKeyframes(Table):
    """A speed that changes in time; constant before the first time and after the last."""

    times: Annotated[tuple[Number, ...], NotEmpty] = Field(description="times, increasing [s]")
    values: Annotated[tuple[NotNegative, ...], NotEmpty] = Field(description="speed at each of them [m/s]")
    interpolation: Interpolation = Field(default="linear", description="'linear', or 'smooth' without overshoot")


EmitterVelocity = Annotated[
    Annotated[Vector, Tag("list")] | Annotated[VelocityKeyframes, Tag("table")],
    Discriminator(lambda value: "list" if spelling(value) in ("list", "number", "word") else "table"),
]
Rate = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[RateKeyframes, Tag("table")],
    Discriminator(lambda value: "table" if spelling(value) == "table" else "number"),
]
Outflow = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[OutflowKeyframes, Tag("table")],
    Discriminator(lambda value: "table" if spelling(value) == "table" else "number"),
]


class Emitter(Table):
    """A source of material: a flow through a nozzle or the middle section of a shape, or out of the surface of a shape,
    or copies of a shape one after another. The velocity of the emitter's motion is added to that of the released
    material."""

    name: str = Field(default="", description="a name for messages and pictures")
    material: str = Field(description="name of a material of this file or of the table of materials")
    shape: Shape | None = Field(default=None, description="the shape material comes out of, or the shape of each copy")
    nozzle: Nozzle | None = Field(default=None, description="the opening of a flow, instead of a shape")
    motion: Motion | None = Field(
        default=None, description="motion of the emitter, which also turns its velocity; at rest if absent"
    )
    velocity: EmitterVelocity | None = Field(
        default=None,
        description="velocity of released material relative to the emitter [m/s], or keyframes { times, values }; with "
        "a rate, only its direction counts",
    )
    outflow: Outflow | None = Field(
        default=None,
        description="instead of a velocity: speed at which material leaves the whole surface of the shape along its "
        "normals [m/s], or keyframes { times, values }",
    )
    within: Shape | None = Field(
        default=None, description="with outflow: material leaves only the part of the surface inside this shape"
    )
    spin: Spin | None = Field(default=None, description="initial angular velocity of each copy [rad/s]")
    start: NotNegative = Field(default=0.0, description="time of the first release [s]")
    stop: Positive | None = Field(default=None, description="time after which nothing is released [s]")
    rate: Rate | None = Field(
        default=None,
        description="volume released per time [m³/s], in 2D [m²/s], or keyframes { times, values }; opening times "
        "velocity if absent",
    )
    barrel: NotNegative = Field(
        default=0.0,
        description="length before the opening over which material is there from the start and moves with the flow, "
        "whatever pulls at it [m]; its content comes on top of what is released",
    )
    copies: Copies | None = Field(default=None, description="schedule of copies of the shape, instead of a flow")
    fill: Fill = Field(default=Fill(), description="how released material is filled with points")
    look: Appearance | None = Field(
        default=None, description="how the material looks, where that differs from its own look"
    )

    @property
    def velocities(self) -> tuple[tuple[float, ...], ...]:
        """The velocity, or those of its keyframes [m/s]."""
        if self.velocity is None:
            return ()
        return self.velocity.values if isinstance(self.velocity, VelocityKeyframes) else (self.velocity,)

    @property
    def velocity_track(self) -> KeyframedVector:
        """The velocity as a function of time [m/s]."""
        if isinstance(self.velocity, VelocityKeyframes):
            given = self.velocity
            return KeyframedVector(given.times, given.values, given.interpolation)
        assert self.velocity is not None  # emitters without one have an outflow
        return KeyframedVector([0.0], [self.velocity], "linear")

    @property
    def rate_track(self) -> KeyframedVector | None:
        """The rate as a function of time, with one component [m³/s]."""
        return None if self.rate is None else _track(self.rate)

    @property
    def outflow_track(self) -> KeyframedVector | None:
        """The speed out of the surface as a function of time, with one component [m/s]."""
        return None if self.outflow is None else _track(self.outflow)


def _track(given: float | RateKeyframes | OutflowKeyframes) -> KeyframedVector:
    if isinstance(given, float | int):
        return KeyframedVector([0.0], [[given]], "linear")
    return KeyframedVector(given.times, [[value] for value in given.values], given.interpolation)
