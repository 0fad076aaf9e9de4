"""Tables of bodies, obstacles, walls and gravity, and of what frames hold."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, field_validator

from spume.geometry.motion import Motion
from spume.geometry.obstacles.contact import Contact
from spume.geometry.shapes import Shape
from spume.materials.appearance import Appearance
from spume.scene.common import NotNegative
from spume.scene.emitter import Fill, Spin, spelling
from spume.tables import Number, Table, Vector


class GravityKeyframes(Table):
    """Gravity that changes in time: linear between the times, constant before the first and after the last."""

    times: tuple[Number, ...] = Field(min_length=1, description="times, increasing [s]")
    values: tuple[Vector, ...] = Field(min_length=1, description="gravity at each time [m/s²]")


Gravity = Annotated[
    Annotated[Vector, Tag("list")] | Annotated[GravityKeyframes, Tag("table")],
    Discriminator(lambda value: "list" if spelling(value) in ("list", "number", "word") else "table"),
]


class Walls(Table):
    """A box that points do not leave."""

    lower: Vector = Field(description="corner with the smallest coordinates [m]")
    upper: Vector = Field(description="corner with the largest coordinates [m]")
    contact: Contact = Field(default="slip", description="what the walls do to the material that touches them")
    friction: NotNegative = Field(default=0.0, description="Coulomb coefficient of contact 'separate' [1]")


class VelocityWave(Table):
    """An initial velocity that varies in space as a sine: velocity · sin(wave_vector · x)."""

    velocity: Vector = Field(description="amplitude [m/s]")
    wave_vector: Vector = Field(description="direction and 2π / wavelength of the wave [rad/m]")


class Body(Table):
    """Material that fills a shape at its start time."""

    name: str = Field(default="", description="a name for messages and pictures")
    material: str = Field(description="name of a material of this file or of the table of materials")
    shape: Shape = Field(description="the shape that is filled")
    velocity: Vector | None = Field(default=None, description="initial velocity [m/s]; at rest if absent")
    spin: Spin | None = Field(
        default=None, description="initial angular velocity about the centroid [rad/s]; a vector, in 2D a number"
    )
    wave: VelocityWave | None = Field(default=None, description="sine wave of velocity added to the motion")
    start: NotNegative = Field(default=0.0, description="time at which the body appears [s]")
    fill: Fill = Field(default=Fill(), description="how the shape is filled with points")
    surface: Literal["reconstructed", "embedded"] = Field(
        default="reconstructed",
        description="what pictures and exports show: a skin around the points of each frame, or a fine mesh of the "
        "initial shape that travels with the material and keeps its topology (3D only)",
    )
    volume: Literal["exact", "grid"] = Field(
        default="exact", description="rest volume of points: their share of the shape, or [Yue15]'s estimate by grid"
    )
    look: Appearance | None = Field(default=None, description="how it looks, where that differs from its material")
    colors: Literal["material", "mesh"] = Field(
        default="material",
        description="colours of its points: that of the material, or those that the mesh of its shape has at the "
        "nearest place of its surface, from textures, materials or vertices, which travel with the points",
    )


class ObstacleTable(Table):
    """A solid that material cannot enter; it is not moved by the material."""

    name: str = Field(default="", description="a name for messages and pictures")
    shape: Shape = Field(description="the solid")
    contact: Contact = Field(default="separate", description="what touching material may do")
    friction: NotNegative = Field(default=0.0, description="Coulomb coefficient of contact 'separate' [1]")
    motion: Motion | None = Field(default=None, description="how the solid moves; at rest if absent")
    follows: str | None = Field(
        default=None,
        description="name of an emitter or another obstacle that it moves with, such as the nozzle that it is the tip "
        "of; its own motion comes first",
    )
    look: Appearance | None = Field(
        default=None, description="how the solid looks in pictures; a neutral grey if absent"
    )


class Frames(Table):
    """What frames hold besides the state of the points."""

    fields: tuple[Literal["stress", "pressure", "strain_rate", "dissipation_rate"], ...] = Field(
        default=(),
        description="fields of the points that frames hold in addition: Cauchy stress [Pa], pressure [Pa], rate of "
        "strain [1/s], power dissipated per volume [W/m³]; the rates are those of the last step",
    )

    @field_validator("fields")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))
