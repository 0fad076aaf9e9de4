"""Every law with every named material of it, and points to drive them with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from spume.materials import LAWS, Law, Parameters
from spume.materials.loops import ConstitutiveModel
from spume.materials.table import complete_entry, named_materials

Array = NDArray[np.float64]
EPS = np.finfo(float).eps
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def materials_of(law: Law) -> list[tuple[str, Parameters]]:
    """The named materials of a law."""
    found = []
    for name in named_materials():
        entry = complete_entry(name, {})
        if entry.pop("law") == law.name:
            found.append((name, law.parameters.model_validate(entry, strict=True)))
    return found


CASES = [
    pytest.param(law, parameters, id=f"{law.name}: {name}")
    for law in LAWS.values()
    for name, parameters in materials_of(law)
]
every_law = pytest.mark.parametrize("law", [pytest.param(law, id=law.name) for law in LAWS.values()])
every_material = pytest.mark.parametrize(("law", "parameters"), CASES)
every_flowing_material = pytest.mark.parametrize(
    ("law", "parameters"), [case for case in CASES if "dissipation" in {f.name for f in case.values[0].fields}]
)


@dataclass
class Points:
    """Points of one material, driven through the law's loops."""

    law: Law
    parameters: Parameters
    count: int

    def __post_init__(self) -> None:
        self.model = ConstitutiveModel([(self.law, self.parameters)])
        self.arrays: dict[str, Any] = {"material": np.zeros(self.count, dtype=np.int32)}
        self.arrays |= {field.name: field.allocate(self.count) for field in self.law.fields}

    def copy(self) -> "Points":
        other = Points(self.law, self.parameters, self.count)
        other.arrays = {name: values.copy() for name, values in self.arrays.items()}
        return other

    def step(self, increment: Array, dt: float = 1.0) -> Array:
        """Deform by f = increment, shape (n, 3, 3), in a time of dt; returns the stress, shape (n, 3, 3)."""
        stress = np.full((self.count, 6), np.nan)
        deformation = np.array(np.broadcast_to(increment, (self.count, 3, 3)))  # writable: one kernel for all calls
        self.model.update(self.arrays, dt, deformation, stress)
        return full(stress)

    def stress(self) -> Array:
        stress = np.full((self.count, 6), np.nan)
        self.model.stress(self.arrays, stress)
        return full(stress)

    def energy(self) -> Array:
        return self.model.energy(self.arrays)

    def volume_ratio(self) -> Array:
        return self.model.volume_ratio(self.arrays)

    def field(self, name: str) -> Array:
        return self.arrays[name]

    def history(self, p: int) -> tuple[Any, ...]:
        """The history of one point as its law's functions take it."""
        values = (self.arrays[field.name][p] for field in self.law.fields)
        return tuple(tuple(value.ravel().tolist()) if value.ndim else float(value) for value in values)


def full(symmetric: Array) -> Array:
    """(n, 3, 3) from (n, 6)."""
    tensors = np.empty((len(symmetric), 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        tensors[:, i, j] = tensors[:, j, i] = symmetric[:, k]
    return tensors


def rotations(rng: np.random.Generator, count: int) -> Array:
    """About random axes, by up to 1.5 rad."""
    axes = rng.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return Rotation.from_rotvec(axes * rng.uniform(0, 1.5, (count, 1))).as_matrix()


def deformations(rng: np.random.Generator, count: int, size: float) -> Array:
    """Deformation gradients with logarithmic principal stretches of about `size`."""
    stretches = np.exp(size * rng.uniform(-1, 1, (count, 3)))
    return rotations(rng, count) @ (stretches[:, :, None] * np.eye(3)) @ rotations(rng, count)


def rotated(q: Array, tensors: Array) -> Array:
    return q @ tensors @ np.swapaxes(q, 1, 2)


def stiffness(law: Law, parameters: Parameters) -> float:
    """Modulus of uniaxial strain ρ c² [Pa]: the scale of the stresses."""
    return parameters.density * law.wave_speed(parameters) ** 2


ELASTIC: dict[str, dict[str, Any]] = {
    "herschel-bulkley": {"yield_stress": 1e12},
    "von-mises": {"yield_stress": 1e12},
    "viscoelastic": {"yield_stress": 1e12, "deviatoric_viscosity": 1e30, "volumetric_viscosity": 1e30},
    "drucker-prager": {"cohesion": 1e12},
    "granular-flow": {"cohesion": 1e12},
    "corotated-plastic": {"flow_rate": 0.0},
    "water": {"viscosity": 0.0, "tension": "full", "exponent": 2.0},
}
"""Values of parameters with which a law is elastic at every stress these tests reach, by the name of the law. Pressures
with a high exponent would be so stiff at the compressions of these tests that differences cannot resolve them."""


def unyielding(law: Law, parameters: Parameters) -> Parameters:
    """The same material, elastic at every stress these tests reach."""
    return parameters.model_copy(update=ELASTIC.get(law.name, {}))


def shear_stiffness(law: Law, parameters: Parameters) -> float:
    """dτ12/dγ at rest [Pa]."""
    increment = np.eye(3)[None].copy()
    increment[0, 0, 1] = 1e-6
    return float(Points(law, unyielding(law, parameters), 1).step(increment)[0, 0, 1]) / 1e-6


def deviatoric(stress: Array) -> Array:
    """‖dev τ‖."""
    return np.linalg.norm(stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3), axis=(1, 2))
