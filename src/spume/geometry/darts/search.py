"""A dart in what is left free of a cell: a tree of boxes, and darts thrown at those that are left. [Ebeida12]

A box is done when spheres cover all of it or when the domain does not reach into it. Every other box is split into 4^d
parts, two levels of the paper's tree at once (`coverage.py`), and a dart is thrown at each. Lengths are in cell widths,
positions relative to the corner of the cell.
"""

from typing import Any

import numpy as np

from spume.geometry.darts.coverage import (
    is_covered,
    is_covered_together,
    keep_near,
    lowest_bit,
    uncovered_in_plane,
    uncovered_in_space,
)
from spume.numerics.jit import compiled
from spume.numerics.random import mix, uniform

ALL = 1 << 62
"""As `enough`: throw at all boxes."""


@compiled
def make_scratch(levels, capacity):
    """Memory for a search among at most `capacity` points: per level of the tree the points near the box and their
    number, its corner, the parts of it left to look at, its random state."""
    return (
        np.empty((levels + 1, 3, capacity)),
        np.empty(levels + 1, np.int64),
        np.zeros((levels + 1, 3)),
        np.empty(levels + 1, np.uint64),
        np.empty(levels + 1, np.uint64),
    )


def make_search(D: int, contains: Any, reaches: Any) -> Any:
    """The search in a domain, which is given by two functions (see `Domain`)."""

    @compiled
    def search(arrays, numbers, whole, count, alpha, state, first, last, tries, enough, scratch, dart):
        """Throw at every box of the levels `first` to `last` of a cell's tree, `tries` times or until a dart lands in
        it, until `enough` have landed.

        numbers, whole: what `Domain.prepare` says of the cell; count: how many points are in the scratch's level 0;
        state: the cell's random state. Returns how many darts have landed, one of them, each with the same
        probability, in `dart`, and whether there may be free places left.
        """
        near, counts, origin, left, states = scratch
        counts[0], states[0] = count, state
        landed = 0
        unfinished = False
        level = 0
        w = 1.0
        entering = True
        while level >= 0:
            x, y, z = origin[level, 0], origin[level, 1], origin[level, 2]
            if entering:
                c = states[level]
                for _ in range(tries if level >= first else 0):
                    a = mix(c, 100)
                    b = mix(a, 1)
                    c = mix(b, 2)
                    u, v, t = x + w * uniform(a), y + w * uniform(b), z + w * uniform(c) if D == 3 else 0.0
                    covered = is_covered(near[level], counts[level], alpha, u, v, t)
                    if not covered and (whole or contains(arrays, numbers, u, v, t)):
                        landed += 1
                        if landed == 1 or uniform(mix(c, 3)) * landed < 1.0:
                            dart[0], dart[1], dart[2] = u, v, t
                        if landed == enough:
                            return landed, True
                        break
                if level == last:
                    unfinished = True
                    left[level] = 0
                elif D == 3:
                    left[level] = uncovered_in_space(near[level], counts[level], alpha, x, y, z, w)
                else:
                    left[level] = uncovered_in_plane(near[level], counts[level], alpha, x, y, w)
            entering = False
            if left[level] == 0:
                level -= 1
                w *= 4.0
                continue
            part = lowest_bit(left[level])
            left[level] &= left[level] - np.uint64(1)
            v = 0.25 * w
            if D == 3:
                x, y, z = x + v * (part >> 4), y + v * (part >> 2 & 3), z + v * (part & 3)
            else:
                x, y = x + v * (part >> 2), y + v * (part & 3)
            kept = keep_near(D, near[level], counts[level], alpha, x, y, z, v, near[level + 1])
            if kept < 0 or is_covered_together(D, near[level + 1], kept, alpha, x, y, z, v):
                continue
            if whole or reaches(arrays, numbers, x, y, z, v):
                states[level + 1] = mix(states[level], part)
                level += 1
                w = v
                origin[level, 0], origin[level, 1], origin[level, 2], counts[level] = x, y, z, kept
                entering = True
        return landed, unfinished

    return search
