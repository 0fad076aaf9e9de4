"""[Yue15] Table I: parameters of the materials."""

from reports.case import Outcome, Surroundings, states

from figures.figure import Figure
from spume.materials.table import named_materials

KEYS = (
    "density", "bulk_modulus", "shear_modulus", "yield_stress", "viscosity", "flow_index", "tear_threshold",
    "recovery_time",
)  # fmt: skip
PRINTED = {
    "shaving cream": (77.7, 109e3, 290.0, 31.9, 27.2, 0.22, 217.5, 0.35),
    "s'more interior": (50.0, 109e3, 80.0, 10.0, 16.0, 0.43, 15.0, 0.25),
    "s'more exterior": (50.0, 109e3, 50e3, 1000.0, 0.1, 1.0, 0.3, 0.5),
    "pie": (275.0, 109e3, 1600.0, 120.0, 5.0, 0.27, 10.0, 0.3),
    "oobleck": (1000.0, 109e3, 11.2e3, 0.1, 10.0, 2.8, 1.0, 0.3),
    "viscoplastic": (1000.0, 109e3, 11.2e3, 0.1, 10.0, 1.0, 1.0, 0.3),
}
"""Density [kg/m³], κ, μ, σY [Pa], η [Pa s^h], h, σT, ηp [s]."""


def run(around: Surroundings) -> Outcome:
    """Compare the table of named materials with the printed one."""
    outcome = Outcome()
    for name, printed in PRINTED.items():
        entry = named_materials()[name]
        base = named_materials()[entry["base"]] if "base" in entry else {}
        ours = tuple(float((base | entry)[key]) for key in KEYS)
        ours_text, printed_text = (", ".join(f"{value:g}" for value in values) for values in (ours, printed))
        outcome.checks.append(states(name, ours_text, printed_text, ours == printed))
    return outcome


FIGURE = Figure(
    "yue15-table-1",
    "Table I: material parameters",
    "Density [kg/m³], κ, μ, σY [Pa], η [Pa s^h], h, σT and ηp [s] of six materials.",
    run,
    paper="Yue15",
    finding="Converted from kPa to Pa.",
    presets=("paper",),
)
