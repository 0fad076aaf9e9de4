"""Figures of [Gerszewski09]."""

from figures.gerszewski09 import (
    fig1_armadillo,
    fig2_cylinders,
    fig3_pile,
    fig4_bunny,
    fig5_boxes,
    fig6_dough,
    fig7_parameters,
    fig8_formulations,
    table1_times,
)

FIGURES = (
    fig1_armadillo.FIGURE,
    fig2_cylinders.FIGURE,
    fig3_pile.FIGURE,
    fig4_bunny.FIGURE,
    fig5_boxes.FIGURE,
    fig6_dough.FIGURE,
    fig7_parameters.FIGURE,
    fig8_formulations.FIGURE,
    table1_times.FIGURE,
)
