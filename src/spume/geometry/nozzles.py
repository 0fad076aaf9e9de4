"""Nozzles: flat openings across the flow of material. Lengths are in metres."""

import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from spume.tables import Direction, Number, Variant, Vector, one_key_table, wrong

Floats = NDArray[np.float64]
Length = Annotated[Number, Field(gt=0)]


class NozzleModel(Variant):
    """Base of every nozzle."""

    dimensions: ClassVar[tuple[int, ...]] = (3,)
    """Dimensions of the scenes in which it can be used."""
    center: Vector = Field(description="middle of the opening before any motion [m]")


if TYPE_CHECKING:
    Nozzle = NozzleModel


class CircleNozzle(NozzleModel):
    """a round opening"""

    radius: Length = Field(description="radius [m]")


class SlotNozzle(NozzleModel):
    """a rectangular opening; in a 2D scene a gap"""

    dimensions = (2, 3)
    width: Length = Field(description="longer side, or the gap of a 2D scene [m]")
    thickness: Length | None = Field(None, description="shorter side [m]; absent in a 2D scene")
    along: Direction | None = Field(
        None, description="direction of the width [1]; any direction across the flow if absent, absent in a 2D scene"
    )


class StarNozzle(NozzleModel):
    """a star with straight edges between its tips and the notches between them"""

    tips: Annotated[int, Field(strict=True, ge=3, le=100)] = Field(description="number of tips")
    outer_radius: Length = Field(description="radius of the tips [m]")
    inner_radius: Length = Field(description="radius of the notches between them [m]")
    along: Direction | None = Field(
        None, description="direction of the first tip [1]; any direction across the flow if absent"
    )

    @model_validator(mode="after")
    def _has_tips(self) -> Self:
        if self.inner_radius >= self.outer_radius:
            raise wrong(
                f"inner_radius, {self.inner_radius:g} m, must be less than outer_radius, {self.outer_radius:g} m"
            )
        return self


NOZZLES: dict[str, type[NozzleModel]] = {"circle": CircleNozzle, "slot": SlotNozzle, "star": StarNozzle}
"""Nozzles by their names in scenes."""

if not TYPE_CHECKING:
    Nozzle: Any = one_key_table("nozzle", NOZZLES)


def nozzle_area(nozzle: NozzleModel) -> float:
    """Area of the opening [m²]; in 2D its width [m]."""
    match nozzle:
        case CircleNozzle():
            return math.pi * nozzle.radius**2
        case SlotNozzle():
            return nozzle.width * (1.0 if nozzle.thickness is None else nozzle.thickness)
        case StarNozzle():  # 2 · tips triangles, each with two sides and the angle π/tips between them
            return nozzle.tips * nozzle.outer_radius * nozzle.inner_radius * math.sin(math.pi / nozzle.tips)
    raise TypeError(f"{nozzle!r} is no nozzle")


def nozzle_axes(nozzle: NozzleModel, direction: Floats) -> Floats:
    """Unit vectors across the flow, shape (d − 1, d), the first along the width of a slot or to the first tip."""
    d = len(direction)
    if d == 2:
        return np.array([[-direction[1], direction[0]]])
    given = getattr(nozzle, "along", None)
    along = np.eye(3)[int(np.argmin(np.abs(direction)))] if given is None else np.array(given, dtype=float)
    first = along - (along @ direction) * direction
    size = float(np.linalg.norm(first))
    if size <= 1e-6 * float(np.linalg.norm(along)):
        raise ValueError(f"is {list(given or ())}, the direction of the flow: it should lie across the flow")
    first /= size
    return np.array([first, np.cross(direction, first)])


def nozzle_points(nozzle: NozzleModel, spacing: float, dimension: int) -> Floats:
    """Lattice points in the opening [m], shape (n, dimension − 1), relative to its centre.

    A slot is divided evenly. In a circle or a star, the lattice has a point or the middle of a lattice cell at the
    centre, whichever gives the number of points closest to the area."""
    if isinstance(nozzle, SlotNozzle):
        sides = [nozzle.width] if dimension == 2 else [nozzle.width, nozzle.thickness or nozzle.width]
        rows = [_even(side, spacing) for side in sides]
        return np.stack(np.meshgrid(*rows, indexing="ij"), axis=-1).reshape(-1, dimension - 1)
    radius = nozzle.radius if isinstance(nozzle, CircleNozzle) else getattr(nozzle, "outer_radius", 0.0)
    wanted = nozzle_area(nozzle) / spacing**2
    half = math.ceil(radius / spacing) + 1
    best = np.empty((0, 2))
    for shift in ((0.5, 0.5), (0.0, 0.0), (0.5, 0.0), (0.0, 0.5)):
        rows = [(np.arange(-half, half + 1) + offset) * spacing for offset in shift]
        lattice = np.stack(np.meshgrid(*rows, indexing="ij"), axis=-1).reshape(-1, 2)
        inside = lattice[_inside(nozzle, lattice)]
        if len(best) == 0 or abs(len(inside) - wanted) < abs(len(best) - wanted):
            best = inside
    return best


def _even(side: float, spacing: float) -> Floats:
    count = max(1, round(side / spacing))
    return np.asarray((np.arange(count) + 0.5) * (side / count) - 0.5 * side)


def _inside(nozzle: NozzleModel, x: Floats) -> NDArray[np.bool_]:
    r = np.hypot(x[:, 0], x[:, 1])
    if isinstance(nozzle, CircleNozzle):
        return np.asarray(r < nozzle.radius)
    assert isinstance(nozzle, StarNozzle)
    half = math.pi / nozzle.tips
    angle = np.abs((np.arctan2(x[:, 1], x[:, 0]) + half) % (2 * half) - half)  # from the nearest tip, up to half
    # the inner side of the line from the tip (R, 0) to the notch r (cos half, sin half)
    nx, ny = nozzle.inner_radius * math.sin(half), nozzle.outer_radius - nozzle.inner_radius * math.cos(half)
    return np.asarray(nx * (r * np.cos(angle) - nozzle.outer_radius) + ny * r * np.sin(angle) < 0)
