"""The three models of plastic flow that [Yue15] compares, with the numbers of its shaving cream."""

import math
from typing import Any

from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.table import Material, named_materials

CREAM: dict[str, Any] = {
    key: value
    for key, value in named_materials()["shaving cream"].items()
    if key in HerschelBulkleyParameters.model_fields
}


SHEAR_YIELD = CREAM["yield_stress"] / math.sqrt(3.0)
"""Shear stress at which the cream yields [Pa]."""


def _material(name: str, **changes: float) -> Material:
    return Material(name, HERSCHEL_BULKLEY, HerschelBulkleyParameters(**CREAM | changes))


def perfect_plastic() -> Material:
    """Without viscosity."""
    return _material("perfectly plastic", viscosity=0.0)


def bingham() -> Material:
    """Viscoplastic: the rate of flow is proportional to the excess stress."""
    return _material("viscoplastic", flow_index=1.0)


def stiff(name: str, shear_modulus: float, **changes: float) -> Material:
    """The cream with another shear modulus [Pa] and further changes."""
    return _material(name, shear_modulus=shear_modulus, **changes)
