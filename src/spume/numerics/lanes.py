"""Eight float64 numbers at once, in kernels: explicit vectors for sums over neighbours.

A loop over the neighbours of a point reads a few numbers of each from scattered places and adds up a few sums.
Compilers vectorise it with gather instructions, which fetch one number at a time, and compute the last entries one by
one, which is a large part of 30. Here the loop takes eight neighbours at a time, in values of the type `lanes`:

    for group in range(start, end, LANES):
        x, y, z, mass, _, _, _, _ = gather_rows(table, 0, index, group)    # numbers 0 to 7 of eight rows
        total += mass * root_of_lanes(x * x + y * y + z * z)
    result = sum_lanes(total)

`lanes` have +, −, * and /, also with numbers, which are then the same in all lanes. They have no branches: `where_less`
chooses between two results. `gather_rows` loads whole rows and transposes them in registers. Memory of `aligned_zeros`
begins at a line of the cache, so that a row of eight numbers touches only one. Operations may be contracted to fused
multiply-adds as in other kernels; the order of sums is fixed. Lanes also serve long computations of single points,
eight points at a time (`svd_lanes`, `lane_functions`).
"""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable
from numpy.typing import NDArray

LANES = 8
"""Numbers in a vector."""
LINE = 64
"""Bytes of a line of the cache."""
FLAGS = ("contract", "nsz", "arcp")
"""What the compiler may do with operations on lanes, see `jit.FAST`; it may not reorder them."""
VECTOR = ir.VectorType(ir.DoubleType(), LANES)
INTEGER = ir.IntType(64)


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A C-contiguous array of zeros that begins at a line of the cache."""
    size = math.prod(shape)
    memory = np.zeros(size + LINE // 8)
    first = -(memory.ctypes.data // 8) % (LINE // 8)
    return memory[first : first + size].reshape(shape)


class Lanes(types.Type):
    """The type of eight numbers in a kernel."""

    def __init__(self) -> None:
        super().__init__(name="lanes")


lanes = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _as_vector(builder: Any, kind: Any, value: Any) -> Any:
    """A value of type `lanes`, or a number in all lanes."""
    if isinstance(kind, Lanes):
        return value
    single = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, single, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _register_operator(operation: Callable[..., Any], instruction: str) -> None:
    """Make `operation` known for lanes with lanes and with numbers."""

    @type_callable(operation)
    def type_of(context: Any) -> Any:
        def signature(left: Any, right: Any) -> Any:
            kinds = [lanes if isinstance(kind, Lanes) else types.float64 for kind in (left, right)]
            return lanes(*kinds) if lanes in kinds else None

        return signature

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right = (_as_vector(builder, kind, value) for kind, value in zip(signature.args, args))
        return getattr(builder, instruction)(left, right, flags=FLAGS)

    for kinds in ((lanes, lanes), (lanes, types.float64), (types.float64, lanes)):
        lower_builtin(operation, *kinds)(lower)


for _operations, _instruction in (
    ((operator.add, operator.iadd), "fadd"),
    ((operator.sub, operator.isub), "fsub"),
    ((operator.mul, operator.imul), "fmul"),
    ((operator.truediv, operator.itruediv), "fdiv"),
):
    for _operation in _operations:
        _register_operator(_operation, _instruction)


def _vector_function(function: Any) -> Any:
    """An intrinsic function; kernels that use it are compiled anew when this file changes."""
    made: Any = intrinsic(function)
    made.spume_sources = frozenset({__file__})
    return made


def _vectors(builder: Any, signature: Any, args: Any) -> list[Any]:
    return [_as_vector(builder, kind, value) for kind, value in zip(signature.args, args)]


@_vector_function
def zero_lanes(typingctx):
    """Eight zeros."""
    return lanes(), lambda context, builder, signature, args: ir.Constant(VECTOR, [0.0] * LANES)


@_vector_function
def where_less(typingctx, a, b, yes, no):
    """`yes` in the lanes in which a < b, `no` in the others. Each may be a number."""

    def generate(context, builder, signature, args):
        a, b, yes, no = _vectors(builder, signature, args)
        return builder.select(builder.fcmp_ordered("<", a, b), yes, no)

    return lanes(a, b, yes, no), generate


@_vector_function
def where_at_most(typingctx, a, b, yes, no):
    """`yes` in the lanes in which a <= b, `no` in the others, where a or b may be NaN. Each may be a number."""

    def generate(context, builder, signature, args):
        a, b, yes, no = _vectors(builder, signature, args)
        return builder.select(builder.fcmp_ordered("<=", a, b), yes, no)

    return lanes(a, b, yes, no), generate


@_vector_function
def all_less(typingctx, a, b):
    """Whether a < b in all lanes. Each may be a number."""

    def generate(context, builder, signature, args):
        less = builder.fcmp_ordered("<", *_vectors(builder, signature, args))
        bits = ir.IntType(LANES)
        return builder.icmp_unsigned("==", builder.bitcast(less, bits), ir.Constant(bits, 2**LANES - 1))

    return types.boolean(a, b), generate


def _call(builder: Any, name: str, args: Sequence[Any]) -> Any:
    """Call LLVM's function `name` of vectors."""
    module, full_name = builder.module, f"llvm.{name}.v{LANES}f64"
    kind = ir.FunctionType(VECTOR, [VECTOR] * len(args))
    return builder.call(module.globals.get(full_name) or ir.Function(module, kind, full_name), args)


