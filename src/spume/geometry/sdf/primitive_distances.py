"""Signed distance and gradient of each primitive in its own frame, at one point.

Each function returns (d, gx, gy, gz): the exact distance [m], negative inside, and its unit gradient. At a kink of the
distance (such as the centre of a sphere) the gradient is one of those nearby. Solids of revolution about z are
evaluated in the half plane (rho, z).
"""

import math

from spume.numerics.jit import compiled


@compiled
def sphere(x, y, z, radius):
    s = x * x + y * y + z * z
    if s == 0.0:
        return -radius, 1.0, 0.0, 0.0
    length = math.sqrt(s)
    i = 1.0 / length
    return length - radius, x * i, y * i, z * i


@compiled
def from_faces(qx, qy, qz, x, y, z, rounding):
    """Box, from the signed distances of its nearer faces, whose outward directions are the signs of x, y and z."""
    ux, uy, uz = max(qx, 0.0), max(qy, 0.0), max(qz, 0.0)
    s = ux * ux + uy * uy + uz * uz
    if s > 0.0:
        length = math.sqrt(s)
        i = 1.0 / length
        return length - rounding, math.copysign(ux * i, x), math.copysign(uy * i, y), math.copysign(uz * i, z)
    if qx >= qy and qx >= qz:
        return qx - rounding, math.copysign(1.0, x), 0.0, 0.0
    if qy >= qz:
        return qy - rounding, 0.0, math.copysign(1.0, y), 0.0
    return qz - rounding, 0.0, 0.0, math.copysign(1.0, z)


@compiled
def box(x, y, z, hx, hy, hz, rounding):
    return from_faces(abs(x) - hx, abs(y) - hy, abs(z) - hz, x, y, z, rounding)


@compiled
def _revolve(x, y, rho, d, g_rho, gz):
    """Distance and gradient at a point from the gradient (g_rho, gz) in the half plane."""
    if rho == 0.0:
        return d, g_rho, 0.0, gz
    i = g_rho / rho
    return d, x * i, y * i, gz


@compiled
def cylinder(x, y, z, radius, half_height, rounding):
    rho = math.sqrt(x * x + y * y)
    q, qz = rho - radius, abs(z) - half_height
    u, uz = max(q, 0.0), max(qz, 0.0)
    s = u * u + uz * uz
    if s > 0.0:
        length = math.sqrt(s)
        i = 1.0 / length
        return _revolve(x, y, rho, length - rounding, u * i, math.copysign(uz * i, z))
    if q >= qz:
        return _revolve(x, y, rho, q - rounding, 1.0, 0.0)
    return qz - rounding, 0.0, 0.0, math.copysign(1.0, z)


@compiled
def capsule(x, y, z, half_length, radius):
    along = x - min(max(x, -half_length), half_length)
    s = along * along + y * y + z * z
    if s == 0.0:
        return -radius, 0.0, 1.0, 0.0
    length = math.sqrt(s)
    i = 1.0 / length
    return length - radius, along * i, y * i, z * i


@compiled
def cone(x, y, z, base, top, height):
    rho = math.sqrt(x * x + y * y)
    slant = math.sqrt(height * height + (base - top) * (base - top))
    n_rho, nz = height / slant, (base - top) / slant
    side = (rho - base) * n_rho + z * nz
    if side >= -z and side >= z - height:
        plane, p_rho, pz = side, n_rho, nz
    elif -z >= z - height:
        plane, p_rho, pz = -z, 0.0, -1.0
    else:
        plane, p_rho, pz = z - height, 0.0, 1.0
    if plane <= 0.0:
        return _revolve(x, y, rho, plane, p_rho, pz)
    # Outside, the nearest point lies on one of the three edges of the profile.
    u, w = max(rho - base, 0.0), z
    s = u * u + w * w
    a, b = max(rho - top, 0.0), z - height
    if a * a + b * b < s:
        u, w, s = a, b, a * a + b * b
    t = min(max(((rho - base) * (top - base) + z * height) / (slant * slant), 0.0), 1.0)
    a, b = rho - base - t * (top - base), z - t * height
    if a * a + b * b < s:
        u, w, s = a, b, a * a + b * b
    if s == 0.0:
        return _revolve(x, y, rho, plane, p_rho, pz)
    length = math.sqrt(s)
    return _revolve(x, y, rho, length, u / length, w / length)


@compiled
def torus(x, y, z, major, minor):
    rho = math.sqrt(x * x + y * y)
    q = rho - major
    s = q * q + z * z
    if s == 0.0:
        return _revolve(x, y, rho, -minor, 1.0, 0.0)
    length = math.sqrt(s)
    return _revolve(x, y, rho, length - minor, q / length, z / length)


