"""Every law with every named material of it."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from spume.materials import LAWS, Law, Parameters
from spume.materials.driven_points import EPS, PAIRS, Points, deformations, full, rotated, rotations, stiffness
from spume.materials.table import complete_entry, named_materials

__all__ = ["EPS", "PAIRS", "Points", "deformations", "full", "rotated", "rotations", "stiffness"]
Array = NDArray[np.float64]


def materials_of(law: Law) -> list[tuple[str, Parameters]]:
    """The named materials of a law."""
    found = []
    for name in named_materials():
        entry = complete_entry(name, {})
        if entry.pop("law") == law.name:
            found.append((name, law.parameters.model_validate(entry, strict=True)))
    return found


def marks_of(form: Law) -> list[pytest.MarkDecorator]:
    """The suite in which a form of a law is tested. Forms that parameters choose have kernels of their own, which take
    five to twenty seconds to compile; their springs and flows have tests of their own."""
    return [pytest.mark.slow_suite] if form.form_of else []


MATERIALS = [(law, name, parameters) for law in LAWS.values() for name, parameters in materials_of(law)]
CASES = [
    pytest.param(law.of(parameters), parameters, id=f"{law.name}: {name}", marks=marks_of(law.of(parameters)))
    for law, name, parameters in MATERIALS
]
every_name = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks_of(law.of(parameters))) for law, name, parameters in MATERIALS]
)
every_law = pytest.mark.parametrize("law", [pytest.param(law, id=law.name) for law in LAWS.values()])
every_material = pytest.mark.parametrize(("law", "parameters"), CASES)
every_flowing_material = pytest.mark.parametrize(
    ("law", "parameters"), [each for each in CASES if "dissipation" in {f.name for f in each.values[0].fields}]
)


ELASTIC: dict[str, dict[str, Any]] = {
    "herschel-bulkley": {"yield_stress": 1e12},
    "von-mises": {"yield_stress": 1e12},
    "viscoelastic": {
        "yield_stress": 1e12,
        "cohesion": 1e12,
        "deviatoric_viscosity": 1e30,
        "volumetric_viscosity": 1e30,
    },
    "drucker-prager": {"cohesion": 1e12},
    "granular-flow": {"cohesion": 1e12},
    "corotated-plastic": {"flow_rate": 0.0},
    "cam-clay": {
        "critical_ratio": 1e9,
        "preconsolidation_pressure": 1e12,
        "swelling_index": 5.0,
        "compression_index": 10.0,
        "reference_pressure": 5e6,
    },
    "water": {"viscosity": 0.0, "tension": "full", "exponent": 2.0},
}
"""Values of parameters with which a law is elastic at every stress these tests reach, by the name of the law. Pressures
with a high exponent would be so stiff at the compressions of these tests that differences cannot resolve them."""


def unyielding(law: Law, parameters: Parameters) -> Parameters:
    """The same material, elastic at every stress these tests reach."""
    update = dict(ELASTIC.get(law.family, {}))
    if further := getattr(parameters, "further_parts", ()):
        viscous = {key: update[key] for key in ("deviatoric_viscosity", "volumetric_viscosity")}
        update["further_parts"] = tuple(part.model_copy(update=viscous) for part in further)
    return parameters.model_copy(update=update)


def shear_stiffness(law: Law, parameters: Parameters) -> float:
    """dτ12/dγ at rest [Pa]."""
    increment = np.eye(3)[None].copy()
    increment[0, 0, 1] = 1e-6
    return float(Points(law, unyielding(law, parameters), 1).step(increment)[0, 0, 1]) / 1e-6


def deviatoric(stress: Array) -> Array:
    """‖dev τ‖."""
    return np.linalg.norm(stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3), axis=(1, 2))