@_vector_function
def root_of_lanes(typingctx, a):
    """The square root of each."""
    return lanes(a), lambda context, builder, signature, args: _call(builder, "sqrt", args)


@_vector_function
def abs_of_lanes(typingctx, a):
    """The magnitude of each."""
    return lanes(a), lambda context, builder, signature, args: _call(builder, "fabs", args)


@_vector_function
def with_sign_of(typingctx, a, sign):
    """The magnitude of `a` with the sign of `sign`. Each may be a number."""

    def generate(context, builder, signature, args):
        return _call(builder, "copysign", _vectors(builder, signature, args))

    return lanes(a, sign), generate


@_vector_function
def exponent_and_fraction(typingctx, a):
    """Integers k and f in [√½, √2) with a = 2ᵏ f, of positive normal numbers."""

    def generate(context, builder, signature, args):
        integers = ir.VectorType(INTEGER, LANES)
        low = ir.Constant(integers, [int(np.float64(math.sqrt(0.5)).view(np.int64))] * LANES)
        width = ir.Constant(integers, [52] * LANES)  # bits of a float64 below its exponent
        bits = builder.bitcast(args[0], integers)
        exponent = builder.ashr(builder.sub(bits, low), width)
        fraction = builder.bitcast(builder.sub(bits, builder.shl(exponent, width)), VECTOR)
        return context.make_tuple(builder, signature.return_type, [builder.sitofp(exponent, VECTOR), fraction])

    return types.UniTuple(lanes, 2)(a), generate


@_vector_function
def sum_lanes(typingctx, a):
    """The sum of the eight numbers, in a fixed order."""

    def generate(context, builder, signature, args):
        (a,) = args
        for half in (4, 2, 1):
            order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(k + half) % LANES for k in range(LANES)])
            a = builder.fadd(a, builder.shuffle_vector(a, a, order), flags=FLAGS)
        return builder.extract_element(a, ir.Constant(ir.IntType(32), 0))

    return types.float64(a), generate