@compiled
def ellipsoid(x, y, z, a, b, c):
    """Ellipsoid. The nearest point of the surface is e² y / (t + e²) per axis, where t solves Σ (e y / (t + e²))² = 1;
    the distance is t ‖y / (t + e²)‖ and the gradient has the direction of y / (t + e²). The sum is convex and
    decreasing in u = t + min e² > 0, so Newton's method from the left of the root never overshoots."""
    e = min(a, min(b, c))
    # Exactly on a plane of symmetry there may be two nearest points; a shift of the size of rounding chooses one.
    X, Y, Z = max(abs(x), 1e-15 * a), max(abs(y), 1e-15 * b), max(abs(z), 1e-15 * c)
    pa, pb, pc = a * a - e * e, b * b - e * e, c * c - e * e
    u = max(a * X - pa, max(b * Y - pb, c * Z - pc))
    for _ in range(100):
        ra, rb, rc = 1.0 / (u + pa), 1.0 / (u + pb), 1.0 / (u + pc)
        fa, fb, fc = a * X * ra, b * Y * rb, c * Z * rc
        f = fa * fa + fb * fb + fc * fc - 1.0
        step = 0.5 * f / (fa * fa * ra + fb * fb * rb + fc * fc * rc)
        u += step
        if step <= 1e-15 * u:
            break
    gx, gy, gz = X / (u + pa), Y / (u + pb), Z / (u + pc)
    length = math.sqrt(gx * gx + gy * gy + gz * gz)
    i = 1.0 / length
    return (u - e * e) * length, math.copysign(gx * i, x), math.copysign(gy * i, y), math.copysign(gz * i, z)


@compiled
def polygon(x, y, numbers, offset):
    n = int(numbers[offset])
    best = math.inf
    d = ox = oy = 0.0
    inside = False
    ax, ay = numbers[offset + 2 * n - 1], numbers[offset + 2 * n]
    for k in range(n):
        bx, by = numbers[offset + 1 + 2 * k], numbers[offset + 2 + 2 * k]
        ex, ey = bx - ax, by - ay
        wx, wy = x - ax, y - ay
        ee = ex * ex + ey * ey
        t = min(max((wx * ex + wy * ey) / ee, 0.0), 1.0)
        ux, uy = wx - t * ex, wy - t * ey
        s = ux * ux + uy * uy
        if s < best:
            best, d = s, math.sqrt(s)
            if 0.0 < t < 1.0 or s == 0.0:
                # Outward normal of a counter-clockwise edge: accurate at any distance of the point.
                i = 1.0 / math.sqrt(ee)
                ox, oy = ey * i, -ex * i
                if ux * ox + uy * oy < 0.0:
                    ox, oy = -ox, -oy
            else:
                ox, oy = ux / d, uy / d
        if (ay > y) != (by > y) and x < ax + (y - ay) / ey * ex:
            inside = not inside
        ax, ay = bx, by
    if inside:
        return -d, -ox, -oy, 0.0
    return d, ox, oy, 0.0


@compiled
def mesh(x, y, z, numbers, offset, voxels):
    """Mesh: trilinear inside the grid of samples. Outside, at a distance r from the nearest position c in the grid,
    every point of the mesh is at least √(r² + d(c)²) away, because the grid is convex and contains the mesh."""
    h = numbers[offset + 3]
    nx, ny, nz = int(numbers[offset + 4]), int(numbers[offset + 5]), int(numbers[offset + 6])
    first, factor = int(numbers[offset + 7]), numbers[offset + 8]
    X, Y, Z = (x - numbers[offset]) / h, (y - numbers[offset + 1]) / h, (z - numbers[offset + 2]) / h
    U, V, W = min(max(X, 0.0), nx - 1.0), min(max(Y, 0.0), ny - 1.0), min(max(Z, 0.0), nz - 1.0)
    i, j, k = min(int(U), nx - 2), min(int(V), ny - 2), min(int(W), nz - 2)
    fx, fy, fz = U - i, V - j, W - k
    q = first + (i * ny + j) * nz + k
    sy, sx = nz, ny * nz
    c00 = voxels[q] + fx * (voxels[q + sx] - voxels[q])
    c10 = voxels[q + sy] + fx * (voxels[q + sx + sy] - voxels[q + sy])
    c01 = voxels[q + 1] + fx * (voxels[q + sx + 1] - voxels[q + 1])
    c11 = voxels[q + sy + 1] + fx * (voxels[q + sx + sy + 1] - voxels[q + sy + 1])
    d00, d10 = voxels[q + sx] - voxels[q], voxels[q + sx + sy] - voxels[q + sy]
    d01, d11 = voxels[q + sx + 1] - voxels[q + 1], voxels[q + sx + sy + 1] - voxels[q + sy + 1]
    c0, c1 = c00 + fy * (c10 - c00), c01 + fy * (c11 - c01)
    d = factor * (c0 + fz * (c1 - c0))
    scale = factor / h
    gx = scale * ((1.0 - fz) * (d00 + fy * (d10 - d00)) + fz * (d01 + fy * (d11 - d01)))
    gy = scale * ((1.0 - fz) * (c10 - c00) + fz * (c11 - c01))
    gz = scale * (c1 - c0)
    rx, ry, rz = (X - U) * h, (Y - V) * h, (Z - W) * h
    r2 = rx * rx + ry * ry + rz * rz
    if r2 == 0.0:
        return d, gx, gy, gz
    far = math.sqrt(r2 + d * d)
    gx = rx if rx != 0.0 else d * gx
    gy = ry if ry != 0.0 else d * gy
    gz = rz if rz != 0.0 else d * gz
    return far, gx / far, gy / far, gz / far
