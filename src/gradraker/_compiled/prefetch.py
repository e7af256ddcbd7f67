"""Load memory into the cache before it is needed, from inside a compiled loop."""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray


def _prefetch(typing_context: Any, table: Any, i: Any, j: Any) -> Any:
    """Fetch the cache line of ``table[i, j]`` while the loop continues; no result depends on it.

    Rows of a table larger than the caches are read in an order that the loop knows and the
    processor cannot predict: fetching them early halves the time spent waiting for memory.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type = signature.args[0]
        array = context.make_array(array_type)(context, builder, arguments[0])
        entry = cast(Any, cgutils).get_item_pointer(
            context, builder, array_type, array, arguments[1:], wraparound=False, boundscheck=False
        )
        address = builder.bitcast(entry, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), function_type)
        to_read, keep_close, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(function, [address, to_read, keep_close, data])
        return context.get_dummy_value()

    return types.void(table, types.intp, types.intp), generate


# Call prefetch(table, i, j) inside compiled loops only.
prefetch: Callable[[NDArray[Any], int, int], None] = cast(Any, intrinsic)(_prefetch)
