"""
Von Neumann's law in a dry foam
===============================

In a dry foam in the plane a bubble grows or shrinks by its number of sides alone: with diffusion :math:`K` and film
tension :math:`T` it is :math:`dA/dt = \\frac{\\pi}{3} K T (n - 6)`, whatever its shape. Here gas goes through the films
one by one, and the law is what comes out.
"""

import matplotlib.pyplot as plt
import numpy as np

from spume.dryfoam import Foam, draw

foam = Foam.voronoi(cells=120, boundary="periodic", seed=4)
foam.equilibrate()
sides, before = foam.sides.copy(), foam.areas.copy()
labels, flips = foam.labels.copy(), foam.flips
time = 1e-4 * before.mean() / (foam.T * foam.K)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
draw(left, foam.network, "sides")
left.set_title("cells shaded by their number of sides")

# %%
# After a short time the areas have changed by the law, every one of them.
foam.coarsen(time)
assert foam.cells == 120
assert foam.flips == flips
assert np.array_equal(foam.labels, labels)
rate = (foam.areas - before) / (time * foam.T * foam.K)
right.plot(sides + np.random.default_rng(0).uniform(-0.15, 0.15, sides.size), rate, ".")
n = np.array([sides.min() - 0.5, sides.max() + 0.5])
right.plot(n, np.pi / 3 * (n - 6), linewidth=1, color="gray")
right.set(xlabel="sides n", ylabel="dA/dt / (K T)")
assert np.abs(rate - np.pi / 3 * (sides - 6)).max() < 1e-3
