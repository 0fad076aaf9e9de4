"""The whole foam step in Taichi, float32, one thread per point and atomic adds: procedures 1-11, 13 and 14 of [Yue15].

Subgrid removal, resampling and the float64 that the law needs are omitted, to Taichi's advantage.
"""

import numpy as np
import taichi as ti

KAPPA, MU, YIELD, ETA, H, TEAR, RECOVERY = 109e3, 290.0, 31.9, 27.2, 0.22, 217.5, 0.35


def build(x: np.ndarray, v: np.ndarray, cell: float, dt: float, density: float, threads: int):
    """A function without arguments that takes one step."""
    ti.init(arch=ti.cpu, cpu_max_num_threads=threads, log_level=ti.ERROR, offline_cache=False, unrolling_limit=0)
    n = len(x)
    lower = x.min(axis=0) - 8 * cell
    size = int(np.ceil((x.max() - x.min()) / cell)) + 20
    px, pv = ti.Vector.field(3, ti.f32, n), ti.Vector.field(3, ti.f32, n)
    F, be, L = (ti.Matrix.field(3, 3, ti.f32, n) for _ in range(3))
    weak = ti.field(ti.i32, n)
    shape = (size, size, size)
    m = ti.field(ti.f32, shape)
    gv, gs = ti.Vector.field(3, ti.f32, shape), ti.Vector.field(3, ti.f32, shape)
    px.from_numpy((x - lower).astype(np.float32))
    pv.from_numpy(v.astype(np.float32))
    identity = np.broadcast_to(np.eye(3, dtype=np.float32), (n, 3, 3))
    F.from_numpy(identity)
    be.from_numpy(identity)
    inverse, volume = 1.0 / cell, (cell / 2) ** 3
    mass = density * volume
    limit = float(np.sqrt(2 / 3) * YIELD)

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

    @ti.func
    def deviator(a):
        return a - a.trace() / 3.0 * ti.Matrix.identity(ti.f32, 3)

    @ti.func
    def plastic(p):
        J = F[p].determinant()
        return J ** (-2.0 / 3.0) * F[p].transpose() @ be[p].inverse() @ F[p]

    @ti.kernel
    def clear():
        for node in ti.grouped(m):
            m[node] = 0.0
            gv[node] = ti.Vector.zero(ti.f32, 3)
            gs[node] = ti.Vector.zero(ti.f32, 3)

    @ti.kernel
    def to_grid():
        for p in px:
            weak[p] = ti.cast(deviator(plastic(p)).norm() > TEAR, ti.i32)
            J = F[p].determinant()
            tau = 0.5 * KAPPA * (J * J - 1.0) * ti.Matrix.identity(ti.f32, 3) + MU * deviator(be[p])
            if weak[p] == 1:
                values, vectors = ti.sym_eig(tau)
                kept = ti.Matrix.zero(ti.f32, 3, 3)
                for q in ti.static(range(3)):
                    kept[q, q] = ti.min(values[q], 0.0)
                tau = vectors @ kept @ vectors.transpose()
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
                m[node] += weight * mass
                gv[node] += weight * mass * pv[p]
                gs[node] += -volume * (tau @ slope)

    @ti.kernel
    def grid_velocities():
        for node in ti.grouped(m):
            if m[node] > 0.0:
                change = dt * gs[node] / m[node]
                gv[node] = gv[node] / m[node] + change
                gs[node] = change

    @ti.kernel
    def to_points():
        for p in px:
            X = px[p] * inverse
            base = ti.floor(X).cast(int) - 1
            f = X - ti.floor(X)
            w, d = weights(f), slopes(f)
            pic, change = ti.Vector.zero(ti.f32, 3), ti.Vector.zero(ti.f32, 3)
            gradient = ti.Matrix.zero(ti.f32, 3, 3)
            for i, j, k in ti.static(ti.ndrange(4, 4, 4)):
                weight = w[i, 0] * w[j, 1] * w[k, 2]
                slope = inverse * ti.Vector(
                    [d[i, 0] * w[j, 1] * w[k, 2], w[i, 0] * d[j, 1] * w[k, 2], w[i, 0] * w[j, 1] * d[k, 2]]
                )
                node = base + ti.Vector([i, j, k])
                pic += weight * gv[node]
                change += weight * gs[node]
                gradient += gv[node].outer_product(slope)
            pv[p] = 0.05 * pic + 0.95 * (pv[p] + change)
            L[p] = gradient

    @ti.kernel
    def material():
        for p in px:
            f = ti.Matrix.identity(ti.f32, 3) + dt * L[p]
            F[p] = f @ F[p]
            f *= f.determinant() ** (-1.0 / 3.0)
            b = f @ be[p] @ f.transpose()
            s = MU * deviator(b)
            pre = s.norm()
            if pre > limit:
                mean = b.trace() / 3.0
                low, high = limit, pre
                for _ in range(30):  # bisection, as in the paper
                    middle = 0.5 * (low + high)
                    g = middle - pre + 2.0 * MU * mean * dt * ((middle - limit) / ETA) ** (1.0 / H)
                    if g < 0.0:
                        low = middle
                    else:
                        high = middle
                b = high / pre / MU * s + mean * ti.Matrix.identity(ti.f32, 3)
                b *= b.determinant() ** (-1.0 / 3.0)
            be[p] = b
            Cp = plastic(p)
            if deviator(Cp).norm() > 1e-4:  # sym_eig returns NaN for a multiple of the identity
                values, vectors = ti.sym_eig(Cp)
                scale = ti.Matrix.zero(ti.f32, 3, 3)
                for q in ti.static(range(3)):
                    scale[q, q] = ti.max(values[q], 1e-6) ** (0.5 * (ti.exp(-dt / RECOVERY) - 1.0))
                F[p] = F[p] @ vectors @ scale @ vectors.transpose()
            px[p] += dt * pv[p]

    def step() -> None:
        clear()
        to_grid()
        grid_velocities()
        to_points()
        material()

    return step, ti.sync
