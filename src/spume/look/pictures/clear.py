"""Clear bodies, such as water: what is behind them, refracted and tinted by their thickness, and the room that their
surface reflects."""

import numpy as np
from numba import prange

from spume.look.pictures.shading import (
    AS_GIVEN,
    BOUNCE,
    KEY,
    KIND,
    ROUGHNESS,
    SKY,
    TRANSPARENCY,
    light_of,
    room_at,
    toned,
)
from spume.look.pictures.shadows import corner_weights
from spume.numerics.jit import compiled

TINTED = 0.12
"""Thickness that gives light the colour of the body, relative to the size of the scene."""
CLOUDY = 0.35
"""Part of the absorbed light that the body scatters to the camera."""
SHIFT = 0.25
"""Displacement of what is behind a body, in thicknesses times the slope of its surface."""


@compiled
def _clear_at(
    t, row, column, thick, eye, axes, scale, rows, columns, x, normals, colors, triangles, finish, size, behind,
    nearness, soil, lights,
):  # fmt: skip
    """Light of a clear surface and of what is behind it, at (row, column) of the samples."""
    right, above = (column - 0.5 * columns) / scale, (0.5 * rows - row) / scale
    dx = axes[0, 0] * right + axes[1, 0] * above + axes[2, 0]
    dy = axes[0, 1] * right + axes[1, 1] * above + axes[2, 1]
    dz = axes[0, 2] * right + axes[1, 2] * above + axes[2, 2]
    a, b, c = corner_weights(t, x, triangles, dx, dy, dz, eye[0], eye[1], eye[2])
    p, q, r = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    nx = a * normals[p, 0] + b * normals[q, 0] + c * normals[r, 0]
    ny = a * normals[p, 1] + b * normals[q, 1] + c * normals[r, 1]
    nz = a * normals[p, 2] + b * normals[q, 2] + c * normals[r, 2]
    over = 1.0 / max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
    nx, ny, nz = nx * over, ny * over, nz * over
    length = np.sqrt(dx * dx + dy * dy + dz * dz)
    vx, vy, vz = -dx / length, -dy / length, -dz / length
    facing = nx * vx + ny * vy + nz * vz
    if facing < 0.0:
        nx, ny, nz, facing = nx - 2 * facing * vx, ny - 2 * facing * vy, nz - 2 * facing * vz, -facing
    thick = max(thick, 0.0) * length
    px = a * x[p, 0] + b * x[q, 0] + c * x[r, 0] - eye[0]
    py = a * x[p, 1] + b * x[q, 1] + c * x[r, 1] - eye[1]
    pz = a * x[p, 2] + b * x[q, 2] + c * x[r, 2] - eye[2]
    depth = px * axes[2, 0] + py * axes[2, 1] + pz * axes[2, 2]
    # what is behind the surface is seen displaced by refraction
    side = nx * axes[0, 0] + ny * axes[0, 1] + nz * axes[0, 2]
    rise = nx * axes[1, 0] + ny * axes[1, 1] + nz * axes[1, 2]
    shift = min(SHIFT * thick * scale / depth, 0.05 * rows)
    from_row = min(max(int(row + shift * rise), 0), rows - 1)
    from_column = min(max(int(column - shift * side), 0), columns - 1)
    if nearness[from_row, from_column] > 1.0 / depth:  # that stands before the surface
        from_row, from_column = min(max(int(row), 0), rows - 1), min(max(int(column), 0), columns - 1)
    ratio = rows // behind.shape[0]
    i, j = from_row // ratio, from_column // ratio
    red = a * colors[p, 0] + b * colors[q, 0] + c * colors[r, 0]
    green = a * colors[p, 1] + b * colors[q, 1] + c * colors[r, 1]
    blue = a * colors[p, 2] + b * colors[q, 2] + c * colors[r, 2]
    fresnel = 0.02 + 0.98 * (1.0 - facing) ** 5
    rx, ry, rz = 2 * facing * nx - vx, 2 * facing * ny - vy, 2 * facing * nz - vz
    room = toned(room_at(rx, ry, rz, finish[ROUGHNESS], lights))
    surface = light_of(red, green, blue, finish, nx, ny, nz, vx, vy, vz, 1.0, 1.0, soil, lights)
    milky = 0.7 * (1.0 - finish[TRANSPARENCY])
    out_red, out_green, out_blue = 0.0, 0.0, 0.0
    for k in range(3):
        color = red if k == 0 else (green if k == 1 else blue)
        own = surface[0] if k == 0 else (surface[1] if k == 1 else surface[2])
        passes = np.exp(np.log(max(color, 0.02)) * thick / (TINTED * size))
        inside = behind[i, j, k] * passes + CLOUDY * color * (SKY + BOUNCE + 0.4 * KEY) * (1.0 - passes)
        value = inside + milky * (own - inside)
        value += fresnel * (room - value)
        if k == 0:
            out_red = value
        elif k == 1:
            out_green = value
        else:
            out_blue = value
    # the highlight of the lamp
    hx, hy, hz = vx + lights[0, 0], vy + lights[0, 1], vz + lights[0, 2]
    half = (nx * hx + ny * hy + nz * hz) / np.sqrt(hx * hx + hy * hy + hz * hz)
    shine = 0.8 * (1.0 - finish[ROUGHNESS]) ** 2 * max(half, 0.0) ** 160.0
    return min(out_red + shine, 1.0), min(out_green + shine, 1.0), min(out_blue + shine, 1.0)


