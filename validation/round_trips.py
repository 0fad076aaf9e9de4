"""Case 31: damping by round trips."""

import numpy as np
from reports.case import Case, Check, Outcome, Surroundings, relative
from reports.drawing import COLOURS, OURS, THEIRS, panels, save

from spume import Scene, Simulation
from spume.mpm.diagnostics import angular_momentum

CELLS, STEP = 64, 1e-3
"""Cells in a wavelength of 1 m; length of a step [s]."""
TRIPS = (0, 5, 10, 20, 40)
MOMENTS = {"quadratic": 8, "cubic": 6}
FIRST = 1e-4
"""Amplitude [m/s], for which nothing moves by more than a thousandth of a cell."""
DUST = {"law": "neo-hookean", "density": 1.0, "bulk_modulus": 1e-9, "shear_modulus": 1e-9}


def amplitude(spline: str, trips: int) -> float:
    """Amplitude of a shear wave in the middle of a sheet after a step with `trips` round trips [m/s]."""
    scene = Scene(
        title="wave", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0],
        grid={"cell": 1.0 / CELLS, "spline": spline}, time={"dt": STEP}, damping={"rpic_iterations": trips},
        material={"m": DUST},
        body=[{"material": "m", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [1.5, 0.4]}},
               "wave": {"velocity": [0.0, FIRST], "wave_vector": [2 * np.pi, 0.0]}}],
    )  # fmt: skip
    method = Simulation(scene).method
    method.take_step(STEP)
    p = method.particles
    middle = (np.abs(p.x[:, 0]) < 0.5) & (np.abs(p.x[:, 1]) < 0.08)
    shape = np.sin(2 * np.pi * p.x[middle, 0])
    return float((p.v[middle, 1] @ shape) / (shape @ shape))


def momentum_drift() -> tuple[float, float]:
    """Relative change of linear and angular momentum in a step with forty trips."""
    scene = Scene(
        title="spin", method="mpm", dimension=2, duration=1.0, gravity=[0.0, 0.0], grid={"cell": 0.05},
        time={"dt": 1e-4}, damping={"rpic_iterations": 40}, material={"m": DUST},
        body=[{"material": "m", "shape": {"circle": {"center": [0.3, 0.1], "radius": 0.4}}, "spin": 3.0,
               "velocity": [1.0, 2.0], "wave": {"velocity": [0.5, 1.0], "wave_vector": [9.0, 4.0]}}],
    )  # fmt: skip
    method = Simulation(scene).method
    p = method.particles
    linear, angular = p.mass @ p.v, angular_momentum(method.world)[2]
    method.take_step(1e-4)
    return (
        float(np.linalg.norm(p.mass @ p.v - linear) / np.linalg.norm(linear)),
        float(abs(angular_momentum(method.world)[2] / angular - 1)),
    )


def run(around: Surroundings) -> Outcome:
    """Check both splines, and the momenta."""
    outcome = Outcome()
    figure, (axes,) = panels()
    for (spline, moment), colour in zip(MOMENTS.items(), COLOURS):
        around.say(spline)
        found = np.array([amplitude(spline, trips) for trips in TRIPS])
        rate = -np.log(found[-1] / found[0]) / TRIPS[-1]
        expected = (2 * np.pi / CELLS) ** 2 / moment
        outcome.checks.append(relative(f"decay per trip, {spline} splines", float(rate), expected, 0.03))
        axes.semilogy(TRIPS, np.exp(-expected * np.array(TRIPS)), **THEIRS)
        axes.semilogy(TRIPS, found / found[0], **(OURS | {"color": colour}), label=spline)
    axes.plot([], [], **THEIRS, label="viscosity h²/(8 Δt), h²/(6 Δt)")
    axes.set(xlabel="round trips", ylabel="amplitude of the wave")
    axes.legend(frameon=False, fontsize=8)
    for name, drift in zip(("linear", "angular"), momentum_drift()):
        outcome.checks.append(Check(f"{name} momentum", f"{drift:.1e}", "0", "-", "≤ 1e-12", drift <= 1e-12))
    caption = "Amplitude of a shear wave of 64 cells after a step, over the number of round trips."
    outcome.figures.append((save(figure, around.pictures, "round-trips"), caption))
    return outcome


CASE = Case(
    "round-trips",
    "Damping by round trips",
    "One round trip that keeps only the rotation around points is equivalent to a viscosity of h²/(8 Δt) with "
    "quadratic splines ([Fang19] section 8) and, by the same argument, h²/(6 Δt) with cubic ones: a shear wave decays "
    "by exp(−ν k² Δt) per trip, and linear and angular momentum are conserved.",
    run,
)
