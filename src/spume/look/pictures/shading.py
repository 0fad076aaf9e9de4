"""Light from surfaces to the camera: a sky and the light it sends back from the ground, a large lamp, a weak one beside
the camera, one from behind for outlines, and reflections of a room with bright panels in their places."""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.look.pictures.shadows import CELL, corner_weights, lamp_at
from spume.look.pictures.soup import AS_GIVEN, BLUE, GREEN, KIND, METALLIC, PLAIN, RED, ROUGHNESS, SUBSURFACE
from spume.look.pictures.vectors import between, dot, mirrored, put, row_of, towards, unit
from spume.look.pictures.visible import FIRST_POINT, GROUND, NOTHING, OVERSAMPLING, ray_at
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]

SKY, BOUNCE, KEY, FILL, RIM = 0.42, 0.28, 0.62, 0.22, 0.32
"""Light from above, from below, from the lamp, from beside the camera, from behind, on a surface that faces it."""
SHOULDER = 0.55
"""Light up to here is shown as it is; more than that approaches white."""
GLOW = (1.12, 0.42)
"""Brightness of the backdrop in the middle, and its decrease towards the corners."""
GAMMA = 2.2
"""Exponent from perceived brightness to linear light."""
DIRECTIONS = ("key", "fill", "rim", "up")
TOWARDS_LAMP, TOWARDS_FILL, TOWARDS_RIM, UP = range(len(DIRECTIONS))
"""Rows of the lights of a room."""
LEVEL = 0.006
"""Distance along normals within which places share their shadows, relative to the size of the scene."""


class Room(NamedTuple):
    """What lights a scene, and what is around it."""

    lights: Floats
    """unit vectors in `DIRECTIONS`, shape (4, 3)"""
    soil: Floats
    """row of the ground in the table of finishes"""
    fade: Floats
    """the middle of the scene, a direction away from the camera, the distances where the ground begins to fade and
    where it has, the backdrop that it fades into; shape (11,)"""
    backdrop: Floats
    size: float
    """of the scene [m]"""


class Balls(NamedTuple):
    """Points as they are drawn."""

    x: Floats
    """places to the right, above and along the view [m]"""
    radius: Floats
    """[m]"""
    light: Floats
    """without the shading of their balls"""
    facing: Floats
    """how their brightness varies with their normal in the picture"""
    ball: Floats
    """their brightness without that; zero for discs"""


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
def room_at(direction, roughness, lights):
    """Light of the room from a direction, blurred for rough surfaces: an even sky, a broad panel at the lamp, a strip
    behind, and a dark ground."""
    above = dot(direction, row_of(lights, UP))
    blur = 0.08 + 0.8 * roughness
    sky = 0.22 + 0.5 * _smooth(-0.15 - 0.5 * blur, 0.35 + blur, above)
    key, rim = dot(direction, row_of(lights, TOWARDS_LAMP)), dot(direction, row_of(lights, TOWARDS_RIM))
    panel = 2.2 * _smooth(0.86 - 0.5 * blur, 0.92 + 0.05 * blur, key) / (1.0 + 4.0 * roughness)
    strip = 1.2 * _smooth(0.84 - 0.5 * blur, 0.94 + 0.05 * blur, rim) / (1.0 + 4.0 * roughness)
    return sky + panel + strip


@compiled
def facing_camera(normal, view):
    """A normal, turned to the camera if it is that of the back of a surface, and its component along `view`."""
    facing = dot(normal, view)
    if facing < 0.0:
        (nx, ny, nz), (vx, vy, vz) = normal, view
        return (nx - 2 * facing * vx, ny - 2 * facing * vy, nz - 2 * facing * vz), -facing
    return normal, facing


@compiled
def half_way(normal, view, lamp):
    """Cosine between a normal and the direction half-way between camera and lamp."""
    half = view[0] + lamp[0], view[1] + lamp[1], view[2] + lamp[2]
    return dot(normal, half) / np.sqrt(dot(half, half))


