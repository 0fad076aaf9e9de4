"""The contract every constitutive law fulfils.

A law sees points, never particles of a solver and never a grid: velocity gradient, its own history, its parameters and
dt in; Kirchhoff stress and new history out. The same law therefore serves every method, a virtual rheometer and a test.

A law lives in one file and consists of per-point functions on scalars and tuples, compiled, plus three thin loops over
them, the *kernels* below. Tensors are three-dimensional in every scene; a 2D scene is plane strain, its velocity
gradient having zeros in the third row and column.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Describe

from spume.fields import Field


class Parameters(BaseModel):
    """Parameters of one material; each law extends it. Units stand in the descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    density: float = Describe(gt=0, description="rest density [kg/m³]")


@dataclass(frozen=True)
class Law:
    """A constitutive law.

    The kernels run over all points and touch those whose material is marked in `mine`:

    update(material, mine, rows, dt, velocity_gradient, stress, *history)
        advances `history` by dt [s] under `velocity_gradient` [1/s], shape (n, 3, 3), and writes `stress`
    stress(material, mine, rows, stress, *history)
        writes the Kirchhoff stress [Pa], shape (n, 6), order (xx, yy, zz, xy, xz, yz)
    energy(material, mine, rows, energy, *history)
        writes the elastic energy per rest volume [J/m³], shape (n,)

    The initial values of `fields` are stress-free. `material` (n,) indexes `rows`, the packed parameters of all
    materials of the scene, one row each; `history` holds the arrays of `fields`, in that order.
    """

    name: str
    parameters: type[Parameters]
    fields: tuple[Field, ...]
    pack: Callable[[Any], tuple[float, ...]]
    """The row of numbers the kernels read; derived constants are computed here, once."""
    update: Callable[..., None]
    stress: Callable[..., None]
    energy: Callable[..., None]
    wave_speed: Callable[[Any], float]
    """Speed of pressure waves at rest [m/s], for the time step."""
    description: str = ""


def pack_rows(law: Law, materials: list[tuple[Law, Parameters]]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """`mine` and `rows` of `law` for the kernels, over all materials of a scene."""
    mine = np.array([other.name == law.name for other, _ in materials], dtype=np.bool_)
    packed = [law.pack(parameters) if own else () for own, (_, parameters) in zip(mine, materials)]
    rows = np.zeros((len(materials), max((len(row) for row in packed), default=0)))
    for row, values in zip(rows, packed):
        row[: len(values)] = values
    return mine, rows
