"""Velocity of a point after contact with obstacles.

A point inside an obstacle or on its surface has a velocity relative to that of the obstacle at the point. The contact

stick     sets it to zero
slip      sets its normal component to zero and keeps its tangential component
separate  if the point approaches, sets its normal component to zero and applies Coulomb friction to the tangential
          component, as in [Stomakhin13] section 8; if the point moves away, does nothing

An obstacle that lets a species of points pass (PASS) does nothing to them.

Where obstacles overlap, sticking takes precedence: the point takes the velocity of the first sticking obstacle that
contains it. Otherwise the contacts are applied in the order of the scene, repeatedly until the velocity no longer
changes and so satisfies all of them (in a wedge, it is along the edge).
"""

import math

from spume.geometry.obstacles.contact import PASS
from spume.geometry.sdf.evaluation import run_rows
from spume.numerics.array_pointers import open_arrays
from spume.numerics.jit import compiled

STICK, SLIP, SEPARATE = range(3)

SWEEPS = 32
"""Largest number of sweeps over overlapping obstacles. In a wedge of angle α each sweep leaves cos² α of the
approach velocity."""


@compiled
def _distance_and_normal(o, k, x, y, z, margin):
    """Signed distance [m] of a world point from obstacle k, and the outward unit normal; those of the obstacle's
    bounding ball if the point is further than `margin` from the ball."""
    rows, numbers, starts, voxels, dimension, poses, balls = o[0], o[1], o[2], o[3], o[4], o[5], o[6]
    m = 18 * k
    x, y, z = x - poses[m + 9], y - poses[m + 10], z - poses[m + 11]
    R00, R01, R02 = poses[m], poses[m + 1], poses[m + 2]
    R10, R11, R12 = poses[m + 3], poses[m + 4], poses[m + 5]
    R20, R21, R22 = poses[m + 6], poses[m + 7], poses[m + 8]
    u, v, w = R00 * x + R10 * y + R20 * z, R01 * x + R11 * y + R21 * z, R02 * x + R12 * y + R22 * z
    a, b, c, reach = u - balls[4 * k], v - balls[4 * k + 1], w - balls[4 * k + 2], balls[4 * k + 3] + margin
    s = a * a + b * b + c * c
    if s > reach * reach:
        s = math.sqrt(s)
        d, a, b, c = s - balls[4 * k + 3], a / s, b / s, c / s
    else:
        d, a, b, c = run_rows(rows, numbers, voxels, starts[k], starts[k + 1], u, v, w if dimension == 3 else 0.0)
    return d, R00 * a + R01 * b + R02 * c, R10 * a + R11 * b + R12 * c, R20 * a + R21 * b + R22 * c


@compiled
def _current(lattices, m, currents, u, v, w):
    """Velocity of a deforming obstacle at a place in its own frame, trilinear between the samples of its lattice."""
    u, v, w = u - lattices[m], v - lattices[m + 1], w - lattices[m + 2]
    a = lattices[m + 3] * u + lattices[m + 6] * v + lattices[m + 9] * w - lattices[m + 12]
    b = lattices[m + 4] * u + lattices[m + 7] * v + lattices[m + 10] * w - lattices[m + 13]
    c = lattices[m + 5] * u + lattices[m + 8] * v + lattices[m + 11] * w - lattices[m + 14]
    h = lattices[m + 15]
    nx, ny, nz = int(lattices[m + 16]), int(lattices[m + 17]), int(lattices[m + 18])
    a, b, c = min(max(a / h, 0.0), nx - 1.0), min(max(b / h, 0.0), ny - 1.0), min(max(c / h, 0.0), nz - 1.0)
    i, j, k = min(int(a), nx - 2), min(int(b), ny - 2), min(int(c), nz - 2)
    fx, fy, fz = a - i, b - j, c - k
    first = int(lattices[m + 19])
    vx = vy = vz = 0.0
    for corner in range(8):
        di, dj, dk = corner // 4, (corner // 2) % 2, corner % 2
        weight = (fx if di else 1.0 - fx) * (fy if dj else 1.0 - fy) * (fz if dk else 1.0 - fz)
        at = first + 3 * (((i + di) * ny + j + dj) * nz + k + dk)
        vx += weight * currents[at]
        vy += weight * currents[at + 1]
        vz += weight * currents[at + 2]
    return vx, vy, vz


