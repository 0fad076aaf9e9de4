"""Figures of [Yue15]."""

from figures.yue15 import (
    fig1_shaving_cream,
    fig3_plasticity,
    fig4_relations,
    fig5_effective_viscosity,
    fig6_resampling,
    fig7_tearing,
    fig8_recovery,
    fig9_times,
    fig10_smore,
    fig11_toasted,
    fig12_pie,
    fig13_oobleck,
    fig14_pachinko,
    table1_materials,
    table2_sizes,
)

FIGURES = (
    fig1_shaving_cream.FIGURE,
    fig3_plasticity.FIGURE,
    fig4_relations.FIGURE,
    fig5_effective_viscosity.FIGURE,
    fig6_resampling.FIGURE,
    fig7_tearing.FIGURE,
    fig8_recovery.FIGURE,
    fig9_times.FIGURE,
    fig10_smore.FIGURE,
    fig11_toasted.FIGURE,
    fig12_pie.FIGURE,
    fig13_oobleck.FIGURE,
    fig14_pachinko.FIGURE,
    table1_materials.FIGURE,
    table2_sizes.FIGURE,
)
