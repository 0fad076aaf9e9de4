"""A layer of glass beads flows down an incline with the profile of Bagnold."""

import math

import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Check, Outcome, Surroundings, relative
from reports.drawing import COLOURS, panels, save

from spume import Scene
from spume.materials.granular_flow import GranularFlowParameters
from spume.materials.table import complete_entry
from validation.periodic import PERIOD, EndlessStrip

THICKNESS = 0.02
"""H [m], 38 grains"""
CELLS = 16
"""cells per thickness. Material slides over the first sticking node on splines of a mean height of half a cell: the
layer is 3 % thicker or thinner on the grid, and its velocity, as H^(3/2), up to 5 % off."""
EMBEDDED = 2
ANGLES = (24.0, 28.0)
"""slopes with a steady flow [degrees]"""
AROUND_ONSET = (19.9, 21.9)
"""slopes one degree below and above that at which a layer begins to flow"""
STIFFNESS = 1.0e5
"""E [Pa]: the layer is compressed by 0.3 % under its weight"""
TRANSFER = {"scheme": "aflip", "damping_rate": 200.0}
"""The damping of APIC slows the layer by 18 % at 12 cells."""
SETTLED, LONGEST = 2e-3, 20.0
"""change of the surface velocity in half a second at which a flow is steady; longest time [s]"""
BEADS = {key: value for key, value in complete_entry("glass beads", {}).items() if key not in ("law", "look")}
BEADS |= {"youngs_modulus": STIFFNESS}
PARAMETERS = GranularFlowParameters(**BEADS)

Array = NDArray[np.float64]


def scene(angle: float) -> Scene:
    """An endless layer on a slope, which is horizontal with tilted gravity."""
    cell, theta = THICKNESS / CELLS, math.radians(angle)
    layer = {
        "center": [PERIOD * cell / 2, (THICKNESS - EMBEDDED * cell) / 2],
        "size": [3 * PERIOD * cell, THICKNESS + EMBEDDED * cell],
    }
    return Scene(
        title="a layer of beads on an incline", method="mpm", dimension=2, duration=100.0, grid={"cell": cell},
        gravity=[9.81 * math.sin(theta), -9.81 * math.cos(theta)], transfer=TRANSFER,
        material={"beads": {"law": "granular-flow", **BEADS}},
        body=[{"material": "beads", "shape": {"rectangle": layer}}],
        obstacle=[{"shape": {"half_space": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "stick"}],
    )  # fmt: skip


def bagnold(angle: float, y: Array) -> Array:
    """Closed form of the velocity at the height y [m/s]."""
    theta, p = math.radians(angle), PARAMETERS
    slow, fast = math.tan(math.radians(p.friction_angle)), math.tan(math.radians(p.fast_friction_angle))
    inertial = p.inertial_number * (math.tan(theta) - slow) / (fast - math.tan(theta))
    rate = inertial / p.grain_diameter * math.sqrt(p.density * 9.81 * math.cos(theta) / p.grain_density)
    return 2.0 / 3.0 * rate * (THICKNESS**1.5 - np.maximum(THICKNESS - y, 0.0) ** 1.5)


def surface_velocity(strip: EndlessStrip) -> float:
    """Mean velocity of the upper tenth of the layer [m/s]."""
    return float(strip.own("v")[strip.own("x")[:, 1] > 0.9 * THICKNESS, 0].mean())


def steady_profile(angle: float, around: Surroundings) -> tuple[Array, Array]:
    """Heights and velocities of the points of a steady flow."""
    strip = EndlessStrip(scene(angle))
    strip.sim.particles.v[:, 0] = bagnold(angle, strip.sim.particles.x[:, 1])
    before = surface_velocity(strip)
    while strip.time < LONGEST:
        strip.advance(0.5)
        now = surface_velocity(strip)
        around.say(f"{angle:g}°: t = {strip.time:.1f} s, surface at {now:.4f} m/s")
        if abs(now - before) < SETTLED * now:
            break
        before = now
    y, u = strip.own("x")[:, 1], strip.own("v")[:, 0]
    return y[y > 0.0], u[y > 0.0]


def flows(angle: float) -> bool:
    """Whether a layer that moves at the pace of a grain diameter in a second speeds up in half a second."""
    strip = EndlessStrip(scene(angle))
    strip.advance(0.1)  # the weight settles
    slow = PARAMETERS.grain_diameter
    strip.sim.particles.v[:, 0] += slow * np.clip(strip.sim.particles.x[:, 1] / THICKNESS, 0.0, 1.0)
    strip.advance(0.5)
    return surface_velocity(strip) > slow


def run(around: Surroundings) -> Outcome:
    """Profiles at both angles, and the angle at which flow begins."""
    outcome = Outcome()
    figure, (axes,) = panels()
    for angle, colour in zip(ANGLES, COLOURS):
        y, u = steady_profile(angle, around)
        theory = bagnold(angle, y)
        top = float(bagnold(angle, np.array([THICKNESS]))[0])
        outcome.checks.append(
            relative(f"velocity of the upper half, {angle:g}°", float(u[y > THICKNESS / 2].mean()),
                     float(theory[y > THICKNESS / 2].mean()), 0.05, "m/s")
        )  # fmt: skip
        worst = float(np.abs(u - theory).max()) / top
        outcome.checks.append(
            Check(
                f"largest deviation of the profile, {angle:g}°", f"{worst * top:.4f} m/s", "0",
                f"{100 * worst:.2f} % of the surface velocity", "≤ 5 %", worst <= 0.05,
            )
        )  # fmt: skip
        height = np.linspace(0.0, THICKNESS, 100)
        axes.plot(bagnold(angle, height), 1e3 * height, "k--", linewidth=1.0)
        axes.plot(u, 1e3 * y, ".", color=colour, markersize=2.0, label=f"{angle:g}°")
    for angle in AROUND_ONSET:
        around.say(f"{angle:g}°: does it flow?")
        found, expected = flows(angle), angle > PARAMETERS.friction_angle
        words = {True: "flows", False: "stops"}
        outcome.checks.append(
            Check(f"a slowly moving layer at {angle:g}°", words[found], words[expected], "", "±1°", found == expected)
        )
    axes.set(xlabel="velocity [m/s]", ylabel="height [mm]")
    axes.legend(frameon=False, fontsize=8)
    caption = "Velocity of the points of a flowing layer (dots) and Bagnold's profile (dashed)."
    outcome.figures.append((save(figure, around.pictures, "granular-layer"), caption))
    return outcome


CASE = Case(
    "granular-layer",
    "Glass beads flow down an incline",
    "In a steady layer μ(I) = tan θ at every height, so the inertial number is uniform and γ̇ d √(ρ_s/P) = I gives "
    "Bagnold's profile u = 2/3 (I/d) √(ρ g cos θ/ρ_s) (H^(3/2) − (H − y)^(3/2)) [Jop06]. Below θ_s a layer stops. "
    "Ours: law granular-flow, the named glass beads with a stiffness of 1e5 Pa, an endless two-dimensional layer of 16 "
    "cells on a sticking base, started with the profile and advanced until it is steady. The transfer is aflip with a "
    "damping of 200 /s: that of APIC slows a layer of 12 cells by 18 %.",
    run,
)