@compiled
def _flow(o, k, x, y, z):
    """Velocity by which obstacle k deforms at a world place relative to its position."""
    poses, lattices, currents = o[5], o[12], o[13]
    m = 18 * k
    R00, R01, R02 = poses[m], poses[m + 1], poses[m + 2]
    R10, R11, R12 = poses[m + 3], poses[m + 4], poses[m + 5]
    R20, R21, R22 = poses[m + 6], poses[m + 7], poses[m + 8]
    u, v, w = R00 * x + R10 * y + R20 * z, R01 * x + R11 * y + R21 * z, R02 * x + R12 * y + R22 * z
    a, b, c = _current(lattices, 21 * k, currents, u, v, w)
    return R00 * a + R01 * b + R02 * c, R10 * a + R11 * b + R12 * c, R20 * a + R21 * b + R22 * c


@compiled
def _surface_velocity(o, k, x, y, z):
    poses = o[5]
    m = 18 * k
    x, y, z = x - poses[m + 9], y - poses[m + 10], z - poses[m + 11]
    wx, wy, wz = poses[m + 15], poses[m + 16], poses[m + 17]
    vx, vy, vz = poses[m + 12] + wy * z - wz * y, poses[m + 13] + wz * x - wx * z, poses[m + 14] + wx * y - wy * x
    if o[12][21 * k + 19] >= 0.0:
        a, b, c = _flow(o, k, x, y, z)
        return vx + a, vy + b, vz + c
    return vx, vy, vz


@compiled
def obstacle_distance_and_normal(obstacles, k, x, y, z):
    """Signed distance [m] of a world point from obstacle k, negative inside, and the outward unit normal."""
    return _distance_and_normal(open_arrays(obstacles), k, x, y, z, math.inf)


@compiled
def bounded_distance_and_normal(obstacles, k, x, y, z):
    """As `obstacle_distance_and_normal`, but outside the obstacle's bounding ball the distance and normal of the ball:
    a lower bound at a fraction of the cost."""
    return _distance_and_normal(open_arrays(obstacles), k, x, y, z, 0.0)


@compiled
def obstacle_velocity(obstacles, k, x, y, z):
    """Velocity [m/s] of obstacle k at a world point: v + omega × (x − p), and that of its deformation."""
    return _surface_velocity(open_arrays(obstacles), k, x, y, z)


@compiled
def _carried(o, k, x, y, z):
    """Position at the end of the step of a point that moves with obstacle k."""
    moves = o[10]
    m = 12 * k
    a = moves[m] * x + moves[m + 1] * y + moves[m + 2] * z + moves[m + 9]
    b = moves[m + 3] * x + moves[m + 4] * y + moves[m + 5] * z + moves[m + 10]
    c = moves[m + 6] * x + moves[m + 7] * y + moves[m + 8] * z + moves[m + 11]
    dt = o[12][21 * k + 20]
    if dt > 0.0:
        poses = o[5]
        n = 18 * k
        u, v, w = _flow(o, k, a - poses[n + 9], b - poses[n + 10], c - poses[n + 11])
        return a + dt * u, b + dt * v, c + dt * w
    return a, b, c


@compiled
def carry(obstacles, k, x, y, z):
    """Position [m] at the end of the step, given that at its start, of a point that moves with obstacle k: rigidly, and
    with its velocities if it deforms.

    The step is that of `ObstacleSet.during`. The rigid map keeps all distances within the body, whereas x + Δt v would
    move a point of a rotating body along the tangent and so outwards by a factor √(1 + (ω Δt)²) per step."""
    return _carried(open_arrays(obstacles), k, x, y, z)


@compiled
def resolve(contact, friction, nx, ny, nz, vx, vy, vz):
    """Relative velocity after contact with a surface of normal n."""
    if contact == STICK:
        return 0.0, 0.0, 0.0
    vn = vx * nx + vy * ny + vz * nz
    if contact == SEPARATE and vn >= 0.0:
        return vx, vy, vz
    tx, ty, tz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    if contact == SLIP or friction == 0.0:
        return tx, ty, tz
    vt = math.sqrt(tx * tx + ty * ty + tz * tz)
    if vt <= -friction * vn:
        return 0.0, 0.0, 0.0
    s = 1.0 + friction * vn / vt
    return s * tx, s * ty, s * tz


@compiled
def _resolve_moving(o, k, nx, ny, nz, x, y, z, vx, vy, vz):
    contact, friction = o[7], o[8]
    sx, sy, sz = _surface_velocity(o, k, x, y, z)
    vx, vy, vz = resolve(contact[k], friction[k], nx, ny, nz, vx - sx, vy - sy, vz - sz)
    return vx + sx, vy + sy, vz + sz