@compiled(parallel=True)
def lay_over(
    nearness, hit, thickness, solid, eye, axes, scale, x, normals, colors, triangles, finish, opacity, size, soil,
    lights, behind, out,
):  # fmt: skip
    """Draw a clear mesh over the picture `behind` into `out`, which has its pixels or its samples; `solid` is the
    nearness of what is drawn."""
    rows, columns = nearness.shape
    ratio = rows // out.shape[0]
    for row in prange(out.shape[0]):
        for column in range(out.shape[1]):
            top, left = row * ratio, column * ratio
            covered = 0
            for a in range(ratio):
                for b in range(ratio):
                    covered += nearness[top + a, left + b] > solid[top + a, left + b]
            if covered == 0:
                continue
            one = covered == ratio * ratio and ratio > 1
            for a in range(ratio):
                for b in range(ratio):
                    one = one and abs(nearness[top + a, left + b] - nearness[top, left]) < 0.01 * nearness[top, left]
            total_red, total_green, total_blue = 0.0, 0.0, 0.0
            for a in range(1 if one else ratio):
                for b in range(1 if one else ratio):
                    y = top + (0.5 * ratio if one else a + 0.5)
                    z = left + (0.5 * ratio if one else b + 0.5)
                    if nearness[top + a, left + b] <= solid[top + a, left + b]:
                        red, green, blue = behind[row, column, 0], behind[row, column, 1], behind[row, column, 2]
                    elif finish[KIND] == AS_GIVEN:
                        t = hit[top + a, left + b]
                        right, above = (z - 0.5 * columns) / scale, (0.5 * rows - y) / scale
                        dx = axes[0, 0] * right + axes[1, 0] * above + axes[2, 0]
                        dy = axes[0, 1] * right + axes[1, 1] * above + axes[2, 1]
                        dz = axes[0, 2] * right + axes[1, 2] * above + axes[2, 2]
                        u, v, w = corner_weights(t, x, triangles, dx, dy, dz, eye[0], eye[1], eye[2])
                        p, q, r = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                        red = u * colors[p, 0] + v * colors[q, 0] + w * colors[r, 0]
                        green = u * colors[p, 1] + v * colors[q, 1] + w * colors[r, 1]
                        blue = u * colors[p, 2] + v * colors[q, 2] + w * colors[r, 2]
                        red = behind[row, column, 0] + opacity * (red - behind[row, column, 0])
                        green = behind[row, column, 1] + opacity * (green - behind[row, column, 1])
                        blue = behind[row, column, 2] + opacity * (blue - behind[row, column, 2])
                    else:
                        red, green, blue = _clear_at(
                            hit[top + a, left + b], y, z, thickness[top + a, left + b], eye, axes, scale, rows,
                            columns, x, normals, colors, triangles, finish, size, behind, solid, soil, lights,
                        )  # fmt: skip
                    total_red, total_green, total_blue = total_red + red, total_green + green, total_blue + blue
            share = 1.0 if one else 1.0 / ratio**2
            out[row, column, 0], out[row, column, 1] = share * total_red, share * total_green
            out[row, column, 2] = share * total_blue
