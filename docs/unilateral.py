"""Draws docs/pictures/unilateral.png: the multiplier of the unilateral energy beside the Drucker-Prager cone.

Run it from the root of the repository: python docs/unilateral.py
"""

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from spume.materials.drucker_prager import cone_coefficients
from spume.materials.hencky import lame_parameters
from spume.materials.unilateral import Unilateral, at_tip, cone_opening, multiplier

ANGLE = 35.0
MU, LAM = lame_parameters(1.0, 0.3)
C_F, _ = cone_coefficients(ANGLE, 0.0, "compression")
SHAPE = Unilateral(a=-0.5, b=0.0, c0=cone_opening(MU, LAM, C_F), s_C=0.0, v0=0.5)


def draw(file: Path) -> None:
    """Contours of h over u = tr ε/√3 and v = ‖dev ε‖, as in figure 5 of [Tampubolon17]."""
    u, v = np.meshgrid(np.linspace(-3.0, 1.0, 161), np.linspace(-2.5, 2.5, 201))
    # any direction of the deviator gives the same h: here (1, −1, 0)/√2
    hydrostatic, deviator = np.full(3, 1 / math.sqrt(3)), np.array([1.0, -1.0, 0.0]) / math.sqrt(2)
    strains = u[..., None] * hydrostatic + v[..., None] * deviator
    values = [multiplier(at_tip(SHAPE.packed(), 0.0), tuple(strain))[0] for strain in strains.reshape(-1, 3)]
    h = np.reshape(values, u.shape)
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    filled = axes.contourf(u, v, h, levels=np.linspace(0, 1, 11), cmap="Blues")
    tip = np.array([-3.0, 0.0])
    for sign in (1, -1):
        axes.plot(tip, -sign * tip / SHAPE.c0, "g-", label=f"Drucker-Prager cone, {ANGLE:g}°" if sign > 0 else None)
    axes.set(
        xlabel="u = tr ε/√3",
        ylabel="v = ‖dev ε‖",
        ylim=(-2.5, 2.5),
        title=f"a = {SHAPE.a:g}, b = {SHAPE.b:g}, c₀ = {SHAPE.c0:.3g}, v₀ = {SHAPE.v0:g}",
    )
    axes.legend(loc="upper right")
    figure.colorbar(filled, label="multiplier h")
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    draw(Path(__file__).parent / "pictures" / "unilateral.png")
