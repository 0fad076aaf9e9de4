"""Memory without bookkeeping, for code that is called on every point.

Numba counts references to every array handed from one function to the next; for functions of some ten nanoseconds that
costs more than their work. The functions here reduce arrays to bare pointers, once per call from outside. The caller
keeps the arrays alive; the arrays must be contiguous.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _flatten(kind: Any, path: tuple[int, ...] = ()) -> list[tuple[Any, tuple[int, ...]]]:
    """The scalar and array fields of a named tuple, nested ones included: (type, indices that lead to it)."""
    if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
        return [leaf for k, field in enumerate(kind) for leaf in _flatten(field, (*path, k))]
    return [(kind, path)]


def _open_arrays(typingctx, record):
    """All fields of a named tuple in order, those of named tuples in it in their place, arrays as pointers."""
    leaves = _flatten(record)
    kinds = [types.CPointer(kind.dtype) if isinstance(kind, types.Array) else kind for kind, _ in leaves]

    def generate(context, builder, signature, args):
        values = []
        for kind, path in leaves:
            value = builder.extract_value(args[0], path)
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
            values.append(value)
        return context.make_tuple(builder, signature.return_type, values)

    return types.Tuple(kinds)(record), generate


def _stack_memory(typingctx, count):
    """A pointer to `count` (a constant) float64 on the machine's own stack, gone when the calling function returns."""
    if not isinstance(count, types.IntegerLiteral):
        return None  # Numba then asks again with the constant
    n = count.literal_value

    def generate(context, builder, signature, args):
        return cgutils.alloca_once(builder, context.get_value_type(types.float64), size=n)

    return types.CPointer(types.float64)(count), generate


open_arrays: Any = intrinsic(_open_arrays)
stack_memory: Any = intrinsic(_stack_memory)
for made in (open_arrays, stack_memory):
    made.spume_sources = frozenset({__file__})  # kernels that use them are compiled anew when this file changes
