"""Case 26: one-dimensional consolidation of saturated soil, after Terzaghi."""

import numpy as np

from spume import Scene, Simulation
from validation.case import Case, Check, Outcome, Surroundings
from validation.drawing import COLOURS, panels, save

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


def scene() -> Scene:
    """A column of saturated soil between smooth walls, loaded on the sand at both ends."""
    cell = HEIGHT / CELLS
    width = 2 * cell
    column = {"rectangle": {"center": [width / 2, 0.0], "size": [width, 2 * HEIGHT]}}
    ends = [{"rectangle": {"center": [width / 2, y], "size": [10 * width, HEIGHT]}} for y in (HEIGHT, -HEIGHT)]
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
        force=[
            {
                "shape": shape, "traction": [0.0, load], "acts_on": "sand", "times": (RAMP * growth).tolist(),
                "factors": (0.5 - 0.5 * np.cos(np.pi * growth)).tolist(),
            }
            for shape, load in zip(ends, (-LOAD, LOAD))
        ],
    )  # fmt: skip


def excess_pressure(depth: np.ndarray, T: float) -> np.ndarray:
    """p/p0 at depths z/H below the drained surface."""
    m = np.arange(1, 400, 2)[:, None]
    terms = 4 / (m * np.pi) * np.sin(0.5 * m * np.pi * depth) * np.exp(-((0.5 * m * np.pi) ** 2) * T)
    return np.asarray(terms.sum(axis=0))


def run(around: Surroundings) -> Outcome:
    """Compare the pressure of the rows of points with the series; time starts in the middle of the ramp."""
    sim = Simulation(scene())
    water = sim.method.species["water"]  # type: ignore[attr-defined]
    height = dict(zip(water.id.tolist(), water.x[:, 1].tolist()))
    outcome = Outcome()
    figure, (axes,) = panels()
    fine = np.linspace(0.0, 1.0, 200)
    for k, T in enumerate(TIMES):
        around.say(f"T = {T:g}")
        sim.advance(T * HEIGHT**2 / COEFFICIENT + 0.5 * RAMP - sim.time)
        pressure = sim.method.frame()["water"]["pressure"] / (LOAD * SHARE)
        start = np.array([height[point] for point in water.id.tolist()])
        rows = np.unique(start)
        ours = np.array([pressure[start == row].mean() for row in rows])
        depth = 1.0 - np.abs(rows) / HEIGHT
        worst = float(np.abs(ours - excess_pressure(depth, T)).max())
        outcome.checks.append(
            Check(f"pore pressure at T = {T:g}", "all rows", "series", f"{100 * worst:.2g} % of p0",
                  f"≤ {100 * BOUND:g} % of p0", worst <= BOUND)
        )  # fmt: skip
        axes.plot(excess_pressure(fine, T), fine, "k--", lw=0.8, label="Terzaghi" if k == 0 else None)
        axes.plot(ours, depth, "o", ms=3, color=COLOURS[k % len(COLOURS)], label=f"T = {T:g}")
    axes.set(xlabel="p/p0", ylabel="depth z/H", ylim=(1, 0))
    axes.legend(frameon=False, fontsize=8)
    outcome.figures.append(
        (save(figure, around.pictures, "consolidation"), "Pore pressure in a loaded column of soil.")
    )
    return outcome


CASE = Case(
    "consolidation",
    "Saturated soil consolidates",
    "A column of saturated soil is loaded at both of its drained ends; its middle is the closed end of the theory. The "
    "water carries the load at first and transfers it to the grains as it drains: Terzaghi's p/p0 = Σ 4/(mπ) "
    "sin(mπz/2H) exp(−m²π²T/4), m odd, T = c_v t/H², with c_v = k̂ E_oed/(ρw g) and p0 both reduced by the factor "
    '(Kw/n)/(Kw/n + E_oed), due to the compressibility of the water. Ours: coupling "pore-pressure", explicit steps, '
    "32 cells along H.",
    run,
)
