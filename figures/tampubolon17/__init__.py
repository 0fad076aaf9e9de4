"""Figures of [Tampubolon17]."""

from figures.figure import NotMade
from figures.tampubolon17 import (
    fig3_wedges,
    fig4_dam_breach,
    fig5_multiplier,
    fig6_unilateral,
    fig8_hourglass,
    fig9_pouring,
    fig10_pile,
    fig11_column,
)

FIGURES = (
    fig3_wedges.FIGURE,
    fig4_dam_breach.FIGURE,
    fig5_multiplier.FIGURE,
    fig6_unilateral.FIGURE,
    fig8_hourglass.FIGURE,
    fig9_pouring.FIGURE,
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
        "tampubolon17-table-2",
        "Table 2: performance and parameters",
        "0.67 to 269 s a frame for ten examples.",
        "`python -m benchmarks.sand` measures it",
    ),
)
