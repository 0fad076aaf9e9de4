"""The same transfers in Warp on its CPU device (one thread), float32."""

import numpy as np
import warp as wp


@wp.func
def weight(i: int, f: float) -> float:
    g = 1.0 - f
    if i == 0:
        return g * g * g / 6.0
    if i == 1:
        return 2.0 / 3.0 - f * f * (1.0 - 0.5 * f)
    if i == 2:
        return 2.0 / 3.0 - g * g * (1.0 - 0.5 * g)
    return f * f * f / 6.0


@wp.func
def slope(i: int, f: float) -> float:
    g = 1.0 - f
    if i == 0:
        return -0.5 * g * g
    if i == 1:
        return f * (1.5 * f - 2.0)
    if i == 2:
        return -g * (1.5 * g - 2.0)
    return 0.5 * f * f


@wp.kernel
def to_grid(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    tau: wp.array(dtype=wp.mat33),
    inverse: float,
    m: wp.array3d(dtype=float),
    momentum: wp.array3d(dtype=wp.vec3),
    force: wp.array3d(dtype=wp.vec3),
):
    p = wp.tid()
    X = x[p] * inverse
    b0 = int(wp.floor(X[0]))
    b1 = int(wp.floor(X[1]))
    b2 = int(wp.floor(X[2]))
    f0 = X[0] - float(b0)
    f1 = X[1] - float(b1)
    f2 = X[2] - float(b2)
    for i in range(4):
        for j in range(4):
            for k in range(4):
                wi = weight(i, f0)
                wj = weight(j, f1)
                wk = weight(k, f2)
                w = wi * wj * wk
                d = inverse * wp.vec3(slope(i, f0) * wj * wk, wi * slope(j, f1) * wk, wi * wj * slope(k, f2))
                wp.atomic_add(m, b0 - 1 + i, b1 - 1 + j, b2 - 1 + k, w)
                wp.atomic_add(momentum, b0 - 1 + i, b1 - 1 + j, b2 - 1 + k, w * v[p])
                wp.atomic_add(force, b0 - 1 + i, b1 - 1 + j, b2 - 1 + k, -(tau[p] * d))


@wp.kernel
def to_points(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    gradient: wp.array(dtype=wp.mat33),
    inverse: float,
    momentum: wp.array3d(dtype=wp.vec3),
    force: wp.array3d(dtype=wp.vec3),
):
    p = wp.tid()
    X = x[p] * inverse
    b0 = int(wp.floor(X[0]))
    b1 = int(wp.floor(X[1]))
    b2 = int(wp.floor(X[2]))
    f0 = X[0] - float(b0)
    f1 = X[1] - float(b1)
    f2 = X[2] - float(b2)
    pic = wp.vec3(0.0)
    change = wp.vec3(0.0)
    L = wp.mat33(0.0)
    for i in range(4):
        for j in range(4):
            for k in range(4):
                wi = weight(i, f0)
                wj = weight(j, f1)
                wk = weight(k, f2)
                w = wi * wj * wk
                d = inverse * wp.vec3(slope(i, f0) * wj * wk, wi * slope(j, f1) * wk, wi * wj * slope(k, f2))
                u = momentum[b0 - 1 + i, b1 - 1 + j, b2 - 1 + k]
                pic += w * u
                change += w * force[b0 - 1 + i, b1 - 1 + j, b2 - 1 + k]
                L += wp.outer(u, d)
    v[p] = 0.05 * pic + 0.95 * (v[p] + change)
    gradient[p] = L


def build(x: np.ndarray, cell: float):
    """(particles_to_grid, grid_to_particles, version): the two transfers as functions without arguments."""
    wp.config.quiet = True
    wp.init()
    n = len(x)
    size = int(np.ceil(x.max() / cell)) + 6
    rng = np.random.default_rng(1)
    with wp.ScopedDevice("cpu"):
        px = wp.array((x + 2 * cell).astype(np.float32), dtype=wp.vec3)
        pv = wp.array(rng.normal(size=(n, 3)).astype(np.float32), dtype=wp.vec3)
        tau = wp.array(rng.normal(size=(n, 3, 3)).astype(np.float32), dtype=wp.mat33)
        gradient = wp.zeros(n, dtype=wp.mat33)
        m = wp.zeros((size, size, size), dtype=float)
        momentum = wp.zeros((size, size, size), dtype=wp.vec3)
        force = wp.zeros((size, size, size), dtype=wp.vec3)

    def particles_to_grid() -> None:
        with wp.ScopedDevice("cpu"):
            m.zero_()
            momentum.zero_()
            force.zero_()
            wp.launch(to_grid, n, inputs=[px, pv, tau, 1.0 / cell, m, momentum, force])

    def grid_to_particles() -> None:
        with wp.ScopedDevice("cpu"):
            wp.launch(to_points, n, inputs=[px, pv, gradient, 1.0 / cell, momentum, force])

    return particles_to_grid, grid_to_particles, wp.__version__
