"""The column of sand of `benchmarks.sand` in Genesis: `python peer_genesis_sand.py CELL`, in an environment of its own.

Prints the million point-steps per second of processor time, so that the number of its threads does not matter."""

import sys
import time

import genesis as gs

BEFORE, STEPS, ROUNDS = 200, 20, 3

cell = float(sys.argv[1])
gs.init(backend=gs.cpu, precision="32", logging_level="error")
scene = gs.Scene(
    sim_options=gs.options.SimOptions(dt=1e-4, substeps=1),
    mpm_options=gs.options.MPMOptions(
        lower_bound=(-0.5, -0.5, -0.1), upper_bound=(0.5, 0.5, 0.6), grid_density=round(1.0 / cell),
        particle_size=cell / 2,
    ),
    show_viewer=False,
)  # fmt: skip
scene.add_entity(gs.morphs.Plane())
sand = scene.add_entity(
    material=gs.materials.MPM.Sand(E=1e6, nu=0.3, rho=1400.0, friction_angle=30.0),
    morph=gs.morphs.Cylinder(pos=(0.0, 0.0, 0.2), radius=0.1, height=0.4),
)
scene.build()
for _ in range(BEFORE):
    scene.step()
best = float("inf")
for _ in range(ROUNDS):
    began = time.process_time()
    for _ in range(STEPS):
        scene.step()
    best = min(best, time.process_time() - began)
print(sand.n_particles, sand.n_particles * STEPS / best / 1e6)
