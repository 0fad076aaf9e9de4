"""
Two discs collide
=================

Two soft discs fly at each other without gravity. Momentum is conserved to rounding, whatever happens between them.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import spume

run = spume.run("colliding-discs", Path(tempfile.mkdtemp()) / "discs", changes={"grid.cell": 0.01}, progress="none")

# %%
# The run at its start, in the middle and at its end, coloured by speed.
drawer = spume.make_drawer(run, spume.PictureOptions(width=480, height=270, color="speed"))
figure, panels = plt.subplots(1, 3, figsize=(12, 2.6), layout="constrained")
for panel, number in zip(panels, (0, len(run) // 2, len(run) - 1)):
    panel.imshow(drawer.draw(number))
    panel.set_title(f"t = {run[number].time:.2f} s")
    panel.axis("off")

# %%
# Rounding: each of the steps adds errors of the last digit of the momenta that pass through the grid.
momentum = np.array([entry["momentum"] for entry in run.diagnostics])
scale = float(np.sum(run[0].mass * np.linalg.norm(run[0].v, axis=1)))
assert np.abs(momentum - momentum[0]).max() < 1e-10 * scale