def _masks(run: int) -> list[Any]:
    """Which numbers of two vectors remain in each when they exchange every other run of `run` numbers."""
    low = [k % run + (k // run % 2) * LANES + k // (2 * run) * 2 * run for k in range(LANES)]
    return [ir.Constant(ir.VectorType(ir.IntType(32), LANES), [k + shift for k in low]) for shift in (0, run)]


@_vector_function
def sum_each(typingctx, a, b, c, d, e, f, g, h):
    """The sums of eight values of type `lanes`, eight numbers: with half the operations of `sum_lanes` for each."""

    def generate(context, builder, signature, args):
        vectors = list(args)
        for run in (1, 2, 4):
            masks = _masks(run)
            pairs = zip(vectors[::2], vectors[1::2])
            vectors = [
                builder.fadd(*(builder.shuffle_vector(*pair, mask) for mask in masks), flags=FLAGS) for pair in pairs
            ]
        sums = [builder.extract_element(vectors[0], ir.Constant(ir.IntType(32), k)) for k in range(LANES)]
        return context.make_tuple(builder, signature.return_type, sums)

    return types.UniTuple(types.float64, LANES)(a, b, c, d, e, f, g, h), generate


def _array(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value)


def _at(builder: Any, data: Any, offset: Any) -> Any:
    """The address of eight numbers."""
    return builder.bitcast(builder.gep(data, [offset]), VECTOR.as_pointer())


@_vector_function
def load_lanes(typingctx, array, first):
    """array[first : first + 8] of a contiguous array of float64. Nothing is checked."""

    def generate(context, builder, signature, args):
        data = _array(context, builder, signature.args[0], args[0]).data
        return builder.load(_at(builder, data, args[1]), align=8)

    return lanes(array, types.intp), generate


@_vector_function
def store_lanes(typingctx, array, first, values):
    """array[first : first + 8] ← values, for a contiguous array of float64. Nothing is checked."""

    def generate(context, builder, signature, args):
        data = _array(context, builder, signature.args[0], args[0]).data
        builder.store(args[2], _at(builder, data, args[1]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


@_vector_function
def gather_lanes(typingctx, array, index, first):
    """array[index[first : first + 8]] of a contiguous array of float64; index: int32, not negative. Nothing is
    checked."""

    def generate(context, builder, signature, args):
        data = _array(context, builder, signature.args[0], args[0]).data
        chosen = _array(context, builder, signature.args[1], args[1]).data
        result = ir.Constant(VECTOR, ir.Undefined)
        for e in range(LANES):
            entry = builder.add(args[2], ir.Constant(INTEGER, e))
            place = builder.zext(builder.load(builder.gep(chosen, [entry])), INTEGER)
            value = builder.load(builder.gep(data, [place]))
            result = builder.insert_element(result, value, ir.Constant(ir.IntType(32), e))
        return result

    return lanes(array, index, types.intp), generate


def _interleaved(builder: Any, rows: list[Any], run: int) -> list[Any]:
    """One of the three rounds of a transposition: pairs of rows `run` apart exchange runs of `run` numbers."""
    masks, result = _masks(run), list(rows)
    for k in range(LANES):
        if k // run % 2 == 0:
            pair = rows[k], rows[k + run]
            result[k], result[k + run] = (builder.shuffle_vector(*pair, mask) for mask in masks)
    return result


@_vector_function
def gather_rows(typingctx, table, column, index, first):
    """Eight values of type `lanes`: of the rows index[first : first + 8] the numbers `column` to `column` + 7.

    table: float64, shape (rows, width), C-contiguous; index: int32, not negative. Nothing is checked.
    """
    result = types.UniTuple(lanes, LANES)

    def generate(context, builder, signature, args):
        source = _array(context, builder, signature.args[0], args[0])
        chosen = _array(context, builder, signature.args[2], args[2]).data
        width = builder.extract_value(source.shape, 1)
        rows = []
        for e in range(LANES):
            entry = builder.add(args[3], ir.Constant(INTEGER, e))
            row = builder.zext(builder.load(builder.gep(chosen, [entry])), INTEGER)
            offset = builder.add(builder.mul(row, width), args[1])
            rows.append(builder.load(_at(builder, source.data, offset), align=8))
        for run in (1, 2, 4):
            rows = _interleaved(builder, rows, run)
        return context.make_tuple(builder, signature.return_type, rows)

    return result(table, types.intp, index, types.intp), generate
