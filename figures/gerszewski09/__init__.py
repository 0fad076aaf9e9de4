"""Figures of [Gerszewski09]."""

from figures.figure import NotMade
from figures.gerszewski09 import (
    fig2_cylinders,
    fig5_boxes,
    fig7_parameters,
    fig8_formulations,
    table1_times,
)

FIGURES = (
    fig2_cylinders.FIGURE,
    fig5_boxes.FIGURE,
    fig7_parameters.FIGURE,
    fig8_formulations.FIGURE,
    table1_times.FIGURE,
)
NOT_MADE = (
    NotMade(
        "gerszewski09-1",
        "Figure 1: armadillo",
        "An armadillo like a cornstarch solution bounces on the ground at first; when the stress is reduced, it flows.",
        "scene `armadillo` exists; a run of 4 s is long",
    ),
    NotMade(
        "gerszewski09-3",
        "Figure 3: pile",
        "Two different shapes form a pile on the ground; at right, the simulation particles.",
        "scene `pile` exists; rings stack, and colours bleed between bodies that have fused",
    ),
    NotMade(
        "gerszewski09-4",
        "Figure 4: bunny on a sphere",
        "An elastoplastic bunny falls on a sphere (a second example is in the video).",
        "scene `bunny-on-sphere` exists",
    ),
    NotMade(
        "gerszewski09-6",
        "Figure 6: star of dough",
        "Footage of bread dough shaped like a star is compared with a simulation.",
        "scene `dough-star` exists; there is no footage",
    ),
)
