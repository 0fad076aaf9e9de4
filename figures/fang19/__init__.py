"""Figures of [Fang19]."""

from figures.fang19 import (
    fig4_model,
    fig6_viscosity,
    fig9_panda,
    fig10_ruiz,
    fig11_weights,
    fig12_relaxation,
    fig13_alien,
    fig14_coil,
    fig15_pet_monster,
    table2_sizes,
)
from figures.figure import NotMade

FIGURES = (
    fig4_model.FIGURE,
    fig6_viscosity.FIGURE,
    fig9_panda.FIGURE,
    fig10_ruiz.FIGURE,
    fig11_weights.FIGURE,
    fig12_relaxation.FIGURE,
    fig13_alien.FIGURE,
    fig14_coil.FIGURE,
    fig15_pet_monster.FIGURE,
    table2_sizes.FIGURE,
)
NOT_MADE = (
    NotMade(
        "fang19-1",
        "Figure 1: face and cherries",
        "Compliant and slowly recovering silicone (left), flowing and merging cream (right), in one framework.",
        "scenes `faceless`, `cherries` exist; the cream hardly moves, and the rod tears the face",
    ),
    NotMade(
        "fang19-2",
        "Figure 2: car crash",
        "Cars of von Mises metal end up fully stopped by plastic dissipation.",
        "scene `cars` exists",
    ),
    NotMade(
        "fang19-3",
        "Figure 3: warrior",
        "A long, thick viscoelastic sheet drops onto a rotating statue and folds in a complex way.",
        "scene `warrior` exists",
    ),
    NotMade(
        "fang19-5",
        "Figure 5: silicone",
        "Silicone complies with slow deformation and, when released, slowly deforms back to its original shape.",
        "scene `silicone` exists, with a pull of 0.14 m for the paper's 0.2 m",
    ),
    NotMade(
        "fang19-7",
        "Figure 7: twisting",
        "ADMM behaves like explicit integration for hyperelastic and von Mises material.",
        "scenes `twisting…` exist; [measured in draft](../measured/implicit.md), metal differs: 22 to 101° for 38 to "
        "106°",
    ),
    NotMade(
        "fang19-16",
        "Figure 16: sand column",
        "Collapse of sand, times of ADMM and of explicit steps, and decrease of the residual with 15 iterations.",
        "scenes `sand-column-…` exist; [measured in draft](../measured/implicit.md), implicit sand runs farther",
    ),
    NotMade(
        "fang19-17",
        "Figure 17: sofa",
        "Two sofas of solid foam are torn apart and come to rest.",
        "scene `sofa` exists",
    ),
)
