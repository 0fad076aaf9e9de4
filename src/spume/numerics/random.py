"""Random numbers by hashing, the same on every machine and for any number of threads. [Steele14]

`mix` and `uniform` have no hidden state: they hash a seed, a position and a counter into a number, so that the result
does not depend on threads or on the order of calls. `scramble` is the finaliser of SplitMix64.
"""

import numpy as np

from spume.numerics.jit import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@compiled(inline="always")
def scramble(z):
    """Bijective hash of an unsigned 64-bit integer: every bit of the result depends on all bits of z."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@compiled(inline="always")
def mix(state, value):
    """New state from a state and a value, both unsigned 64-bit integers."""
    return scramble(state + _GOLDEN * (np.uint64(value) + np.uint64(1)))


@compiled(inline="always")
def uniform(state):
    """Uniform number in [0, 1) from a state."""
    return np.float64(state >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def _mix_all(values):
    state = np.uint64(0)
    for value in values:
        state = mix(state, value)
    return state


def seed_state(seed: tuple[int, ...]) -> np.uint64:
    """Initial state for a seed of several integers."""
    return np.uint64(_mix_all(np.array([value & 0xFFFFFFFFFFFFFFFF for value in seed], dtype=np.uint64)))