@compiled
def _resolve_overlap(o, x, y, z, vx, vy, vz):
    """Velocity of a point inside several obstacles, none of which sticks."""
    for _ in range(SWEEPS):
        bx, by, bz = vx, vy, vz
        for k in range(o[9]):
            if o[7][k] == PASS:
                continue
            d, nx, ny, nz = _distance_and_normal(o, k, x, y, z, 0.0)
            if d <= 0.0:
                vx, vy, vz = _resolve_moving(o, k, nx, ny, nz, x, y, z, vx, vy, vz)
        if abs(vx - bx) + abs(vy - by) + abs(vz - bz) <= 1e-14 * (abs(vx) + abs(vy) + abs(vz)):
            break
    return vx, vy, vz


@compiled
def _distance_during(o, k, x, y, z):
    """Distance and normal of a point from obstacle k at the end of the step. For a point inside at the start of the
    step, those after moving with the obstacle, so that it stays in contact with an obstacle that moves away."""
    d, nx, ny, nz = _distance_and_normal(o, k, x, y, z, 0.0)
    if d > 0.0 and o[11][k] == 1:
        a, b, c = _carried(o, k, x, y, z)
        inside, mx, my, mz = _distance_and_normal(o, k, a, b, c, 0.0)
        if inside <= 0.0:
            return inside, mx, my, mz
    return d, nx, ny, nz


@compiled
def find_owners(obstacles, x, owner):
    """Write to `owner`, for each point, the obstacle that acts on it in the step of `ObstacleSet.during`: the first
    sticking obstacle that contains it, otherwise the one in which it is deepest, −1 if there is none."""
    o = open_arrays(obstacles)
    contact = o[7]
    for p in range(x.shape[0]):
        owner[p] = -1
        deepest = math.inf
        for k in range(o[9]):
            if contact[k] == PASS:
                continue
            d, _, _, _ = _distance_during(o, k, x[p, 0], x[p, 1], x[p, 2])
            if d <= 0.0 and contact[k] == STICK:
                owner[p] = k
                break
            if d <= 0.0 and d < deepest:
                owner[p], deepest = k, d


@compiled
def _held(o, k, x, y, z):
    """Position and velocity of a point that moves rigidly with obstacle k."""
    x, y, z = _carried(o, k, x, y, z)
    vx, vy, vz = _surface_velocity(o, k, x, y, z)
    return x, y, z, vx, vy, vz, 0.0


@compiled
def collide_and_move(obstacles, dt, x, y, z, vx, vy, vz):
    """Position [m] and velocity [m/s] of a point at the end of a step of length dt [s], and a lower bound [m] of its
    distance from all obstacles before it moved, 0 if one contains it.

    A point without velocity relative to an obstacle that contains it, because it sticks or friction holds it, moves
    rigidly with the obstacle. Others move by dt times the velocity after contact."""
    return collide_and_move_open(open_arrays(obstacles), dt, x, y, z, vx, vy, vz)


@compiled
def collide_and_move_open(o, dt, x, y, z, vx, vy, vz):
    """`collide_and_move` for loops over points, with the result of `open_arrays`: to pass the arrays themselves to a
    function takes ten times as long as to move a point."""
    contact, friction = o[7], o[8]
    hits, hit = 0, 0
    nx = ny = nz = 0.0
    clearance = math.inf
    for k in range(o[9]):
        if contact[k] == PASS:
            continue
        d, a, b, c = _distance_during(o, k, x, y, z)
        clearance = min(clearance, d)
        if d <= 0.0:
            if contact[k] == STICK:
                return _held(o, k, x, y, z)
            hits, hit = hits + 1, k
            nx, ny, nz = a, b, c
    if hits == 1:
        sx, sy, sz = _surface_velocity(o, hit, x, y, z)
        vx, vy, vz = resolve(contact[hit], friction[hit], nx, ny, nz, vx - sx, vy - sy, vz - sz)
        if vx == 0.0 and vy == 0.0 and vz == 0.0:
            return _held(o, hit, x, y, z)
        vx, vy, vz = vx + sx, vy + sy, vz + sz
    elif hits > 1:
        vx, vy, vz = _resolve_overlap(o, x, y, z, vx, vy, vz)
    clearance = max(clearance, 0.0)
    return x + dt * vx, y + dt * vy, z + dt * vz, vx, vy, vz, clearance
