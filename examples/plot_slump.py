"""
A slump test
============

A column of foam is let go on a sticking ground, in the plane, with four yield stresses, and looked at after 0.6 s. At
the foot the weight asks for a shear stress of half :math:`\\rho g` times the height, 46 Pa; where that is less than the
yield stress in shear, nothing flows.
"""

import matplotlib.pyplot as plt

import spume

figure, panels = plt.subplots(1, 4, figsize=(12, 2.4), sharey=True, layout="constrained")
left = []
for panel, stress in zip(panels, (5.0, 15.0, 31.9, 100.0)):
    simulation = spume.Simulation(
        spume.Scene(
            title="slump",
            method="continuum-foam",
            dimension=2,
            duration=1.0,
            grid={"cell": 0.005},
            gravity=[0.0, -9.81],
            material={"foam": {"base": "shaving cream", "yield_stress": stress}},
            body=[{"material": "foam", "shape": {"rectangle": {"center": [0.0, 0.06], "size": [0.08, 0.12]}}}],
            obstacle=[{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "stick"}],
        )
    )
    simulation.advance(0.6)
    x = simulation.particles.x
    left.append(x[:, 1].max())
    panel.plot(*x.T, ".", markersize=1.5)
    panel.set(title=f"yield stress {stress:g} Pa", xlabel="x [m]", xlim=(-0.16, 0.16), aspect="equal")
panels[0].set_ylabel("y [m]")

# %%
# The stiffer the foam, the more of the column is left.
assert left == sorted(left)
