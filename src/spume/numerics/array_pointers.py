"""Raw pointers to arrays, without reference counting, for functions called once per point.

Numba counts references to every array passed from one function to another; for functions that take about ten
nanoseconds, this costs more than the function itself. The functions here reduce arrays to bare pointers, once per call
from Python. The caller must keep the arrays alive; the arrays must be contiguous.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _flatten(kind: Any, path: tuple[int, ...] = ()) -> list[tuple[Any, tuple[int, ...]]]:
    """Scalar and array fields of a named tuple, including nested ones, as (type, path of indices)."""
    if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
        return [leaf for k, field in enumerate(kind) for leaf in _flatten(field, (*path, k))]
    return [(kind, path)]


def _open_arrays(typingctx, record):
    """Flat tuple of all fields of a named tuple, in order; nested named tuples are expanded, arrays become pointers."""
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
    """Pointer to `count` (a constant) float64 on the stack, valid until the calling function returns."""
    if not isinstance(count, types.IntegerLiteral):
        return None  # Numba then asks again with the constant
    n = count.literal_value

    def generate(context, builder, signature, args):
        with builder.goto_entry_block():  # memory allocated inside a loop would grow with each pass
            return builder.alloca(ir.DoubleType(), size=ir.Constant(ir.IntType(64), n))

    return types.CPointer(types.float64)(count), generate


open_arrays: Any = intrinsic(_open_arrays)
stack_memory: Any = intrinsic(_stack_memory)
for made in (open_arrays, stack_memory):
    made.spume_sources = frozenset({__file__})  # kernels that use them are recompiled when this file changes
