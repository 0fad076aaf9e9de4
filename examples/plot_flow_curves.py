"""
Flow curves of the foams
========================

What a rheometer would say about the foams of the material table: each is sheared at a steady rate, one point without a
grid. Lines are the theory of small elastic strain, :math:`\\tau = \\sigma_Y/\\sqrt 3 + \\eta\\, 2^{-(1+h)/2}\\,
\\dot\\gamma^h`.
"""

import matplotlib.pyplot as plt
import numpy as np

from spume.rheology import choose_material, flow_curve

rates = np.logspace(-3, 3, 13)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name in ("shaving cream", "whipped cream", "oobleck"):
    curve = flow_curve(choose_material(name), rates)
    (line,) = axes.loglog(rates, curve.small_strain_theory, linewidth=1)
    axes.loglog(rates, curve.shear_stress, "o", color=line.get_color(), label=name)
axes.set(xlabel="shear rate [1/s]", ylabel="shear stress [Pa]")
axes.legend(frameon=False)

# %%
# Shaving cream thins: a hundred times the rate needs far less than a hundred times the stress above yield. Oobleck
# thickens, and beyond its elastic strains of order one the theory of small strain no longer holds.
