"""How a material or an obstacle looks in pictures and exports: data of its entry, not a guess from its name."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0, le=1)]


class Look(BaseModel):
    """Colour and surface; what is absent takes a neutral default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    color: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")] | None = Field(
        default=None, description="colour in sRGB, as '#f6f8fa'"
    )
    softness: Fraction | None = Field(
        default=None, description="how far light goes round edges: 0 a hard solid, 0.5 foam that light seeps through"
    )
    gloss: Fraction | None = Field(default=None, description="strength of highlights: 0 a matt surface")
