"""An elastic block on the ground with the implicit MPM of Newton (a physics engine), on Warp's CPU device, float32."""

import time

import newton
import numpy as np
import warp as wp
from newton.solvers import SolverImplicitMPM


def measure(cells: int, size: float, youngs_modulus: float, dt: float, steps: int, speed: float) -> dict:
    """Points, and point-steps per CPU second on average over `steps` steps after two that warm up.

    The block has `cells` cells of eight points along each edge of `size` [m], and hits the ground at `speed` [m/s]."""
    wp.config.quiet = True
    with wp.ScopedDevice("cpu"):
        builder = newton.ModelBuilder(up_axis=newton.Axis.Y)
        SolverImplicitMPM.register_custom_attributes(builder)
        spacing, count = size / (2 * cells), 2 * cells
        builder.add_particle_grid(
            pos=wp.vec3(0.0, 0.5 * spacing, 0.0), rot=wp.quat_identity(), vel=wp.vec3(0.0, -speed, 0.0),
            dim_x=count, dim_y=count, dim_z=count, cell_x=spacing, cell_y=spacing, cell_z=spacing,
            mass=1000.0 * spacing**3, jitter=0.0, radius_mean=0.5 * spacing,
        )  # fmt: skip
        builder.add_ground_plane()
        model = builder.finalize()
        model.mpm.young_modulus.fill_(youngs_modulus)
        model.mpm.poisson_ratio.fill_(0.3)
        model.mpm.tensile_yield_ratio.fill_(1.0)
        options = SolverImplicitMPM.Config()
        options.voxel_size = size / cells
        options.warmstart_mode = "particles"
        solver = SolverImplicitMPM(model, config=options)
        now, after = model.state(), model.state()
        taken = []
        for _ in range(steps + 2):
            start = time.process_time()
            solver.step(now, after, None, None, dt)
            now, after = after, now
            taken.append(time.process_time() - start)
        if not np.isfinite(now.particle_q.numpy()).all():
            raise ArithmeticError("the block of Newton has points that are not finite")
    return {"points": model.particle_count, "rate": model.particle_count / float(np.mean(taken[2:]))}
