"""Figures of [Fang19]."""

from figures.fang19 import (
    fig1_face_and_cherries,
    fig2_cars,
    fig3_warrior,
    fig4_model,
    fig5_silicone,
    fig6_viscosity,
    fig7_twisting,
    fig9_panda,
    fig10_ruiz,
    fig11_weights,
    fig12_relaxation,
    fig13_alien,
    fig14_coil,
    fig15_pet_monster,
    fig16_sand_column,
    fig17_sofa,
    table2_sizes,
)
from figures.figure import NotMade

FIGURES = (
    fig1_face_and_cherries.FIGURE,
    fig2_cars.FIGURE,
    fig3_warrior.FIGURE,
    fig4_model.FIGURE,
    fig5_silicone.FIGURE,
    fig6_viscosity.FIGURE,
    fig7_twisting.FIGURE,
    fig9_panda.FIGURE,
    fig10_ruiz.FIGURE,
    fig11_weights.FIGURE,
    fig12_relaxation.FIGURE,
    fig13_alien.FIGURE,
    fig14_coil.FIGURE,
    fig15_pet_monster.FIGURE,
    fig16_sand_column.FIGURE,
    fig17_sofa.FIGURE,
    table2_sizes.FIGURE,
)
NOT_MADE: tuple[NotMade, ...] = ()
