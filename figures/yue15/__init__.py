"""Figures of [Yue15]."""

from figures.figure import NotMade
from figures.yue15 import (
    fig1_shaving_cream,
    fig3_plasticity,
    fig4_relations,
    fig5_effective_viscosity,
    fig6_resampling,
    fig7_tearing,
    fig8_recovery,
    fig9_times,
    fig13_oobleck,
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
    fig13_oobleck.FIGURE,
    table1_materials.FIGURE,
    table2_sizes.FIGURE,
)
NOT_MADE = (
    NotMade(
        "yue15-10",
        "Figure 10: s'more of one material",
        "A marshmallow is crushed between two crackers and oozes through the cracks; when the upper cracker is lifted, "
        "a characteristic stiff peak forms.",
        "scene `smore` exists; the peak is not measured",
    ),
    NotMade(
        "yue15-11",
        "Figure 11: toasted s'more",
        "The stiff outer layer cracks and allows the softer interior to flow out.",
        "scene `toasted-smore` exists; the cracks are not measured",
    ),
    NotMade(
        "yue15-12",
        "Figure 12: pie throw",
        "A whipped cream pie is thrown at a face, clumps and tears; chunks adhere to the face.",
        "scene `pie-throw` exists; clumps are not measured",
    ),
    NotMade(
        "yue15-14",
        "Figure 14: pachinko",
        "Penguins of oobleck bounce off the first pins and flow after low-stress collisions with later ones.",
        "scene `penguin-pachinko` exists; bounces are not measured",
    ),
)
