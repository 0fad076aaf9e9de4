"""The same explicit step of sand in Taichi, in the style of its examples: float32, one thread per point, atomic adds,
Taichi's 3×3 singular value decomposition, quadratic splines, APIC."""

import math

import numpy as np
import taichi as ti


def build(
    x: np.ndarray, cell: float, dt: float, density: float, youngs_modulus: float, poisson_ratio: float, angle: float,
    threads: int,
):  # fmt: skip
    """(step, sync): one explicit step of points at `x` [m] on a floor at y = 0 with Coulomb friction 0.6."""
    ti.init(arch=ti.cpu, cpu_max_num_threads=threads, log_level=ti.ERROR, offline_cache=False)
    n = len(x)
    lower = np.array([x[:, 0].min() - 30 * cell, -4 * cell, x[:, 2].min() - 30 * cell])
    size = np.ceil((x.max(axis=0) - lower) / cell).astype(int) + np.array([34, 6, 34])
    mu = youngs_modulus / (2 * (1 + poisson_ratio))
    lam = youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))
    sine = math.sin(math.radians(angle))
    c_F = math.sqrt(2 / 3) * 2 * sine / (3 - sine)
    volume = (cell / 2) ** 3
    mass = volume * density
    inverse = 1.0 / cell
    floor = round(-lower[1] / cell)
    px, pv = ti.Vector.field(3, ti.f32, n), ti.Vector.field(3, ti.f32, n)
    C, F = ti.Matrix.field(3, 3, ti.f32, n), ti.Matrix.field(3, 3, ti.f32, n)
    gained = ti.field(ti.f32, n)
    m, v = ti.field(ti.f32, tuple(size)), ti.Vector.field(3, ti.f32, tuple(size))
    px.from_numpy((x - lower).astype(np.float32))
    F.from_numpy(np.tile(np.eye(3, dtype=np.float32), (n, 1, 1)))

    @ti.kernel
    def clear():
        for node in ti.grouped(m):
            m[node] = 0.0
            v[node] = ti.Vector.zero(ti.f32, 3)

    @ti.kernel
    def to_grid():
        for p in px:
            X = px[p] * inverse
            base = (X - 0.5).cast(int)
            fx = X - base.cast(ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            F[p] = (ti.Matrix.identity(ti.f32, 3) + dt * C[p]) @ F[p]
            U, S, V = ti.svd(F[p])
            e = ti.Vector([ti.log(ti.max(S[q, q], 1e-4)) for q in ti.static(range(3))])
            trace = e.sum()
            e += (ti.min(gained[p], ti.max(0.0, -trace)) / 3.0) * ti.Vector([1.0, 1.0, 1.0])
            shifted = e.sum()
            d = e - shifted / 3.0
            length = d.norm()
            after = e
            if shifted >= 0.0:
                after = ti.Vector.zero(ti.f32, 3)
            else:
                excess = length + (3.0 * lam + 2.0 * mu) / (2.0 * mu) * c_F * shifted
                if excess > 0.0:
                    after = e - excess / length * d
            gained[p] = ti.max(0.0, gained[p] + trace - after.sum())
            stretch = ti.Matrix.zero(ti.f32, 3, 3)
            tau = ti.Matrix.zero(ti.f32, 3, 3)
            for q in ti.static(range(3)):
                stretch[q, q] = ti.exp(after[q])
                tau[q, q] = 2.0 * mu * after[q] + lam * after.sum()
            F[p] = U @ stretch @ V.transpose()
            stress = (-dt * volume * 4.0 * inverse * inverse) * (U @ tau @ U.transpose())
            affine = stress + mass * C[p]
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                reach = (offset.cast(ti.f32) - fx) * cell
                weight = w[i][0] * w[j][1] * w[k][2]
                v[base + offset] += weight * (mass * pv[p] + affine @ reach)
                m[base + offset] += weight * mass

    @ti.kernel
    def on_grid():
        for node in ti.grouped(m):
            if m[node] > 0.0:
                u = v[node] / m[node]
                u[1] -= dt * 9.81
                if node[1] <= floor and u[1] < 0.0:
                    slide = ti.Vector([u[0], 0.0, u[2]])
                    speed = slide.norm()
                    u = slide * ti.max(0.0, 1.0 + 0.6 * u[1] / ti.max(speed, 1e-9))
                v[node] = u

    @ti.kernel
    def to_points():
        for p in px:
            X = px[p] * inverse
            base = (X - 0.5).cast(int)
            fx = X - base.cast(ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]
            u, B = ti.Vector.zero(ti.f32, 3), ti.Matrix.zero(ti.f32, 3, 3)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                weight = w[i][0] * w[j][1] * w[k][2]
                g = v[base + offset]
                u += weight * g
                B += 4.0 * inverse * weight * g.outer_product(offset.cast(ti.f32) - fx)
            pv[p], C[p] = u, B
            px[p] += dt * u

    def step() -> None:
        clear()
        to_grid()
        on_grid()
        to_points()

    return step, ti.sync
