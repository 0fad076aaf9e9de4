"""Clear bodies, such as water: what is behind them, refracted and tinted by their thickness, and the room that their
surface reflects."""

import numpy as np
from numba import prange

from spume.look.pictures.shading import (
    BOUNCE,
    KEY,
    SKY,
    TOWARDS_LAMP,
    facing_camera,
    half_way,
    light_of,
    room_at,
    toned,
)
from spume.look.pictures.shadows import corner_weights
from spume.look.pictures.soup import AS_GIVEN, KIND, ROUGHNESS, TRANSPARENCY
from spume.look.pictures.vectors import between, dot, mirrored, put, row_of, unit
from spume.look.pictures.visible import ray_at
from spume.numerics.jit import compiled

TINTED = 0.12
"""Thickness that gives light the colour of the body, relative to the size of the scene."""
CLOUDY = 0.35
"""Part of the absorbed light that the body scatters to the camera."""
SHIFT = 0.25
"""Displacement of what is behind a body, in thicknesses times the slope of its surface."""


@compiled
def _clear_at(t, row, column, thick, eye, mesh, behind, nearness, room):
    """Light of a clear surface and of what is behind it, at (row, column) of the samples."""
    ray, triangle = ray_at(eye, row, column), row_of(mesh.triangles, t)
    weights = corner_weights(triangle, mesh.x, ray, eye.position)
    length = np.sqrt(dot(ray, ray))
    view = -ray[0] / length, -ray[1] / length, -ray[2] / length
    normal, facing = facing_camera(unit(between(mesh.normals, triangle, weights)), view)
    thick = max(thick, 0.0) * length
    x, y, z = between(mesh.x, triangle, weights)
    depth = dot((x - eye.position[0], y - eye.position[1], z - eye.position[2]), row_of(eye.axes, 2))
    # what is behind the surface is seen displaced by refraction
    side, rise = dot(normal, row_of(eye.axes, 0)), dot(normal, row_of(eye.axes, 1))
    rows, columns = eye.rows, eye.columns
    shift = min(SHIFT * thick * eye.scale / depth, 0.05 * rows)
    from_row = min(max(int(row + shift * rise), 0), rows - 1)
    from_column = min(max(int(column - shift * side), 0), columns - 1)
    if nearness[from_row, from_column] > 1.0 / depth:  # that stands before the surface
        from_row, from_column = min(max(int(row), 0), rows - 1), min(max(int(column), 0), columns - 1)
    ratio = rows // behind.shape[0]
    i, j = from_row // ratio, from_column // ratio
    color, finish = between(mesh.colors, triangle, weights), mesh.finishes[0]
    fresnel = 0.02 + 0.98 * (1.0 - facing) ** 5
    reflected = toned(room_at(mirrored(view, normal, facing), finish[ROUGHNESS], room.lights))
    own = light_of(color, finish, normal, view, 1.0, 1.0, room)
    milky = 0.7 * (1.0 - finish[TRANSPARENCY])
    half = half_way(normal, view, row_of(room.lights, TOWARDS_LAMP))
    shine = 0.8 * (1.0 - finish[ROUGHNESS]) ** 2 * max(half, 0.0) ** 160.0  # the highlight of the lamp
    surface = (thick, TINTED * room.size, milky, fresnel, reflected, shine)
    return (
        _channel(color[0], behind[i, j, 0], own[0], surface),
        _channel(color[1], behind[i, j, 1], own[1], surface),
        _channel(color[2], behind[i, j, 2], own[2], surface),
    )


@compiled
def _channel(color, behind, own, surface):
    """One channel of `_clear_at`: of what is behind the body, of its own light and of what its surface reflects."""
    thick, tinted, milky, fresnel, reflected, shine = surface
    passes = np.exp(np.log(max(color, 0.02)) * thick / tinted)
    inside = behind * passes + CLOUDY * color * (SKY + BOUNCE + 0.4 * KEY) * (1.0 - passes)
    value = inside + milky * (own - inside)
    value += fresnel * (reflected - value)
    return min(value + shine, 1.0)


@compiled(parallel=True)
def lay_over(front, thickness, solid, eye, mesh, opacity, room, behind, out):
    """Draw a clear mesh over the picture `behind` into `out`, which has its pixels or its samples; `front` is where it
    is seen, `solid` the nearness of what is drawn."""
    nearness, hit = front.nearness, front.hit
    ratio = eye.rows // out.shape[0]
    finish = mesh.finishes[0]
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
                    red, green, blue = behind[row, column, 0], behind[row, column, 1], behind[row, column, 2]
                    t = hit[top + a, left + b]
                    if nearness[top + a, left + b] <= solid[top + a, left + b]:
                        pass
                    elif finish[KIND] == AS_GIVEN:
                        triangle = row_of(mesh.triangles, t)
                        weights = corner_weights(triangle, mesh.x, ray_at(eye, y, z), eye.position)
                        color = between(mesh.colors, triangle, weights)
                        red += opacity * (color[0] - red)
                        green += opacity * (color[1] - green)
                        blue += opacity * (color[2] - blue)
                    else:
                        thick = thickness[top + a, left + b]
                        red, green, blue = _clear_at(t, y, z, thick, eye, mesh, behind, solid, room)
                    total_red, total_green, total_blue = total_red + red, total_green + green, total_blue + blue
            share = 1.0 if one else 1.0 / ratio**2
            put(out, row, column, (share * total_red, share * total_green, share * total_blue))
