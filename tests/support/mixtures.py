"""Small scenes of sand and water, made in code."""

from typing import Any

import numpy as np

from spume import Scene, Simulation

SAND = {
    "law": "drucker-prager", "density": 1600.0, "youngs_modulus": 1.0e5, "poisson_ratio": 0.3, "friction_angle": 30.0,
}  # fmt: skip
WATER = {"law": "water", "density": 1000.0, "bulk_modulus": 1.0e5}
PORE_WATER = WATER | {"density": 400.0}


def simulate(**tables: Any) -> Simulation:
    """A simulation of a sand-water scene in the plane; tables given here replace the defaults."""
    scene: dict[str, Any] = {
        "title": "mixture", "method": "sand-water", "duration": 1000.0, "dimension": 2,
        "material": {"sand": SAND, "water": WATER, "pore water": PORE_WATER},
        "mixture": {"hydraulic_conductivity": 1e-2},
    }  # fmt: skip
    return Simulation(Scene(**(scene | tables)))


def rectangle(lower, upper) -> dict[str, Any]:
    """The shape of a rectangle between two corners."""
    center = [0.5 * (a + b) for a, b in zip(lower, upper)]
    return {"rectangle": {"center": center, "size": [b - a for a, b in zip(lower, upper)]}}


def body(material: str, lower, upper, **more: Any) -> dict[str, Any]:
    """A rectangular body."""
    return {"material": material, "shape": rectangle(lower, upper), **more}


def settle(sim: Simulation, height: float, gravity: float = 9.81) -> None:
    """Put the water of a column that was filled from 0 to `height` into hydrostatic equilibrium.

    In the rest coordinate Y the pressure is k (J^−γ − 1) = ρ0 g (H − Y); a point is at y = ∫ J dY.
    """
    species = next(s for s in sim.method.world.species if s.name == "water")
    p, (_, parameters) = species.particles, species.model.materials[int(species.particles.material[0])]
    k, gamma = parameters.bulk_modulus / parameters.exponent, parameters.exponent

    def ratio(Y):
        return (1.0 + parameters.density * gravity * (height - Y) / k) ** (-1.0 / gamma)

    Y = np.linspace(0.0, height, 10001)
    y = np.concatenate([[0.0], np.cumsum(0.5 * (ratio(Y)[1:] + ratio(Y)[:-1]) * np.diff(Y))])
    p.Jw[:] = ratio(p.x[:, 1])
    p.x[:, 1] = np.interp(p.x[:, 1], Y, y)
    species.model.stress(p.arrays(), p.stress)
