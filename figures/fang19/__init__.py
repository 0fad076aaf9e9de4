"""Figures of [Fang19]."""

from figures.fang19 import fig4_model, fig10_ruiz, fig11_weights, fig12_relaxation
from figures.figure import NotMade

FIGURES = (fig4_model.FIGURE, fig10_ruiz.FIGURE, fig11_weights.FIGURE, fig12_relaxation.FIGURE)
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
        "fang19-6",
        "Figure 6: shear modulus and viscosity",
        "Close to zero, μE makes a fluid; a larger ν resists rapid deformation more.",
        "scene `viscosity-and-stiffness` exists",
    ),
    NotMade(
        "fang19-7",
        "Figure 7: twisting",
        "ADMM behaves like explicit integration for hyperelastic and von Mises material.",
        "scenes `twisting…` exist; [measured in draft](../measured/implicit.md), metal differs: 22 to 101° for 38 to "
        "106°",
    ),
    NotMade(
        "fang19-9",
        "Figure 9: panda",
        "An array of balls compresses two pandas; the hyperelastic one recovers at once, the viscoelastic one takes "
        "much longer.",
        "scene `panda` exists, with two balls for an array",
    ),
    NotMade(
        "fang19-13",
        "Figure 13: alien",
        "RPIC iterations introduce damping in a controllable way.",
        "scene `alien` and its presets exist",
    ),
    NotMade(
        "fang19-14",
        "Figure 14: coil",
        "A coil buckles at the left; from left to right the equilibrated shear modulus increases, and coils are more "
        "elastic.",
        "scene `coil` exists; 1.75 and 35 Pa give the same picture",
    ),
    NotMade(
        "fang19-15",
        "Figure 15: pet monster",
        "Larger νd and νv resist deformation at a high rate more.",
        "scene `pet-monster` exists",
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
    NotMade(
        "fang19-table-2",
        "Table 2: parameters and statistics",
        "Cells, steps, points, densities, moduli, viscosities and 22 to 574 s a frame.",
        "[parameters](parameters.md) are compared; times by `python -m benchmarks.implicit`",
    ),
)
