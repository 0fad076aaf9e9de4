"""Numbers about a state: what is conserved, what is stored, what went into the steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.mpm.state import State


def elastic_energy(state: State) -> float:
    """Energy stored by all laws [J]."""
    p = state.particles
    return float(p.volume @ state.model.energy(p.arrays()))


def kinetic_energy(state: State) -> float:
    """½ Σ m v² [J], with the affine part of APIC: the energy of the velocity field each point carries. [Jiang15]"""
    p = state.particles
    squares = np.einsum("ij,ij->i", p.v, p.v)
    if state.grid.affine:
        squares = squares + _second_moment(state) * np.einsum("pij,pij->p", p.C, p.C)
    return float(0.5 * p.mass @ squares)


def _second_moment(state: State) -> float:
    """Σ_i w (x_i − x_p)² along each axis [m²]."""
    return state.grid.cell**2 / (4.0 if state.grid.order == 2 else 3.0)


def angular_momentum(state: State) -> NDArray[np.float64]:
    """Σ m x × v about the origin [kg m²/s], with the affine part of APIC; in the plane only z differs from zero."""
    p = state.particles
    x, v = _spatial(p.x), _spatial(p.v)
    total = np.sum(np.cross(x, v) * p.mass[:, None], axis=0)
    if state.grid.affine:
        C = np.zeros((len(p), 3, 3))
        d = state.grid.dimension
        C[:, :d, :d] = p.C
        # Σ_i m w (x_i − x_p) × C (x_i − x_p), [Jiang15]
        spin = np.stack([C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]], axis=1)
        total = total + _second_moment(state) * np.sum(spin * p.mass[:, None], axis=0)
    return np.asarray(total)


def diagnose(state: State) -> dict[str, Any]:
    """The diagnostics of a frame, SI units, JSON-serialisable."""
    p = state.particles
    J = state.model.volume_ratio(p.arrays())
    gravity = state.gravity(state.time)[: state.grid.dimension]
    report: dict[str, Any] = {
        "points": len(p),
        "mass": float(p.mass.sum()),
        "momentum": (p.mass @ p.v).tolist(),
        "angular_momentum": angular_momentum(state).tolist(),
        "kinetic_energy": kinetic_energy(state),
        "elastic_energy": elastic_energy(state),
        "gravitational_energy": float(-p.mass @ (p.x @ gravity)),
        "volume": float(p.volume @ J),
        "volume_ratio_min": float(J.min(initial=np.inf)) if len(p) else None,
        "volume_ratio_max": float(J.max(initial=-np.inf)) if len(p) else None,
        "speed_max": float(np.sqrt(np.einsum("ij,ij->i", p.v, p.v).max(initial=0.0))),
        "dt": state.time_step.last,
        "steps": state.steps,
        "seconds": {stage: round(spent, 6) for stage, spent in state.seconds.items()},
    }
    if "dissipation" in p:
        report["dissipated_energy"] = float(p.volume @ p.dissipation)
    return report


def _spatial(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors of the plane with a zero third component."""
    return a if a.shape[1] == 3 else np.pad(a, ((0, 0), (0, 1)))
