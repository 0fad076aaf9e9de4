"""Shortcuts through Numba's compiler, against what Numba does."""

from itertools import product

import pytest

from spume.numerics.jit import CACHE

if CACHE != "spume":
    pytest.skip("this Numba lacks what is needed", allow_module_level=True)

from numba.core.compiler import Flags
from numba.core.cpu_options import ParallelOptions
from numba.core.targetconfig import TargetConfig

from spume.numerics.compiler_shortcuts import _hash_of_options, _same_options, shortcuts

SETTINGS = [
    {},
    {"nrt": False},  # the default
    {"nrt": True},
    {"noalias": True},
    {"nrt": True, "noalias": True},
    {"error_model": "numpy", "nrt": True},
    {"auto_parallel": ParallelOptions(True)},
    {"auto_parallel": ParallelOptions({"fusion": False})},
    {"auto_parallel": ParallelOptions({"fusion": False}), "nrt": False},
]


def flags(settings):
    found = Flags()
    for name, value in settings.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(("first", "second"), list(product(range(len(SETTINGS)), repeat=2)))
def test_sets_of_options_are_equal_if_numba_says_so(first, second):
    one, other = flags(SETTINGS[first]), flags(SETTINGS[second])
    assert _same_options(one, other) == (one.values() == other.values())
    assert _hash_of_options(one) == hash(one)
    assert _same_options(one, 3) is NotImplemented


def test_numba_has_its_own_functions_again():
    before = TargetConfig.__eq__, TargetConfig.__hash__
    with shortcuts():
        with shortcuts():
            assert TargetConfig.__eq__ is _same_options
        assert TargetConfig.__eq__ is _same_options
    assert (TargetConfig.__eq__, TargetConfig.__hash__) == before
