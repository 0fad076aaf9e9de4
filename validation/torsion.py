"""Case 33: a round bar twisted by its ends, elastic and beyond its yield stress."""

import math

import numpy as np
from reports.case import Case, Outcome, Surroundings, relative
from reports.drawing import OURS, THEIRS, panels, save

from spume import Scene, Simulation

RADIUS, HALF, CELL = 0.1, 0.2, 0.02
"""Radius, half the length between the clamps, and cells [m]."""
DENSITY, E, NU = 1000.0, 1e6, 0.3
MU = E / (2 * (1 + NU))
YIELD = math.sqrt(3.0) * MU * 2e-3
"""Yield stress [Pa]: it yields at a shear strain of 0.002."""
STEP = 0.1
"""Time step [s], in which a shear wave crosses the length 5 times, so every step ends close to equilibrium."""
SMALL, LARGE = 2e-3, 4e-2
"""Shear strains at the surface: elastic, and twenty times the yield strain."""


def torques(law: dict, strain: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Shear strain at the surface and torque [N m] after each step while the right end rotates.

    Both are those in the middle of the bar: near the clamps the material rotates less than they do."""
    angle = strain * 2 * HALF / RADIUS
    clamp = [
        {"shape": {"box": {"center": [side * (HALF + 0.1), 0.0, 0.0], "size": [0.2, 0.4, 0.4]}}, "contact": "stick"}
        for side in (-1.0, 1.0)
    ]
    clamp[1]["motion"] = {"rotate": {"axis": [1.0, 0.0, 0.0], "rate": angle / (steps * STEP)}}
    scene = Scene(
        title="torsion", method="mpm", dimension=3, duration=10.0, gravity=[0.0, 0.0, 0.0],
        grid={"cell": CELL, "spline": "quadratic"}, time={"integrator": "implicit", "dt": STEP},
        implicit={"iterations": 600, "tolerance": 1e-4, "linear_tolerance": 0.1, "over_relaxation": 1.5},
        material={"m": {"density": DENSITY, "youngs_modulus": E, "poisson_ratio": NU} | law},
        body=[{"material": "m", "shape": {"cylinder": {"center": [0.0, 0.0, 0.0], "radius": RADIUS,
                                                       "height": 2 * HALF + 3 * CELL, "axis": [1.0, 0.0, 0.0]}}}],
        obstacle=clamp,
    )  # fmt: skip
    method = Simulation(scene).method
    p = method.particles
    start = p.x[np.argsort(p.id)].copy()
    gauge = np.abs(start[:, 0]) < HALF / 2
    X, arm = start[gauge], start[gauge, 1] ** 2 + start[gauge, 2] ** 2
    found, strains = [], []
    for _ in range(steps):
        method.take_step(STEP)
        middle = np.abs(p.x[:, 0]) < 2 * CELL
        # ∫ (y τ_xz − z τ_xy) dA, as the mean over a slice four cells long
        moment = p.x[:, 1] * p.stress[:, 4] - p.x[:, 2] * p.stress[:, 3]
        found.append(float((p.volume * moment)[middle].sum()) / (4 * CELL))
        # angle φ of each point about the axis, and φ' by least squares with r² as weights
        x = p.x[np.argsort(p.id)][gauge]
        turned = np.arctan2(X[:, 1] * x[:, 2] - X[:, 2] * x[:, 1], X[:, 1] * x[:, 1] + X[:, 2] * x[:, 2])
        strains.append(RADIUS * float(np.polyfit(X[:, 0], turned, 1, w=np.sqrt(arm))[0]))
    return np.array(strains), np.array(found)


def run(around: Surroundings) -> Outcome:
    """Both bars."""
    outcome = Outcome()
    figure, (axes,) = panels()
    around.say("elastic")
    strain, torque = torques({"law": "hencky"}, SMALL, 4)
    stiffness = MU * math.pi * RADIUS**4 / 2 / RADIUS  # torque over the shear strain at the surface
    outcome.checks.append(
        relative("torque of the elastic bar", float(torque[-1]), stiffness * float(strain[-1]), 0.05, "N m")
    )
    limit = 2 * math.pi / 3 * YIELD / math.sqrt(3.0) * RADIUS**3
    axes.plot(strain, torque, **OURS, label="elastic")
    around.say("von Mises")
    strain, torque = torques({"law": "von-mises", "yield_stress": YIELD}, LARGE, 16)
    outcome.checks.append(relative("limit torque of the plastic bar", float(torque[-1]), limit, 0.05, "N m"))
    axes.plot(strain, torque, **(OURS | {"marker": "s"}), label="von Mises")
    fine = np.linspace(0, LARGE, 200)
    axes.plot(fine, np.minimum(stiffness * fine, 1.2 * limit), **THEIRS, label="μ J θ/L")
    axes.axhline(limit, **(THEIRS | {"linestyle": "--"}), label="(2π/3) (σY/√3) r³")
    axes.set(xlabel="shear strain at the surface", ylabel="torque [N m]")
    axes.legend(frameon=False, fontsize=8)
    outcome.figures.append((save(figure, around.pictures, "torsion"), "Torque over twist."))
    return outcome


CASE = Case(
    "torsion",
    "Twisted bar",
    "A round bar of radius r and length L twisted by θ has the torque μ J θ/L with J = π r⁴/2; a bar that yields at "
    "σY (von Mises) at most (2π/3) (σY/√3) r³. Ours: five cells per radius, implicit steps by ADMM, the torque "
    "from the stresses of a slice in the middle, the twist from the points of the middle half.",
    run,
)
