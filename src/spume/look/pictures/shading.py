"""Light from surfaces to the camera: a sky and the light it sends back from the ground, a large lamp, a weak one beside
the camera, one from behind for outlines, and reflections of a room with bright panels in their places."""

import numpy as np
from numba import prange

from spume.look.finish import Finish
from spume.look.pictures.shadows import CELL, corner_weights, lamp_at
from spume.look.pictures.visible import FIRST_POINT, GROUND, NOTHING, OVERSAMPLING
from spume.numerics.jit import compiled

SKY, BOUNCE, KEY, FILL, RIM = 0.42, 0.28, 0.62, 0.22, 0.32
"""Light from above, from below, from the lamp, from beside the camera, from behind, on a surface that faces it."""
SHOULDER = 0.55
"""Light up to here is shown as it is; more than that approaches white."""
GLOW = (1.12, 0.42)
"""Brightness of the backdrop in the middle, and its decrease towards the corners."""
GAMMA = 2.2
"""Exponent from perceived brightness to linear light."""
ROUGHNESS, SUBSURFACE, METALLIC, TRANSPARENCY, KIND, RED, GREEN, BLUE = range(8)
"""Columns of the table of finishes."""
AS_GIVEN, LIT, PLAIN = 0.0, 1.0, 2.0
"""Kinds of finishes: colours that are light already, lit surfaces, and lit ones whose colours are to be read."""
DIRECTIONS = ("key", "fill", "rim", "up")


def finish_row(finish: Finish | None, is_plain: bool) -> list[float]:
    """The row of a finish in the table; None for colours that are light already."""
    if finish is None:
        return [1.0, 0.0, 0.0, 0.0, AS_GIVEN, 1.0, 1.0, 1.0]
    kind = PLAIN if is_plain else LIT
    return [finish.roughness, finish.subsurface, finish.metallic, finish.transparency, kind, *finish.color]


