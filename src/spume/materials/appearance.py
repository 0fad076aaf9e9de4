"""Appearance of a material, a body or an obstacle in pictures and exports."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

Fraction = Annotated[float, Field(ge=0, le=1)]
HexColor = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
"""A colour in sRGB, as '#f6f8fa'."""


class Appearance(BaseModel):
    """Colour and surface; absent values take neutral defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    color: HexColor | None = Field(default=None, description="colour in sRGB, as '#f6f8fa'")
    roughness: Fraction | None = Field(
        default=None, description="roughness of the surface: 0 a mirror or clear glass, 1 matt"
    )
    subsurface: Fraction | None = Field(
        default=None, description="share of the light that spreads below the surface: 0 a hard solid, 0.5 or more foam"
    )
    transparency: Fraction | None = Field(
        default=None, description="share of the light that passes through: 0 opaque, 1 clear"
    )
    metallic: Fraction | None = Field(default=None, description="0 for a dielectric, 1 for a bare metal")
    grain: Annotated[float, Field(ge=0, le=3)] | None = Field(
        default=None,
        description="diameter of a drawn grain, in distances between points: each point is a grain, darker where it "
        "is wet; 0 a closed surface",
    )
    variation: Fraction | None = Field(
        default=None, description="how much the brightness differs from point to point, as a share of it"
    )

    @model_validator(mode="before")
    @classmethod
    def _read_old_keys(cls, keys: Any) -> Any:
        return renamed(keys) if isinstance(keys, Mapping) else keys


def renamed(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return `keys` with those of version 0.1, still found in old runs, renamed to the present ones."""
    found = dict(keys)
    if "softness" in found:
        found.setdefault("subsurface", found.pop("softness"))
    if isinstance(found.get("gloss"), int | float):
        found.setdefault("roughness", round(max(0.05, 0.8 - 0.8 * found.pop("gloss")), 6))
    if isinstance(found.get("opacity"), int | float):
        found.setdefault("transparency", round(min(1.0, (1.0 - found.pop("opacity")) / 0.6), 6))
    if found.get("texture") in ("smooth", "grains"):
        is_granular = found.pop("texture") == "grains"
        found = {"grain": 1.0, "variation": 0.45, **found} if is_granular else {"grain": 0.0, **found}
    return found


def merged(base: Appearance | None, own: Appearance | None) -> Appearance | None:
    """Values of `own`, with those absent taken from `base`."""
    if base is None or own is None:
        return own or base
    return Appearance(**{**base.model_dump(exclude_none=True), **own.model_dump(exclude_none=True)})
