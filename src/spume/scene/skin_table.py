"""What pictures and exports make of points: the table `[skin]`."""

from typing import Annotated, Literal

from pydantic import Field

from spume.tables import Table


class SkinTable(Table):
    """Skins of points in pictures and exports; also for a finished run."""

    crumbs: Literal["drops", "shapes", "none"] = Field(
        default="drops",
        description="what becomes of parts with the volume of a few points: round drops of that volume, without those "
        "of foams close to a larger part; 'shapes' leaves them as they are, 'none' leaves them out",
    )
    crumb_points: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = Field(
        default=8.0, description="volume below which a part is a crumb, in points"
    )
