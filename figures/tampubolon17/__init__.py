"""Figures of [Tampubolon17]."""

from figures.tampubolon17 import (
    fig1_dam_breach,
    fig2_levees,
    fig3_wedges,
    fig4_dam_breach,
    fig5_multiplier,
    fig6_unilateral,
    fig8_hourglass,
    fig9_pouring,
    fig10_pile,
    fig11_column,
    table2_times,
)

FIGURES = (
    fig1_dam_breach.FIGURE,
    fig2_levees.FIGURE,
    fig3_wedges.FIGURE,
    fig4_dam_breach.FIGURE,
    fig5_multiplier.FIGURE,
    fig6_unilateral.FIGURE,
    fig8_hourglass.FIGURE,
    fig9_pouring.FIGURE,
    fig10_pile.FIGURE,
    fig11_column.FIGURE,
    table2_times.FIGURE,
)
