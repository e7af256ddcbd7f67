"""A sparse matrix times a dense one.

LLVM keeps the sums of a row in vector registers only if they have a vector type: several columns of
a row are one value of the type ``Lanes`` here. 16 columns then take hardly longer than 4, a third
of the time of loops over columns.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.extending import models, register_model
from numpy.typing import NDArray

from gradraker._compiled.jit import compile_loop

Floats = NDArray[np.float64]
Typed = tuple[Any, Callable[..., Any]]
intrinsic: Any = extending.intrinsic
# Rows in a block, whose columns are multiplied in turn: their neighbours stay in the cache.
_ROWS_PER_BLOCK = 64


class Lanes(types.Type):
    """Numbers of several columns, side by side in registers."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        number = manager.lookup(lanes.dtype).get_value_type()
        vector = ir.VectorType(number, lanes.count)
        super().__init__(manager, lanes, vector)  # type: ignore[no-untyped-call]


def _fill(builder: Any, number: Any, vector: Any) -> Any:
    """A vector with the same number in all places."""
    undefined, place = ir.Constant(vector, ir.Undefined), ir.IntType(32)
    first = builder.insert_element(undefined, number, ir.Constant(place, 0))
    places = ir.Constant(ir.VectorType(place, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, undefined, places)


def _find_address(context: Any, builder: Any, kinds: Any, arguments: Any, vector: Any) -> Any:
    """The address of array[i, column]; rows are contiguous."""
    (array, *places), (given, *numbers) = kinds, arguments
    row, column = (
        context.cast(builder, number, place, types.intp)
        for number, place in zip(numbers, places, strict=True)
    )
    made = context.make_array(array)(context, builder, given)
    address = builder.ptrtoint(made.data, context.get_value_type(types.intp))
    address = builder.add(address, builder.mul(row, builder.extract_value(made.strides, 0)))
    size = ir.Constant(address.type, array.dtype.bitwidth // 8)
    return builder.inttoptr(builder.add(address, builder.mul(column, size)), vector.as_pointer())


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def _make_zeros(_: Any, array: Any, count: Any) -> Typed:
    """Lanes of ``count`` zeros in the precision of an array."""
    lanes = Lanes(array.dtype, count.literal_value)

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(lanes), None)

    return lanes(array, count), make


@intrinsic  # type: ignore[untyped-decorator]
def _scale(_: Any, lanes: Any, weight: Any) -> Typed:
    """Lanes times a weight."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, number = arguments
        return builder.fmul(total, _fill(builder, number, total.type))

    return lanes(lanes, lanes.dtype), make


@intrinsic  # type: ignore[untyped-decorator]
def _add_row(_: Any, lanes: Any, weight: Any, array: Any, row: Any, column: Any) -> Typed:
    """Lanes plus a weight, or one for each, times the columns of a row, from ``column`` on."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, number, *place = arguments
        address = _find_address(context, builder, signature.args[2:], place, total.type)
        values = builder.load(address, align=lanes.dtype.bitwidth // 8)
        if weight != lanes:
            number = _fill(builder, number, total.type)
        return builder.fadd(total, builder.fmul(number, values))

    kind = lanes if weight == lanes else lanes.dtype
    return lanes(lanes, kind, array, row, column), make


@intrinsic  # type: ignore[untyped-decorator]
def _store(_: Any, lanes: Any, array: Any, row: Any, column: Any) -> Typed:
    """Write lanes into the columns of a row, from ``column`` on."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, *place = arguments
        address = _find_address(context, builder, signature.args[1:], place, total.type)
        builder.store(total, address, align=lanes.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(lanes, array, row, column), make


@compile_loop
def multiply_sparse(
    indptr: NDArray[Any], indices: NDArray[Any], data: Floats, X: Floats, product: Floats
) -> None:
    """Write A X into ``product`` (n, k), for a CSR matrix A and X of shape (m, k).

    The sums equal SciPy's to the last bit, in half its time for 64 columns: the columns go
    through vector instructions.
    """
    for i in range(product.shape[0]):
        row = product[i]
        row[:] = 0.0
        for entry in range(indptr[i], indptr[i + 1]):
            weight = data[entry]
            other = X[indices[entry]]
            for column in range(row.size):
                row[column] += weight * other[column]


@compile_loop
def _multiply_block(
    zeros: Any, A: Any, X: Any, column: Any, factors: Any, rows: Any, product: Any, more: Any
) -> None:
    """Do the work of :func:`multiply_rows` for as many columns as there are zeros."""
    (indptr, indices, data), (scale, keep), (weights, used, sums) = A, factors, more
    start, stop = rows
    for i in range(start, stop):
        total = zeros
        for entry in range(indptr[i], indptr[i + 1]):
            total = _add_row(total, data[entry], X, indices[entry], column)
        total = _scale(total, scale)
        if keep != 0.0:
            total = _add_row(total, keep, product, i, column)
        _store(total, product, i, column)
    one = data.dtype.type(1.0)
    for k in range(weights.shape[0]):
        if used[k]:
            first = k * product.shape[0]
            for i in range(start, stop):
                own = _add_row(zeros, one, product, i, column)
                total = _add_row(zeros, one, sums, first + i, column)
                _store(_add_row(total, own, weights, k, column), sums, first + i, column)


@compile_loop
def multiply_rows(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    data: NDArray[Any],
    X: NDArray[Any],
    n_columns: int,
    factor: float,
    kept: float,
    start: int,
    stop: int,
    product: NDArray[Any],
    weights: NDArray[Any],
    sums: NDArray[Any],
) -> None:
    """Write ``factor`` A X + ``kept`` · product into rows ``start`` to ``stop`` of ``product``.

    Then adds weights[k] · product to the k-th of the stacked ``sums``, for ``weights``
    (s, columns), ``product`` (n, columns) and ``sums`` (s n, columns). Takes the first
    ``n_columns`` columns only; rows must be contiguous. Works in the precision of its arguments;
    the sums do not depend on how rows are split.
    """
    # Computed once, not for each block of columns: there may be very many blocks.
    used = np.empty(weights.shape[0], dtype=np.bool_)
    for k in range(used.size):
        used[k] = weights[k].any()
    A, more = (indptr, indices, data), (weights, used, sums)
    factors = data.dtype.type(factor), data.dtype.type(kept)
    for first in range(start, stop, _ROWS_PER_BLOCK):
        rows, column = (first, min(first + _ROWS_PER_BLOCK, stop)), 0
        while column < n_columns:
            left = n_columns - column
            if left >= 64:
                _multiply_block(_make_zeros(data, 64), A, X, column, factors, rows, product, more)
                column += 64
            elif left >= 32:
                _multiply_block(_make_zeros(data, 32), A, X, column, factors, rows, product, more)
                column += 32
            elif left >= 16:
                _multiply_block(_make_zeros(data, 16), A, X, column, factors, rows, product, more)
                column += 16
            elif left >= 8:
                _multiply_block(_make_zeros(data, 8), A, X, column, factors, rows, product, more)
                column += 8
            elif left >= 4:
                _multiply_block(_make_zeros(data, 4), A, X, column, factors, rows, product, more)
                column += 4
            else:
                _multiply_block(_make_zeros(data, 1), A, X, column, factors, rows, product, more)
                column += 1