@compiled
def light_of(color, finish, normal, view, lamp, sky, room):
    """Light of a surface with a colour, a finish, a normal, and a unit vector to the camera, of which `lamp` and `sky`
    see a part."""
    normal, facing = facing_camera(normal, view)
    lights = room.lights
    soft = 0.55 * finish[SUBSURFACE]
    rough = finish[ROUGHNESS]
    key = dot(normal, row_of(lights, TOWARDS_LAMP))
    fill = max(dot(normal, row_of(lights, TOWARDS_FILL)), 0.0)
    rim = dot(normal, row_of(lights, TOWARDS_RIM))
    above = 0.5 + 0.5 * dot(normal, row_of(lights, UP))
    # light that scatters below the surface passes the edge of the shadow
    through = lamp + 0.4 * soft * (1.0 - lamp)
    direct = KEY * max((key + soft) / (1.0 + soft), 0.0) * through
    behind = RIM * max((rim + soft) / (1.0 + soft), 0.0) * (1.0 - 0.6 * facing) * sky
    edge = (1.0 - facing) ** 5
    if finish[KIND] == PLAIN:
        total = 0.5 + 0.45 * (SKY * above + BOUNCE * (1.0 - above)) * sky + 0.4 * direct + 0.3 * FILL * fill
        return toned(color[0] * total), toned(color[1] * total), toned(color[2] * total)
    metal = finish[METALLIC]
    fresnel = (0.04 + 0.96 * edge) * (1.0 - rough) ** 2
    # reflection and highlight of the lamp
    reflected = room_at(mirrored(view, normal, facing), rough, lights) * (0.3 + 0.7 * sky)
    half = half_way(normal, view, row_of(lights, TOWARDS_LAMP))
    # Blinn's exponent for the width of a microfacet lobe, about 2/α² with α = roughness²; the lamp is not small
    exponent = min(2.0 / max(rough, 0.3) ** 4, 120.0)
    shine = 0.5 * (1.0 - rough) ** 2 * max(half, 0.0) ** exponent * lamp
    mirror = (metal, fresnel, reflected, shine)
    red = _channel(color[0], room.soil[RED], sky, above, direct, FILL * fill, behind, mirror)
    green = _channel(color[1], room.soil[GREEN], sky, above, direct, FILL * fill, behind, mirror)
    blue = _channel(color[2], room.soil[BLUE], sky, above, direct, FILL * fill, behind, mirror)
    return red, green, blue


@compiled
def _channel(color, soil, sky, above, direct, side, behind, mirror):
    """One channel of `light_of`: of light from the sky and the ground, the lamp, the side and behind."""
    metal, fresnel, reflected, shine = mirror
    # what a bright surface reflects in a hollow reaches it again: a geometric series
    open_sky = sky / (1.0 - 0.75 * color * (1.0 - sky))
    below = BOUNCE * (0.5 + 0.8 * soil)
    ambient = (below + (SKY - below) * above) * open_sky
    value = color * (1.0 - metal) * (ambient + direct + side * (0.4 + 0.6 * open_sky) + behind)
    value += fresnel * reflected * (1.0 - metal) + metal * color * (reflected + 0.25 * direct)
    value += shine * (1.0 - metal + metal * color)
    return toned(value)


@compiled
def dimmed_at(row, column, place, normal, dim, tolerance):
    """Light of lamp and sky at a place of the picture [samples], from the texels around it on the same surface; −1 for
    the lamp if there is none."""
    i, j = (row - 1.5) / CELL, (column - 1.5) / CELL
    rows, columns = dim.x.shape[0], dim.x.shape[1]
    px, py, pz = place
    i0, j0 = int(np.floor(i)), int(np.floor(j))
    lamp, sky, total = 0.0, 0.0, 0.0
    for a in range(2):
        k = min(max(i0 + a, 0), rows - 1)
        for b in range(2):
            l = min(max(j0 + b, 0), columns - 1)
            off = dot(normal, (dim.x[k, l, 0] - px, dim.x[k, l, 1] - py, dim.x[k, l, 2] - pz))
            same = dot(normal, (dim.normals[k, l, 0], dim.normals[k, l, 1], dim.normals[k, l, 2]))
            if abs(off) > tolerance or same < 0.3:
                continue
            weight = (1e-3 + (i - i0 if a else 1.0 - i + i0)) * (1e-3 + (j - j0 if b else 1.0 - j + j0))
            lamp += weight * dim.light[k, l, 0]
            sky += weight * dim.light[k, l, 1]
            total += weight
    if total == 0.0:
        return -1.0, 0.85
    return lamp / total, sky / total


@compiled(parallel=True)
def shade_points(dots, eye, lamp, sky, room, out):
    """Light of points, whose balls are shaded when they are drawn."""
    for p in prange(len(dots.x)):
        finish = dots.finishes[dots.part[p]]
        color = row_of(dots.colors, p)
        if finish[KIND] == AS_GIVEN:
            out[p, 0], out[p, 1], out[p, 2] = color
            continue
        x, normal = row_of(dots.x, p), row_of(dots.normals, p)
        lift = 2.0 * lamp.texel
        above = x[0] + lift * normal[0], x[1] + lift * normal[1], x[2] + lift * normal[2]
        seen = lamp_at(above, normal, lamp, 8, 0.0)
        out[p, 0], out[p, 1], out[p, 2] = light_of(color, finish, normal, towards(x, eye), seen, sky[p], room)


@compiled
def _surface_at(t, row, column, eye, solid, dim, lamp, room):
    """Light of a triangle at a sample, or of the pixel around it, at (row, column) from the upper left."""
    triangle = row_of(solid.triangles, t)
    weights = corner_weights(triangle, solid.x, ray_at(eye, row, column), eye.position)
    color = between(solid.colors, triangle, weights)
    finish = solid.finishes[solid.part[t]]
    if finish[KIND] == AS_GIVEN:
        return color
    normal, place = unit(between(solid.normals, triangle, weights)), between(solid.x, triangle, weights)
    shadow, sky = dimmed_at(row, column, place, normal, dim, LEVEL * room.size)
    if shadow < 0.0:
        shadow = lamp_at(place, normal, lamp, 8, 0.0)
    return light_of(color, finish, normal, towards(place, eye.position), shadow, sky, room)


