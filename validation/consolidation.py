"""Case 26: one-dimensional consolidation of saturated soil, after Terzaghi: a column that is loaded at both ends, and
one on a closed base under a drained surface, as an engineer would build it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from reports.case import Case, Check, Outcome, Surroundings
from reports.drawing import COLOURS, panels, save

from spume import Scene, Simulation

HEIGHT = 1.0
"""H [m]: half of a column that is drained and loaded at both ends; its middle acts as the closed end"""
CELLS = 32
"""cells along H"""
CONDUCTIVITY, YOUNGS_MODULUS, POISSON_RATIO, POROSITY, BULK_MODULUS = 1e-3, 1e7, 0.3, 0.4, 2.2e8
DENSITY = 1590.0
"""density of the soil without its water [kg/m³]"""
LOAD = 1e4
"""load [Pa]"""
TIMES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""T = c_v t/H² [1]"""
BOUND = 0.05
"""tolerance relative to p0"""

OEDOMETER = YOUNGS_MODULUS * (1 - POISSON_RATIO) / ((1 + POISSON_RATIO) * (1 - 2 * POISSON_RATIO))
SHARE = (BULK_MODULUS / POROSITY) / (BULK_MODULUS / POROSITY + OEDOMETER)
"""Fraction of the load that the water carries initially"""
COEFFICIENT = CONDUCTIVITY * OEDOMETER / (1000.0 * 9.81) * SHARE
"""c_v [m²/s]"""
WAVE = ((BULK_MODULUS / POROSITY + OEDOMETER) / (DENSITY + 1000.0 * POROSITY)) ** 0.5
"""Speed of waves in which grains and water move together [m/s]"""
RAMP = 2.5 * 4 * HEIGHT / WAVE
"""Time over which the load grows as ½ − ½ cos(πt/RAMP) [s]: an odd number of half periods of the slowest wave (4 H/c),
which leaves no oscillation. A load that grew linearly over 2.7 periods left an oscillation of 7 % of p0."""


LONG_STEP, TOLERANCE = 1e-3, 1e-5
"""Step [s] and tolerance of the semi-implicit run. With the default tolerance, 1e-3, single rows of points below the
drained surface are off by 14 % of p0 at T = 0.5."""


def scene(closed: bool = False, **tables: Any) -> Scene:
    """A column of saturated soil between smooth walls, loaded on the sand: at both of its ends, or, on a `closed` base,
    at the top, above which the water is drained."""
    cell = HEIGHT / CELLS
    width = 2 * cell
    bottom = 0.0 if closed else -HEIGHT
    column = {"rectangle": {"center": [width / 2, (HEIGHT + bottom) / 2], "size": [width, HEIGHT - bottom]}}
    top, below = ({"rectangle": {"center": [width / 2, y], "size": [10 * width, HEIGHT]}} for y in (HEIGHT, -HEIGHT))
    above = {"rectangle": {"center": [width / 2, 1.5 * HEIGHT], "size": [10 * width, HEIGHT]}}
    base = {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}
    obstacles = [{"shape": base, "contact": "slip"}, {"shape": above, "drained": True, "holds": "none"}]
    growth = np.linspace(0.0, 1.0, 41)
    return Scene(
        title="consolidation", method="sand-water", dimension=2, duration=100.0, gravity=[0.0, 0.0],
        grid={"cell": cell, "walls": {"lower": [0.0, -2 * HEIGHT], "upper": [width, 2 * HEIGHT], "contact": "slip"}},
        mixture={"hydraulic_conductivity": CONDUCTIVITY, "porosity": POROSITY, "coupling": "pore-pressure"},
        material={
            "soil": {
                "law": "hencky", "density": DENSITY, "youngs_modulus": YOUNGS_MODULUS, "poisson_ratio": POISSON_RATIO,
            },
            "pore water": {
                "law": "water", "density": 1000.0 * POROSITY, "bulk_modulus": BULK_MODULUS, "exponent": 1.0,
            },
        },
        body=[{"material": "soil", "shape": column}, {"material": "pore water", "shape": column}],
        obstacle=obstacles if closed else [],
        force=[
            {
                "shape": shape, "traction": [0.0, load], "acts_on": "sand", "times": (RAMP * growth).tolist(),
                "factors": (0.5 - 0.5 * np.cos(np.pi * growth)).tolist(),
            }
            for shape, load in ([(top, -LOAD)] if closed else [(top, -LOAD), (below, LOAD)])
        ],
        **tables,
    )  # fmt: skip