@compiled
def _smooth(low, high, value):
    t = min(max((value - low) / (high - low), 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@compiled
def toned(value):
    """Light cut softly below white."""
    if value <= SHOULDER:
        return max(value, 0.0)
    return SHOULDER + (1.0 - SHOULDER) * (1.0 - np.exp(-(value - SHOULDER) / (1.0 - SHOULDER)))


@compiled
def glow(row, column, rows, columns):
    """Brightness of the backdrop at a sample: a lit wall, brightest behind the scene."""
    across, down = (column - 0.5 * columns) / rows, (row - 0.52 * rows) / rows
    return GLOW[0] - GLOW[1] * _smooth(0.0, 1.1, np.sqrt(across * across + down * down))


@compiled
def room_at(x, y, z, roughness, lights):
    """Light of the room from a direction, blurred for rough surfaces: an even sky, a broad panel at the lamp, a strip
    behind, and a dark ground."""
    above = x * lights[3, 0] + y * lights[3, 1] + z * lights[3, 2]
    blur = 0.08 + 0.8 * roughness
    sky = 0.22 + 0.5 * _smooth(-0.15 - 0.5 * blur, 0.35 + blur, above)
    key = x * lights[0, 0] + y * lights[0, 1] + z * lights[0, 2]
    rim = x * lights[2, 0] + y * lights[2, 1] + z * lights[2, 2]
    panel = 2.2 * _smooth(0.86 - 0.5 * blur, 0.92 + 0.05 * blur, key) / (1.0 + 4.0 * roughness)
    strip = 1.2 * _smooth(0.84 - 0.5 * blur, 0.94 + 0.05 * blur, rim) / (1.0 + 4.0 * roughness)
    return sky + panel + strip


@compiled
def light_of(red, green, blue, finish, nx, ny, nz, vx, vy, vz, lamp, sky, soil, lights):
    """Light of a surface with a colour, a finish, a normal, and a unit vector to the camera."""
    facing = nx * vx + ny * vy + nz * vz
    if facing < 0.0:  # the back of a surface
        nx, ny, nz, facing = nx - 2 * facing * vx, ny - 2 * facing * vy, nz - 2 * facing * vz, -facing
    soft = 0.55 * finish[SUBSURFACE]
    rough = finish[ROUGHNESS]
    key = nx * lights[0, 0] + ny * lights[0, 1] + nz * lights[0, 2]
    fill = max(nx * lights[1, 0] + ny * lights[1, 1] + nz * lights[1, 2], 0.0)
    rim = nx * lights[2, 0] + ny * lights[2, 1] + nz * lights[2, 2]
    above = 0.5 + 0.5 * (nx * lights[3, 0] + ny * lights[3, 1] + nz * lights[3, 2])
    # light that scatters below the surface passes the edge of the shadow
    through = lamp + 0.4 * soft * (1.0 - lamp)
    direct = KEY * max((key + soft) / (1.0 + soft), 0.0) * through
    behind = RIM * max((rim + soft) / (1.0 + soft), 0.0) * (1.0 - 0.6 * facing) * sky
    edge = (1.0 - facing) ** 5
    if finish[KIND] == PLAIN:
        total = 0.5 + 0.45 * (SKY * above + BOUNCE * (1.0 - above)) * sky + 0.4 * direct + 0.3 * FILL * fill
        return toned(red * total), toned(green * total), toned(blue * total)
    metal = finish[METALLIC]
    fresnel = (0.04 + 0.96 * edge) * (1.0 - rough) ** 2
    # reflection and highlight of the lamp
    rx, ry, rz = 2 * facing * nx - vx, 2 * facing * ny - vy, 2 * facing * nz - vz
    room = room_at(rx, ry, rz, rough, lights) * (0.3 + 0.7 * sky)
    hx, hy, hz = vx + lights[0, 0], vy + lights[0, 1], vz + lights[0, 2]
    half = (nx * hx + ny * hy + nz * hz) / np.sqrt(hx * hx + hy * hy + hz * hz)
    # Blinn's exponent for the width of a microfacet lobe, about 2/α² with α = roughness²; the lamp is not small
    exponent = min(2.0 / max(rough, 0.3) ** 4, 120.0)
    shine = 0.5 * (1.0 - rough) ** 2 * max(half, 0.0) ** exponent * lamp
    out_red, out_green, out_blue = 0.0, 0.0, 0.0
    for k in range(3):
        color = red if k == 0 else (green if k == 1 else blue)
        # what a bright surface reflects in a hollow reaches it again: a geometric series
        open_sky = sky / (1.0 - 0.75 * color * (1.0 - sky))
        below = BOUNCE * (0.5 + 0.8 * soil[k])
        ambient = (below + (SKY - below) * above) * open_sky
        value = color * (1.0 - metal) * (ambient + direct + FILL * fill * (0.4 + 0.6 * open_sky) + behind)
        value += fresnel * room * (1.0 - metal) + metal * color * (room + 0.25 * direct)
        value += shine * (1.0 - metal + metal * color)
        if k == 0:
            out_red = toned(value)
        elif k == 1:
            out_green = toned(value)
        else:
            out_blue = toned(value)
    return out_red, out_green, out_blue


@compiled
def dimmed_at(i, j, px, py, pz, nx, ny, nz, place, outward, light, tolerance):
    """Light of lamp and sky at a place of the picture (in texels), from the texels around it on the same surface;
    −1 for the lamp if there is none."""
    rows, columns = place.shape[0], place.shape[1]
    i0, j0 = int(np.floor(i)), int(np.floor(j))
    lamp, sky, total = 0.0, 0.0, 0.0
    for a in range(2):
        row = min(max(i0 + a, 0), rows - 1)
        for b in range(2):
            column = min(max(j0 + b, 0), columns - 1)
            off = nx * (place[row, column, 0] - px) + ny * (place[row, column, 1] - py)
            off += nz * (place[row, column, 2] - pz)
            same = nx * outward[row, column, 0] + ny * outward[row, column, 1] + nz * outward[row, column, 2]
            if abs(off) > tolerance or same < 0.3:
                continue
            weight = (1e-3 + (i - i0 if a else 1.0 - i + i0)) * (1e-3 + (j - j0 if b else 1.0 - j + j0))
            lamp += weight * light[row, column, 0]
            sky += weight * light[row, column, 1]
            total += weight
    if total == 0.0:
        return -1.0, 0.85
    return lamp / total, sky / total


@compiled(parallel=True)
def shade_points(x, normals, colors, part, finishes, eye, lamp, origin, texel, nearest, sky, soil, lights, out):
    """Light of points, whose balls are shaded when they are drawn."""
    for p in prange(len(x)):
        finish = finishes[part[p]]
        if finish[KIND] == AS_GIVEN:
            for k in range(3):
                out[p, k] = colors[p, k]
            continue
        vx, vy, vz = eye[0] - x[p, 0], eye[1] - x[p, 1], eye[2] - x[p, 2]
        over = 1.0 / np.sqrt(vx * vx + vy * vy + vz * vz)
        nx, ny, nz = normals[p, 0], normals[p, 1], normals[p, 2]
        lift = 2.0 * texel
        seen = lamp_at(
            x[p, 0] + lift * nx, x[p, 1] + lift * ny, x[p, 2] + lift * nz, nx, ny, nz,
            lamp, origin, texel, nearest, 8, 0.0,
        )  # fmt: skip
        out[p, 0], out[p, 1], out[p, 2] = light_of(
            colors[p, 0], colors[p, 1], colors[p, 2], finish, nx, ny, nz, vx * over, vy * over, vz * over,
            seen, sky[p], soil, lights,
        )  # fmt: skip


@compiled
def _surface_at(
    t, row, column, i, j, eye, axes, scale, rows, columns, x, normals, colors, triangles, part, finishes,
    place, outward, dim, tolerance, lamp, origin, texel, nearest, soil, lights,
):  # fmt: skip
    """Light of a triangle at a sample, or of the pixel around it, at (row, column) from the upper left."""
    right, above = (column - 0.5 * columns) / scale, (0.5 * rows - row) / scale
    dx = axes[0, 0] * right + axes[1, 0] * above + axes[2, 0]
    dy = axes[0, 1] * right + axes[1, 1] * above + axes[2, 1]
    dz = axes[0, 2] * right + axes[1, 2] * above + axes[2, 2]
    a, b, c = corner_weights(t, x, triangles, dx, dy, dz, eye[0], eye[1], eye[2])
    p, q, r = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    red = a * colors[p, 0] + b * colors[q, 0] + c * colors[r, 0]
    green = a * colors[p, 1] + b * colors[q, 1] + c * colors[r, 1]
    blue = a * colors[p, 2] + b * colors[q, 2] + c * colors[r, 2]
    finish = finishes[part[t]]
    if finish[KIND] == AS_GIVEN:
        return red, green, blue
    nx = a * normals[p, 0] + b * normals[q, 0] + c * normals[r, 0]
    ny = a * normals[p, 1] + b * normals[q, 1] + c * normals[r, 1]
    nz = a * normals[p, 2] + b * normals[q, 2] + c * normals[r, 2]
    over = 1.0 / max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
    nx, ny, nz = nx * over, ny * over, nz * over
    px, py, pz = (
        a * x[p, 0] + b * x[q, 0] + c * x[r, 0],
        a * x[p, 1] + b * x[q, 1] + c * x[r, 1],
        a * x[p, 2] + b * x[q, 2] + c * x[r, 2],
    )
    shadow, sky = dimmed_at(i, j, px, py, pz, nx, ny, nz, place, outward, dim, tolerance)
    if shadow < 0.0:
        shadow = lamp_at(px, py, pz, nx, ny, nz, lamp, origin, texel, nearest, 8, 0.0)
    vx, vy, vz = eye[0] - px, eye[1] - py, eye[2] - pz
    over = 1.0 / np.sqrt(vx * vx + vy * vy + vz * vz)
    return light_of(
        red, green, blue, finish, nx, ny, nz, vx * over, vy * over, vz * over, shadow, sky, soil, lights
    )  # fmt: skip


@compiled
def _ground_at(
    row, column, i, j, u, eye, axes, scale, rows, columns, place, outward, dim, tolerance, soil, ground, lights
):
    """Light of the ground, which fades into the backdrop with the distance behind the scene."""
    right, above = (column - 0.5 * columns) / scale, (0.5 * rows - row) / scale
    px = eye[0] + (axes[0, 0] * right + axes[1, 0] * above + axes[2, 0]) / u
    py = eye[1] + (axes[0, 1] * right + axes[1, 1] * above + axes[2, 1]) / u
    pz = eye[2] + (axes[0, 2] * right + axes[1, 2] * above + axes[2, 2]) / u
    nx, ny, nz = lights[3, 0], lights[3, 1], lights[3, 2]
    shadow, sky = dimmed_at(i, j, px, py, pz, nx, ny, nz, place, outward, dim, tolerance)
    if shadow < 0.0:
        shadow, sky = 1.0, 1.0
    vx, vy, vz = eye[0] - px, eye[1] - py, eye[2] - pz
    over = 1.0 / np.sqrt(vx * vx + vy * vy + vz * vz)
    red, green, blue = light_of(
        soil[RED], soil[GREEN], soil[BLUE], soil, nx, ny, nz, vx * over, vy * over, vz * over,
        shadow, sky, soil[RED:], lights,
    )  # fmt: skip
    # ground: the middle of the scene, a direction away from the camera, the distances where the ground begins to fade
    # and where it has, and the backdrop
    away = (px - ground[0]) * ground[3] + (py - ground[1]) * ground[4] + (pz - ground[2]) * ground[5]
    fade = _smooth(ground[6], ground[7], away)
    shine = glow(row, column, rows, columns)
    red += fade * (shine * ground[8] - red)
    green += fade * (shine * ground[9] - green)
    blue += fade * (shine * ground[10] - blue)
    return red, green, blue


@compiled
def _is_one(nearness, hit, part, normals, triangles, top, left):
    """Whether the samples of a pixel show one smooth surface."""
    t, u = hit[top, left], nearness[top, left]
    for a in range(OVERSAMPLING):
        for b in range(OVERSAMPLING):
            s = hit[top + a, left + b]
            if s == t and s > FIRST_POINT:
                continue
            if s < 0 or t < 0 or part[s] != part[t] or abs(nearness[top + a, left + b] - u) > 0.01 * u:
                return False
            p, q = triangles[s, 0], triangles[t, 0]
            same = normals[p, 0] * normals[q, 0] + normals[p, 1] * normals[q, 1] + normals[p, 2] * normals[q, 2]
            if same < 0.9:
                return False
    return True


@compiled(parallel=True)
def shade(
    nearness, hit, eye, axes, scale, x, normals, colors, triangles, part, finishes, points, radius, dots, lamp_seen,
    ball, place, outward, dim, tolerance, lamp, origin, texel, nearest, soil, ground, backdrop, lights, all_samples,
    out,
):  # fmt: skip
    """Light of every pixel, or of every sample: a pixel of one smooth surface has that of its middle, others the mean
    of their samples. `dots` is the light of points, `ball` how their brightness varies with their normal."""
    rows, columns = nearness.shape
    for row in prange(rows // OVERSAMPLING):
        for column in range(columns // OVERSAMPLING):
            top, left = row * OVERSAMPLING, column * OVERSAMPLING
            one = not all_samples and _is_one(nearness, hit, part, normals, triangles, top, left)
            total_red, total_green, total_blue = 0.0, 0.0, 0.0
            for a in range(1 if one else OVERSAMPLING):
                for b in range(1 if one else OVERSAMPLING):
                    t, u = hit[top + a, left + b], nearness[top + a, left + b]
                    y = top + (0.5 * OVERSAMPLING if one else a + 0.5)
                    z = left + (0.5 * OVERSAMPLING if one else b + 0.5)
                    i, j = (y - 1.5) / CELL, (z - 1.5) / CELL
                    if t >= 0:
                        red, green, blue = _surface_at(
                            t, y, z, i, j, eye, axes, scale, rows, columns, x, normals, colors, triangles, part,
                            finishes, place, outward, dim, tolerance, lamp, origin, texel, nearest, soil[RED:], lights,
                        )  # fmt: skip
                    elif t == GROUND:
                        if one:  # nearness is linear in the picture
                            u = 0.25 * (
                                u + nearness[top, left + 1] + nearness[top + 1, left] + nearness[top + 1, left + 1]
                            )
                        red, green, blue = _ground_at(
                            y, z, i, j, u, eye, axes, scale, rows, columns, place, outward, dim, tolerance, soil,
                            ground, lights,
                        )  # fmt: skip
                    elif t == NOTHING:
                        shine = glow(y, z, rows, columns) if ground[7] > 0.0 else 1.0
                        red, green, blue = shine * backdrop[0], shine * backdrop[1], shine * backdrop[2]
                    else:
                        p = FIRST_POINT - t
                        depth = points[p, 2]
                        size = max(scale * radius[p] / depth, 0.75)
                        nx = (z - 0.5 * columns - scale * points[p, 0] / depth) / size
                        ny = (0.5 * rows - y - scale * points[p, 1] / depth) / size
                        nz = np.sqrt(max(1.0 - nx * nx - ny * ny, 0.0))
                        factor = 1.0
                        if ball[0] > 0.0:
                            factor = (ball[0] + lamp_seen[0] * nx + lamp_seen[1] * ny + lamp_seen[2] * nz) ** GAMMA
                        red, green, blue = factor * dots[p, 0], factor * dots[p, 1], factor * dots[p, 2]
                    if all_samples:
                        out[top + a, left + b, 0], out[top + a, left + b, 1] = red, green
                        out[top + a, left + b, 2] = blue
                    total_red, total_green, total_blue = total_red + red, total_green + green, total_blue + blue
            if not all_samples:
                share = 1.0 if one else 1.0 / OVERSAMPLING**2
                out[row, column, 0], out[row, column, 1] = share * total_red, share * total_green
                out[row, column, 2] = share * total_blue
