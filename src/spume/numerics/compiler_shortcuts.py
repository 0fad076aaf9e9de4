"""Shortcuts through Numba's compiler that leave the machine code as it is.

- What an operator returns for given types of numbers is looked up once.
- Only options of the compiler that are set are compared. Numba looks up what it has compiled for an operator by all
  options, makes two dictionaries for each comparison, and one to find a hash that is always the same.
- Nobody looks for garbage meanwhile.
"""

import contextlib
import functools
import gc
from collections.abc import Iterator
from typing import Any

from numba import types

from spume.numerics.numba_internals import NumbaFunction, TargetConfig

NUMBERS = (types.Number, types.Boolean)
"""Types of arguments for which the signatures of functions are remembered."""
_find_signature = NumbaFunction.get_call_type
_signatures: dict[tuple[int, int, Any], tuple[Any, Any, Any]] = {}
_equal_options, _find_hash = TargetConfig.__eq__, TargetConfig.__hash__


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """Take them inside the `with` block; the caller holds the lock of the compiler."""
    if NumbaFunction.get_call_type is _remembered:  # a kernel that is compiled for another one
        yield
        return
    NumbaFunction.get_call_type = _remembered
    TargetConfig.__eq__, TargetConfig.__hash__ = _same_options, _hash_of_options
    collecting = gc.isenabled()
    # The compiler makes millions of objects that live until its end. Looking for garbage among them, again and again,
    # took a seventh of the time.
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
        del NumbaFunction.get_call_type  # the inherited one
        TargetConfig.__eq__, TargetConfig.__hash__ = _equal_options, _find_hash


def _remembered(function: Any, context: Any, args: Any, keywords: Any) -> Any:
    """What an operator or a function of Numba returns for given numbers.

    Numba tries all of their templates, among them those for text, lists and dates; this took a tenth of the compiler's
    time. Templates with an implementation of their own (`overload`) depend on options and are not remembered.
    """
    if keywords or not all(isinstance(kind, NUMBERS) for kind in args):
        return _find_signature(function, context, args, keywords)
    key = id(function), id(context), args
    if key not in _signatures:
        found = _find_signature(function, context, args, keywords)
        if function.get_impl_key(found) is not function.typing_key:
            return found
        _signatures[key] = function, context, found  # alive, so that no other objects get their ids
    return _signatures[key][-1]


def _same_options(options: Any, other: Any) -> Any:
    """Whether two sets of options are equal. Those that are set in neither have their defaults in both."""
    if type(options) is not type(other):
        return _equal_options(options, other)
    first, second, known = options._values, other._values, options.options
    return first == second or all(
        first.get(name, known[name].default) == second.get(name, known[name].default)
        for name in first.keys() | second.keys()
    )


def _hash_of_options(options: Any) -> int:
    """Numba's hash, which depends on the names of the options only, without a dictionary of their values."""
    kind: Any = type(options)
    return _hash_of_names(kind)


@functools.cache
def _hash_of_names(kind: Any) -> int:
    return hash(tuple(sorted(kind.options)))