def excess_pressure(depth: np.ndarray, T: float) -> np.ndarray:
    """p/p0 at depths z/H below the drained surface."""
    m = np.arange(1, 400, 2)[:, None]
    terms = 4 / (m * np.pi) * np.sin(0.5 * m * np.pi * depth) * np.exp(-((0.5 * m * np.pi) ** 2) * T)
    return np.asarray(terms.sum(axis=0))


def rows_of_points(scene: Scene) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """T, depth z/H and p/p0 of the rows of points at each of TIMES, which start in the middle of the ramp."""
    sim = Simulation(scene)
    water = sim.method.species["water"]  # type: ignore[attr-defined]
    height = dict(zip(water.id.tolist(), water.x[:, 1].tolist()))
    for T in TIMES:
        sim.advance(T * HEIGHT**2 / COEFFICIENT + 0.5 * RAMP - sim.time)
        pressure = sim.method.frame()["water"]["pressure"] / (LOAD * SHARE)
        start = np.array([height[point] for point in water.id.tolist()])
        rows = np.unique(start)
        yield T, 1.0 - np.abs(rows) / HEIGHT, np.array([pressure[start == row].mean() for row in rows])


def run(around: Surroundings) -> Outcome:
    """Compare the pressure of all rows of points with the series, in three runs."""
    outcome = Outcome()
    figure, axes = panels(2)
    fine = np.linspace(0.0, 1.0, 200)
    implicit = {
        "time": {"integrator": "semi-implicit", "dt": LONG_STEP}, "semi_implicit": {
            "tolerance": TOLERANCE, "linear_tolerance": 1e-3,
        },
    }  # fmt: skip
    runs: tuple[tuple[str, Scene, Any, str], ...] = (
        ("loaded at both ends", scene(), axes[0], "o"),
        ("closed base", scene(closed=True), axes[1], "o"),
        ("closed base, semi-implicit", scene(closed=True, **implicit), axes[1], "x"),
    )
    for name, built, panel, mark in runs:
        for k, (T, depth, ours) in enumerate(rows_of_points(built)):
            around.say(f"{name}, T = {T:g}")
            worst = float(np.abs(ours - excess_pressure(depth, T)).max())
            outcome.checks.append(
                Check(f"pore pressure at T = {T:g}, {name}", "all rows", "series", f"{100 * worst:.2g} % of p0",
                      f"≤ {100 * BOUND:g} % of p0", worst <= BOUND)
            )  # fmt: skip
            panel.plot(
                excess_pressure(fine, T), fine, "k--", lw=0.8, label="Terzaghi" if k + (mark == "x") == 0 else None
            )
            panel.plot(ours, depth, mark, ms=3, color=COLOURS[k % len(COLOURS)], label=f"T = {T:g}" * (mark == "o"))
    for panel, title in zip(axes, ("loaded at both ends", "closed base, drained top; × semi-implicit")):
        panel.set(xlabel="p/p0", ylabel="depth z/H", ylim=(1, 0), title=title)
        panel.legend(frameon=False, fontsize=8)
    outcome.figures.append(
        (save(figure, around.pictures, "consolidation"), "Pore pressure in a loaded column of soil.")
    )
    return outcome


CASE = Case(
    "consolidation",
    "Saturated soil consolidates",
    "A column of saturated soil is loaded at both of its drained ends; its middle is the closed end of the theory. The "
    "water carries the load at first and transfers it to the grains as it drains, by [Terzaghi43] p/p0 = Σ 4/(mπ) "
    "sin(mπz/2H) exp(−m²π²T/4), m odd, T = c_v t/H², with c_v = k̂ E_oed/(ρw g) and p0 both reduced by the factor "
    '(Kw/n)/(Kw/n + E_oed), due to the compressibility of the water. Ours: coupling "pore-pressure", 32 cells along H, '
    "explicit steps. The second column, of height H, stands on a closed base, an obstacle, and is drained above: also "
    "with semi-implicit steps of 1 ms.",
    run,
)
