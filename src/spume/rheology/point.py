"""One point of a material, deformed with the functions of its law."""

import math
from functools import cache
from typing import Any

from spume.fields import IDENTITY
from spume.materials.law import Law
from spume.materials.table import Material
from spume.numerics.jit import compiled

Tensor = tuple[float, ...]
NO_STRESS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@cache
def _repeat(law: Law) -> Any:
    update = law.update

    @compiled
    def repeat(f, dt, count, parameters, history):
        """Stress and history after `count` ≥ 1 steps of dt that each deform by f."""
        stress = NO_STRESS
        for _ in range(count):
            stress, history = update(f, dt, parameters, history)
        return stress, history

    return repeat


@cache
def _oscillate(law: Law) -> Any:
    update = law.update

    @compiled
    def oscillate(amplitude, omega, steps, cycles, parameters, history):
        """Means of τ12 sin ωt and τ12 cos ωt over the last of `cycles` cycles of γ = amplitude sin ωt, and history."""
        angle = 2.0 * math.pi / steps
        dt = angle / omega
        in_phase, out_of_phase = 0.0, 0.0
        for _ in range(cycles):
            in_phase, out_of_phase = 0.0, 0.0
            before = 0.0
            for k in range(1, steps + 1):
                strain = amplitude * math.sin(angle * k) if k < steps else 0.0
                f = (1.0, strain - before, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
                stress, history = update(f, dt, parameters, history)
                before = strain
                in_phase += stress[3] * math.sin(angle * k)
                out_of_phase += stress[3] * math.cos(angle * k)
        return in_phase / steps, out_of_phase / steps, history

    return oscillate


class Point:
    """One point, initially at rest; its history is a tuple, so a state can be saved and restored."""

    def __init__(self, material: Material) -> None:
        self.law = material.law
        self.packed = tuple(float(value) for value in self.law.pack(material.parameters))
        self.history: tuple[Any, ...] = tuple(
            tuple(map(float, field.initial)) if isinstance(field.initial, tuple) else float(field.initial)
            for field in self.law.fields
        )
        self.stiffness = material.parameters.density * self.law.wave_speed(material.parameters) ** 2
        """P-wave modulus [Pa], the scale of stresses"""
        self.stress: Tensor = NO_STRESS
        """Kirchhoff stress (xx, yy, zz, xy, xz, yz) [Pa]"""

    def deform(self, f: Tensor, dt: float, count: int = 1) -> None:
        """Take `count` steps of dt [s], each with the deformation f."""
        self.stress, self.history = _repeat(self.law)(f, float(dt), count, self.packed, self.history)

    def shear(self, strain: float, dt: float, count: int = 1) -> None:
        """Take `count` steps of dt [s] in simple shear, each by `strain`."""
        self.deform((1.0, float(strain), 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), dt, count)

    def stretch(self, x: float, y: float, z: float, dt: float) -> None:
        """Take one step with the logarithmic strains x, y, z along the axes."""
        self.deform((math.exp(x), 0.0, 0.0, 0.0, math.exp(y), 0.0, 0.0, 0.0, math.exp(z)), dt)

    def hold(self, dt: float, count: int = 1) -> None:
        """Take `count` steps of dt [s] without deformation."""
        self.deform(IDENTITY, dt, count)

    def oscillate(self, amplitude: float, omega: float, steps: int, cycles: int) -> tuple[float, float]:
        """Storage and loss modulus [Pa] over the last of `cycles` cycles of oscillating simple shear."""
        run = _oscillate(self.law)
        in_phase, out_of_phase, self.history = run(amplitude, omega, steps, cycles, self.packed, self.history)
        return 2.0 * in_phase / amplitude, 2.0 * out_of_phase / amplitude

    def state(self) -> tuple[Any, Tensor]:
        """State to be passed to `restore`."""
        return self.history, self.stress

    def restore(self, state: tuple[Any, Tensor]) -> None:
        """Restore a state returned by `state`."""
        self.history, self.stress = state

    def stresses(self) -> tuple[float, float]:
        """Shear stress and first normal stress difference [Pa]."""
        xx, yy, _, xy, _, _ = self.stress
        return xy, xx - yy

    def cauchy(self) -> Tensor:
        """Cauchy stress [Pa]."""
        J = self.volume_ratio()
        return tuple(value / J for value in self.stress)

    def magnitude(self) -> float:
        """s = ‖dev τ‖ [Pa]."""
        xx, yy, zz, xy, xz, yz = self.stress
        mean = (xx + yy + zz) / 3.0
        diagonal = (xx - mean) ** 2 + (yy - mean) ** 2 + (zz - mean) ** 2
        return math.sqrt(diagonal + 2.0 * (xy * xy + xz * xz + yz * yz))

    def energy(self) -> float:
        """Elastic energy [J/m³]."""
        return float(self.law.energy(self.packed, self.history))

    def volume_ratio(self) -> float:
        """J."""
        return float(self.law.volume_ratio(self.history))
