"""
The same paste on a grid and without one
========================================

A disc of soft paste falls on sticking ground, in the plane: once by the material point method, once by the point-based
method. Scene and material are the same tables; only the method and its resolution differ. The law sees the same
deformation of a step whether splines of a grid or a least-squares fit to the neighbours found it.
"""

import matplotlib.pyplot as plt
import numpy as np

import spume

SPACING = 0.004
COMMON = {
    "title": "a disc falls",
    "dimension": 2,
    "duration": 0.2,
    "gravity": [0.0, -9.81],
    "material": {
        "paste": {
            "law": "corotated-plastic",
            "density": 1000.0,
            "youngs_modulus": 1e5,
            "poisson_ratio": 0.3,
            "flow_rate": 200.0,
            "yield_stress": 300.0,
        }
    },
    "body": [
        {
            "material": "paste",
            "shape": {"circle": {"center": [0.0, 0.045], "radius": 0.04}},
            "velocity": [0.0, -1.5],
        }
    ],
    "obstacle": [{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "stick"}],
}
METHODS = {
    "mpm": {"grid": {"cell": 2 * SPACING}},  # two points along a cell
    "point-based": {"points": {"spacing": SPACING}},
}

figure, panels = plt.subplots(1, 2, figsize=(9, 2.6), sharey=True, layout="constrained")
outline = {}
for panel, (method, resolution) in zip(panels, METHODS.items()):
    simulation = spume.Simulation(spume.Scene(method=method, **COMMON, **resolution))
    simulation.advance(0.06)
    points = simulation.particles
    outline[method] = np.array([np.ptp(points.x[:, 0]), points.x[:, 1].max()])
    panel.scatter(*points.x.T, c=points.hardened, s=6)
    panel.set(title=method, xlabel="x [m]", aspect="equal")
panels[0].set_ylabel("y [m]")

# %%
# Both are flattened, and width and height agree to within two spacings: each method ends its body about half a spacing
# from where its outermost points are, and lets it come to the ground in its own way.
for name, (width, height) in outline.items():
    print(f"{name}: {1000 * width:.1f} mm wide, {1000 * height:.1f} mm high")
assert outline["mpm"][1] < 0.078
assert np.abs(outline["mpm"] - outline["point-based"]).max() < 2 * SPACING
