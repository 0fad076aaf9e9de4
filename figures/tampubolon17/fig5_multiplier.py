"""[Tampubolon17] figure 5: the multiplier of the unilateral energy in strain space, beside the cone."""

import math

import numpy as np
from numpy.typing import NDArray
from reports.case import Outcome, Surroundings, at_most, states
from reports.drawing import panels, save

from figures.figure import Figure
from spume.materials.drucker_prager import cone_coefficients
from spume.materials.hencky import lame_parameters
from spume.materials.unilateral import Unilateral, at_tip, cone_opening, multiplier

ANGLE = 35.0
"""Friction angle [degrees]."""
MU, LAM = lame_parameters(1.0, 0.3)
C_F, _ = cone_coefficients(ANGLE, 0.0, "compression")
SHAPE = Unilateral(a=-0.5, b=0.0, c0=cone_opening(MU, LAM, C_F), s_C=0.0, v0=0.5)
HYDROSTATIC, DEVIATOR = np.full(3, 1.0 / math.sqrt(3.0)), np.array([1.0, -1.0, 0.0]) / math.sqrt(2.0)
DEEP, WIDE = -3.0, 2.5
"""Limits of the strains that are drawn [1]."""

Array = NDArray[np.float64]


def multiplier_at(u: Array, v: Array, deviator: Array = DEVIATOR) -> Array:
    """h at hydrostatic strains u and deviatoric strains v in the direction `deviator`."""
    strains = u[..., None] * HYDROSTATIC + v[..., None] * deviator
    packed = at_tip(SHAPE.packed(), 0.0)
    values = [multiplier(packed, tuple(strain))[0] for strain in strains.reshape(-1, 3)]
    return np.reshape(values, u.shape)


def jumps(step: float) -> tuple[float, float]:
    """Largest change of the second difference quotient of h between neighbours `step` apart, across the whole range on
    the axis, and its largest value."""
    u = np.arange(SHAPE.a - 0.2, SHAPE.b + 0.2, step)
    second = np.diff(multiplier_at(u, np.zeros_like(u)), 2) / step**2
    return float(np.abs(np.diff(second)).max()), float(np.abs(second).max())


def run(around: Surroundings) -> Outcome:
    """Draw the contours, and look where the multiplier is one and zero."""
    u, v = np.meshgrid(np.linspace(DEEP, 1.0, 161), np.linspace(-WIDE, WIDE, 201))
    h = multiplier_at(u, v)
    figure, (axes,) = panels(height=4.4)
    filled = axes.contourf(u, v, h, levels=np.linspace(0.0, 1.0, 11), cmap="Blues")
    tip = np.array([DEEP, 0.0])
    for sign in (1, -1):
        label = f"Drucker-Prager cone, {ANGLE:g}°" if sign > 0 else None
        axes.plot(tip, -sign * tip / SHAPE.c0, "g-", label=label)
    for place, letter in (((-2.2, 0.0), "A"), ((-0.55, 0.55), "B"), ((0.5, 1.5), "C")):
        axes.annotate(letter, place, fontsize=14, color="#c8553d")
    axes.set(xlabel="u = tr ε/√3", ylabel="v = ‖dev ε‖", ylim=(-WIDE, WIDE))
    axes.legend(frameon=False, fontsize=8)
    figure.colorbar(filled, label="multiplier h")
    inside = np.abs(v) < -u / SHAPE.c0
    other = multiplier_at(u, v, np.array([1.0, 1.0, -2.0]) / math.sqrt(6.0))
    coarse, (fine, largest) = jumps(1e-3)[0], jumps(5e-4)
    outside = (u + SHAPE.c0 * np.abs(v) ** 4 / (SHAPE.v0**3 + np.abs(v) ** 3)) >= SHAPE.b
    outcome = Outcome(
        [
            states("the multiplier is zero in region C and nowhere else",
                   f"{np.count_nonzero((h == 0.0) != outside)} of {h.size} places differ", "none",
                   bool(np.all((h == 0.0) == outside))),
            # rounding of the trace and of the norm of the deviator
            at_most("difference between two directions of the deviator", float(np.abs(h - other).max()), 1e-12),
            states("change of the second derivative between neighbours when their distance is halved",
                   f"{coarse:.3g} to {fine:.3g}, of {largest:.3g}", "halves: C²", fine <= 0.6 * coarse),
            states("part of the cone in which the multiplier is one", f"{np.mean(h[inside] == 1.0):.1%}",
                   "most of it: more than half", float(np.mean(h[inside] == 1.0)) > 0.5),
        ]
    )  # fmt: skip
    text = f"a = {SHAPE.a:g}, b = {SHAPE.b:g}, c₀ = {SHAPE.c0:.3g}, v₀ = {SHAPE.v0:g}, for a material without a scale."
    outcome.figures.append((save(figure, around.pictures, "tampubolon17-5"), text))
    return outcome


FIGURE = Figure(
    "tampubolon17-5",
    "Figure 5: the multiplier of the unilateral energy",
    "The multiplier is 1 in region A, 0 in region C, and falls from 1 to 0 in region B with two continuous "
    "derivatives; it is symmetric about the hydrostatic axis, and region A covers most of the Drucker-Prager cone.",
    run,
    paper="Tampubolon17",
    finding="The multiplier of our implicit steps in three dimensions, with the opening c₀ that follows the cone. The "
    "paper has a scale of strain of one in eq. (8); ours is v₀.",
    presets=("paper",),
)