@compiled
def _ground_at(row, column, u, eye, dim, room):
    """Light of the ground, which fades into the backdrop with the distance behind the scene."""
    ray, at = ray_at(eye, row, column), eye.position
    place = at[0] + ray[0] / u, at[1] + ray[1] / u, at[2] + ray[2] / u
    normal = row_of(room.lights, UP)
    shadow, sky = dimmed_at(row, column, place, normal, dim, LEVEL * room.size)
    if shadow < 0.0:
        shadow, sky = 1.0, 1.0
    color = room.soil[RED], room.soil[GREEN], room.soil[BLUE]
    red, green, blue = light_of(color, room.soil, normal, towards(place, at), shadow, sky, room)
    fade = room.fade
    away = (place[0] - fade[0]) * fade[3] + (place[1] - fade[1]) * fade[4] + (place[2] - fade[2]) * fade[5]
    part = _smooth(fade[6], fade[7], away)
    shine = glow(row, column, eye.rows, eye.columns)
    red += part * (shine * fade[8] - red)
    green += part * (shine * fade[9] - green)
    blue += part * (shine * fade[10] - blue)
    return red, green, blue


@compiled
def _ball_at(p, row, column, eye, balls):
    """Light of a point at a sample."""
    depth = balls.x[p, 2]
    size = max(eye.scale * balls.radius[p] / depth, 0.75)
    nx = (column - 0.5 * eye.columns - eye.scale * balls.x[p, 0] / depth) / size
    ny = (0.5 * eye.rows - row - eye.scale * balls.x[p, 1] / depth) / size
    nz = np.sqrt(max(1.0 - nx * nx - ny * ny, 0.0))
    factor = 1.0
    if balls.ball[0] > 0.0:
        factor = (balls.ball[0] + balls.facing[0] * nx + balls.facing[1] * ny + balls.facing[2] * nz) ** GAMMA
    return factor * balls.light[p, 0], factor * balls.light[p, 1], factor * balls.light[p, 2]


@compiled
def _is_one(seen, solid, top, left):
    """Whether the samples of a pixel show one smooth surface."""
    t, u = seen.hit[top, left], seen.nearness[top, left]
    for a in range(OVERSAMPLING):
        for b in range(OVERSAMPLING):
            s = seen.hit[top + a, left + b]
            if s == t and s > FIRST_POINT:
                continue
            nearness = seen.nearness[top + a, left + b]
            if s < 0 or t < 0 or solid.part[s] != solid.part[t] or abs(nearness - u) > 0.01 * u:
                return False
            p, q = solid.triangles[s, 0], solid.triangles[t, 0]
            if dot(row_of(solid.normals, p), row_of(solid.normals, q)) < 0.9:
                return False
    return True


@compiled(parallel=True)
def shade(seen, eye, solid, balls, dim, lamp, room, all_samples, out):
    """Light of every pixel, or of every sample: a pixel of one smooth surface has that of its middle, others the mean
    of their samples."""
    rows, columns = eye.rows, eye.columns
    for row in prange(rows // OVERSAMPLING):
        for column in range(columns // OVERSAMPLING):
            top, left = row * OVERSAMPLING, column * OVERSAMPLING
            one = not all_samples and _is_one(seen, solid, top, left)
            total_red, total_green, total_blue = 0.0, 0.0, 0.0
            for a in range(1 if one else OVERSAMPLING):
                for b in range(1 if one else OVERSAMPLING):
                    t, u = seen.hit[top + a, left + b], seen.nearness[top + a, left + b]
                    y = top + (0.5 * OVERSAMPLING if one else a + 0.5)
                    z = left + (0.5 * OVERSAMPLING if one else b + 0.5)
                    if t >= 0:
                        red, green, blue = _surface_at(t, y, z, eye, solid, dim, lamp, room)
                    elif t == GROUND:
                        if one:  # nearness is linear in the picture
                            beside, below = seen.nearness[top, left + 1], seen.nearness[top + 1, left]
                            u = 0.25 * (u + beside + below + seen.nearness[top + 1, left + 1])
                        red, green, blue = _ground_at(y, z, u, eye, dim, room)
                    elif t == NOTHING:
                        shine = glow(y, z, rows, columns) if room.fade[7] > 0.0 else 1.0
                        red, green = shine * room.backdrop[0], shine * room.backdrop[1]
                        blue = shine * room.backdrop[2]
                    else:
                        red, green, blue = _ball_at(FIRST_POINT - t, y, z, eye, balls)
                    if all_samples:
                        put(out, top + a, left + b, (red, green, blue))
                    total_red, total_green, total_blue = total_red + red, total_green + green, total_blue + blue
            if not all_samples:
                share = 1.0 if one else 1.0 / OVERSAMPLING**2
                put(out, row, column, (share * total_red, share * total_green, share * total_blue))
