"""Figures of [DryFoam]."""

from figures.dryfoam import (
    fig1_t1,
    fig2_t2,
    fig3_ghost_bubble,
    fig4_equilibrium,
    fig5_times,
    fig6_evolution,
    fig7_collapse,
    fig8_pressures,
)

FIGURES = (
    fig1_t1.FIGURE,
    fig2_t2.FIGURE,
    fig3_ghost_bubble.FIGURE,
    fig4_equilibrium.FIGURE,
    fig5_times.FIGURE,
    fig6_evolution.FIGURE,
    fig7_collapse.FIGURE,
    fig8_pressures.FIGURE,
)
