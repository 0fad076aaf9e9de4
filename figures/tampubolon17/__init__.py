"""Figures of [Tampubolon17]."""

from figures.figure import NotMade
from figures.tampubolon17 import (
    fig4_dam_breach,
    fig5_multiplier,
    fig6_unilateral,
    fig8_hourglass,
    fig10_pile,
    fig11_column,
)

FIGURES = (
    fig4_dam_breach.FIGURE,
    fig5_multiplier.FIGURE,
    fig6_unilateral.FIGURE,
    fig8_hourglass.FIGURE,
    fig10_pile.FIGURE,
    fig11_column.FIGURE,
)
NOT_MADE = (
    NotMade(
        "tampubolon17-1",
        "Figure 1: dam breach",
        "Water erodes a dam, its cohesion decreases as water seeps in, and it breaks in a landslide.",
        "scene `dam-breach` exists, but with explicit steps; the paper's are semi-implicit and unilateral",
    ),
    NotMade(
        "tampubolon17-2",
        "Figure 2: levees",
        "A levee with a lower drag coefficient and lower cohesion fails more easily.",
        "scenes `levee…` exist, but no scene has the paper's combination of steps and energy",
    ),
    NotMade(
        "tampubolon17-3",
        "Figure 3: sand on wedges",
        "Boxes of sand with various values of cohesion are dropped onto a wedge, with explicit and semi-implicit "
        "steps.",
        "scenes `sand-wedge…` exist; the cohesion is not measured",
    ),
    NotMade(
        "tampubolon17-9",
        "Figure 9: pouring sand",
        "Without the volume correction, poured sand gains volume on a coarse grid (cells of 10 mm); on a fine one (1 "
        "mm), and with the correction, it does not.",
        "scenes `sand-pouring…` exist; cells of 1 mm are too expensive",
    ),
    NotMade(
        "tampubolon17-table-2",
        "Table 2: performance and parameters",
        "0.67 to 269 s a frame for ten examples.",
        "`python -m benchmarks.sand` measures it",
    ),
)
