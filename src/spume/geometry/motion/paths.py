"""Paths through space: displacement and velocity as functions of time."""

import bisect
import itertools
import math
from collections.abc import Callable

from spume.geometry.motion.models import Polyline, Spiral

Triple = tuple[float, float, float]
Path = Callable[[float], tuple[Triple, Triple]]
"""Displacement [m] and velocity [m/s] at a time [s]."""
ZERO: Triple = (0.0, 0.0, 0.0)


def polyline_path(motion: Polyline) -> Path:
    """Path along straight lines from point to point at a constant speed; at rest before and after."""
    points = [_triple(point) for point in motion.points]
    lengths = [math.dist(one, two) for one, two in itertools.pairwise(points)]
    if motion.speed is not None:
        speed = motion.speed
    else:
        assert motion.stop is not None  # the model requires one of the two
        speed = math.fsum(lengths) / (motion.stop - motion.start)
    passed = [0.0]
    for length in lengths:
        passed.append(passed[-1] + length)

    def at(time: float) -> tuple[Triple, Triple]:
        way = speed * (time - motion.start)
        if time < motion.start:
            return points[0], ZERO
        if way >= passed[-1]:
            return points[-1], ZERO
        k = bisect.bisect_right(passed, way) - 1
        part = (way - passed[k]) / lengths[k]
        (ax, ay, az), (bx, by, bz) = points[k], points[k + 1]
        step = (bx - ax, by - ay, bz - az)
        rate = speed / lengths[k]
        place = (ax + part * step[0], ay + part * step[1], az + part * step[2])
        return place, (rate * step[0], rate * step[1], rate * step[2])

    return at


def spiral_path(motion: Spiral) -> Path:
    """r(s) = r0 + (r1 − r0) s at the angle φ0 + 2π n s and the height c s, where s goes from 0 to 1.

    With pacing "speed" s follows from the length of the path, whose derivative is √((2π n r)² + (r1 − r0)² + c²)."""
    e1, e2, e3 = _basis(motion.axis)
    r0, change, rise = motion.start_radius, motion.end_radius - motion.start_radius, motion.rise
    turn, phase = 2.0 * math.pi * motion.revolutions, math.radians(motion.phase)
    duration = motion.stop - motion.start
    straight = math.hypot(change, rise)

    def length(s: float) -> float:
        """Length of the path up to s [m]: the integral of √(q² + m²) with q = |turn| r."""
        return _arc(abs(turn), r0, change, straight, s)

    whole = length(1.0)

    def parameter(part: float) -> float:
        if motion.pacing == "angle" or part in (0.0, 1.0):
            return part
        low, high, s = 0.0, 1.0, part
        for _ in range(100):  # Newton's method within a bracket: the length grows with s
            miss = length(s) - part * whole
            low, high = (low, s) if miss > 0 else (s, high)
            slope = math.hypot(turn * (r0 + change * s), straight)
            new = s - miss / slope if slope > 0 else 0.5 * (low + high)
            if not low <= new <= high:
                new = 0.5 * (low + high)
            if abs(new - s) <= 1e-16 or new == s:
                return new
            s = new
        return s

    def at(time: float) -> tuple[Triple, Triple]:
        part = min(max((time - motion.start) / duration, 0.0), 1.0)
        s = parameter(part)
        r, angle = r0 + change * s, phase + turn * s
        c, d = math.cos(angle), math.sin(angle)
        place = _combined(e1, e2, e3, r * c, r * d, rise * s)
        if not motion.start <= time < motion.stop:
            return place, ZERO
        if motion.pacing == "angle":
            rate = 1.0 / duration
        else:
            rate = whole / duration / max(math.hypot(turn * r, straight), 1e-300)
        along = _combined(e1, e2, e3, change * c - r * turn * d, change * d + r * turn * c, rise)
        return place, (rate * along[0], rate * along[1], rate * along[2])

    return at


def _arc(turn: float, r0: float, change: float, straight: float, s: float) -> float:
    """∫₀ˢ √((turn (r0 + change s))² + straight²) ds."""
    if turn * change == 0.0:
        return math.hypot(turn * r0, straight) * s

    def antiderivative(q: float) -> float:
        root = math.hypot(q, straight)
        return 0.5 * (q * root + (straight * straight * math.asinh(q / straight) if straight > 0 else 0.0))

    return (antiderivative(turn * (r0 + change * s)) - antiderivative(turn * r0)) / (turn * change)


def _basis(axis: tuple[float, ...] | None) -> tuple[Triple, Triple, Triple]:
    """Orthonormal basis: the direction of angle zero, the direction a quarter turn from it, and the axis."""
    if axis is None:
        return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    size = math.hypot(*axis)
    x, y, z = (component / size for component in _triple(axis))
    # projection of the x axis across the axis, or of y if the axis is nearly x
    ux, uy, uz = (1.0 - x * x, -x * y, -x * z) if abs(x) < 0.9 else (-y * x, 1.0 - y * y, -y * z)
    long = math.hypot(ux, uy, uz)
    e1 = (ux / long, uy / long, uz / long)
    e2 = (y * e1[2] - z * e1[1], z * e1[0] - x * e1[2], x * e1[1] - y * e1[0])
    return e1, e2, (x, y, z)


def _combined(e1: Triple, e2: Triple, e3: Triple, a: float, b: float, c: float) -> Triple:
    x, y, z = (a * p + b * q + c * r for p, q, r in zip(e1, e2, e3))
    return x, y, z


def _triple(vector: tuple[float, ...]) -> Triple:
    return vector[0], vector[1], vector[2] if len(vector) == 3 else 0.0
