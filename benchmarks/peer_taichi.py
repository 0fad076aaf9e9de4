"""The same transfers in Taichi, in the style of its examples: one thread per point, atomic adds, float32."""

import numpy as np
import taichi as ti


def build(x: np.ndarray, cell: float, threads: int):
    """(particles_to_grid, grid_to_particles, version): the two transfers as functions without arguments."""
    ti.init(arch=ti.cpu, cpu_max_num_threads=threads, log_level=ti.ERROR, offline_cache=False, unrolling_limit=0)
    n = len(x)
    size = int(np.ceil(x.max() / cell)) + 6
    px = ti.Vector.field(3, ti.f32, n)
    pv = ti.Vector.field(3, ti.f32, n)
    tau = ti.Matrix.field(3, 3, ti.f32, n)
    gradient = ti.Matrix.field(3, 3, ti.f32, n)
    m = ti.field(ti.f32, (size, size, size))
    momentum = ti.Vector.field(3, ti.f32, (size, size, size))
    force = ti.Vector.field(3, ti.f32, (size, size, size))
    px.from_numpy((x + 2 * cell).astype(np.float32))
    rng = np.random.default_rng(1)
    pv.from_numpy(rng.normal(size=(n, 3)).astype(np.float32))
    tau.from_numpy(rng.normal(size=(n, 3, 3)).astype(np.float32))
    inverse = 1.0 / cell

    @ti.func
    def weights(f):
        g = 1.0 - f
        return ti.Matrix.rows(
            [g**3 / 6.0, 2.0 / 3.0 - f * f * (1.0 - 0.5 * f), 2.0 / 3.0 - g * g * (1.0 - 0.5 * g), f**3 / 6.0]
        )

    @ti.func
    def slopes(f):
        g = 1.0 - f
        return ti.Matrix.rows([-0.5 * g * g, f * (1.5 * f - 2.0), -g * (1.5 * g - 2.0), 0.5 * f * f])

    @ti.kernel
    def clear():
        for node in ti.grouped(m):
            m[node] = 0.0
            momentum[node] = ti.Vector.zero(ti.f32, 3)
            force[node] = ti.Vector.zero(ti.f32, 3)

    @ti.kernel
    def to_grid():
        for p in px:
            X = px[p] * inverse
            base = ti.floor(X).cast(int) - 1
            f = X - ti.floor(X)
            w, d = weights(f), slopes(f)
            for i, j, k in ti.static(ti.ndrange(4, 4, 4)):
                weight = w[i, 0] * w[j, 1] * w[k, 2]
                slope = inverse * ti.Vector(
                    [d[i, 0] * w[j, 1] * w[k, 2], w[i, 0] * d[j, 1] * w[k, 2], w[i, 0] * w[j, 1] * d[k, 2]]
                )
                node = base + ti.Vector([i, j, k])
                m[node] += weight
                momentum[node] += weight * pv[p]
                force[node] += -tau[p] @ slope

    @ti.kernel
    def to_points():
        for p in px:
            X = px[p] * inverse
            base = ti.floor(X).cast(int) - 1
            f = X - ti.floor(X)
            w, d = weights(f), slopes(f)
            pic = ti.Vector.zero(ti.f32, 3)
            change = ti.Vector.zero(ti.f32, 3)
            L = ti.Matrix.zero(ti.f32, 3, 3)
            for i, j, k in ti.static(ti.ndrange(4, 4, 4)):
                weight = w[i, 0] * w[j, 1] * w[k, 2]
                slope = inverse * ti.Vector(
                    [d[i, 0] * w[j, 1] * w[k, 2], w[i, 0] * d[j, 1] * w[k, 2], w[i, 0] * w[j, 1] * d[k, 2]]
                )
                node = base + ti.Vector([i, j, k])
                pic += weight * momentum[node]
                change += weight * force[node]
                L += momentum[node].outer_product(slope)
            pv[p] = 0.05 * pic + 0.95 * (pv[p] + change)
            gradient[p] = L

    def particles_to_grid() -> None:
        clear()
        to_grid()
        ti.sync()

    def grid_to_particles() -> None:
        to_points()
        ti.sync()

    return particles_to_grid, grid_to_particles, ti.__version__
