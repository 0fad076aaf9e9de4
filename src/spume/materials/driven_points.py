"""Points of one material that are driven through the loops of its law, for checks and tests of laws."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.materials.law import Law, Parameters
from spume.materials.loops import ConstitutiveModel

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


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
        deformation = np.array(np.broadcast_to(increment, (self.count, 3, 3)), order="C")  # one kernel for all calls
        self.model.update(self.arrays, dt, deformation, stress)
        return full(stress)

    def stress(self) -> Array:
        """Kirchhoff stress [Pa] of the history, shape (n, 3, 3)."""
        stress = np.full((self.count, 6), np.nan)
        self.model.stress(self.arrays, stress)
        return full(stress)

    def energy(self) -> Array:
        """Elastic energy per rest volume [J/m³]."""
        return self.model.energy(self.arrays)

    def volume_ratio(self) -> Array:
        """J."""
        return self.model.volume_ratio(self.arrays)

    def field(self, name: str) -> Array:
        """Values of a field of the history."""
        values: Array = self.arrays[name]
        return values

    def history(self, p: int) -> tuple[Any, ...]:
        """The history of one point as its law's functions take it."""
        return _of_point(self.law, self.arrays, p)

    def dissipation(self) -> Array:
        """Dissipated energy per rest volume [J/m³]; zero if the law declares none."""
        return self.field("dissipation").copy() if flows(self.law) else np.zeros(self.count)


def initial_history(law: Law) -> tuple[Any, ...]:
    """The history of a point at rest as the functions of its law take it."""
    return _of_point(law, {field.name: field.allocate(1) for field in law.fields}, 0)


def _of_point(law: Law, arrays: Mapping[str, NDArray[Any]], p: int) -> tuple[Any, ...]:
    values = (arrays[field.name][p] for field in law.fields)
    return tuple(tuple(value.ravel().tolist()) if value.ndim else float(value) for value in values)


def flows(law: Law) -> bool:
    """Whether a law declares a dissipated energy."""
    return any(field.name == "dissipation" for field in law.fields)


def full(symmetric: Array) -> Array:
    """(n, 3, 3) from (n, 6)."""
    tensors = np.empty((len(symmetric), 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        tensors[:, i, j] = tensors[:, j, i] = symmetric[:, k]
    return tensors


def rotations(rng: np.random.Generator, count: int) -> Array:
    """Rotations about random axes, by up to 1.5 rad."""
    from scipy.spatial.transform import Rotation

    axes = rng.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return np.asarray(Rotation.from_rotvec(axes * rng.uniform(0, 1.5, (count, 1))).as_matrix())


def deformations(rng: np.random.Generator, count: int, size: float) -> Array:
    """Deformation gradients with logarithmic principal stretches of about `size`."""
    stretches = np.exp(size * rng.uniform(-1, 1, (count, 3)))
    return np.asarray(rotations(rng, count) @ (stretches[:, :, None] * np.eye(3)) @ rotations(rng, count))


def rotated(q: Array, tensors: Array) -> Array:
    """q T qᵀ."""
    return np.asarray(q @ tensors @ np.swapaxes(q, 1, 2))


def stiffness(law: Law, parameters: Parameters) -> float:
    """Modulus of uniaxial strain ρ c² [Pa]: the scale of the stresses."""
    return float(parameters.density * law.wave_speed(parameters) ** 2)


def present_stiffness(points: Points) -> Array:
    """Stiffness of each point as it is [Pa], not less than that at rest: rounding of strains changes the stress by as
    much. Found by a small compression and expansion."""
    stress = points.stress()
    moved = [points.copy().step((1.0 + change) * np.eye(3), 1e-3) for change in (1e-7, -1e-7)]
    found = np.max([np.abs(each - stress).max(axis=(1, 2)) for each in moved], axis=0) / 1e-7
    return np.asarray(np.maximum(np.nan_to_num(found), stiffness(points.law, points.parameters)))
