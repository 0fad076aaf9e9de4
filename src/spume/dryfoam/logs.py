"""Logs of a run as tables: every T1, and the energy released by T1s under deformation."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.equilibrium.report import Exchange
from spume.fields import Field


class Drop(NamedTuple):
    """Energy released by the T1s of one increment of strain."""

    time: float
    """[s]"""
    strain: float
    """Imposed strain after the increment [1]."""
    released: float
    """[J/m]; see `Deformation.released`."""
    flips: int
    """Number of T1s in the increment."""
    shear_stress: float
    """σ_xy after the increment [N/m]."""


T1S = (
    Field("time", unit="s", description="time of the T1: the end of the step in which it happened"),
    Field("strain", description="imposed strain"),
    Field("place", (2,), unit="m", description="middle of the new film"),
    Field("parted", (2,), dtype="int64", description="labels of the separating bubbles, -1 for the outside or a wall"),
    Field("joined", (2,), dtype="int64", description="labels of the bubbles that become neighbours"),
)
DROPS = (
    Field("time", unit="s", description="end of the increment"),
    Field("strain", description="imposed strain"),
    Field("released", unit="J/m", description="energy released by T1s in the increment"),
    Field("flips", dtype="int64", description="number of T1s in the increment"),
    Field("shear_stress", unit="N/m", description="shear stress after the increment"),
)


def _columns(fields: Sequence[Field], rows: Sequence[Exchange] | Sequence[Drop]) -> dict[str, NDArray[Any]]:
    return {
        field.name: np.array([getattr(row, field.name) for row in rows], dtype=field.dtype).reshape(-1, *field.shape)
        for field in fields
    }


def log_arrays(t1s: Sequence[Exchange], drops: Sequence[Drop]) -> dict[str, dict[str, NDArray[Any]]]:
    """Tables of a frame, by name and column."""
    return {"t1s": _columns(T1S, t1s), "drops": _columns(DROPS, drops)}


def t1s_of(columns: Mapping[str, NDArray[Any]]) -> list[Exchange]:
    """T1s of a table returned by `log_arrays`."""
    if not columns:
        return []
    return [
        Exchange(tuple(place), tuple(parted), tuple(joined), time, strain)
        for time, strain, place, parted, joined in zip(*(columns[field.name].tolist() for field in T1S), strict=True)
    ]


def drops_of(columns: Mapping[str, NDArray[Any]]) -> list[Drop]:
    """Energy releases of a table returned by `log_arrays`."""
    if not columns:
        return []
    return [Drop(*row) for row in zip(*(columns[field.name].tolist() for field in DROPS), strict=True)]
