"""Nodes around a node, nearest first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.jit import compile_loop


@compile_loop
def find_around(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    back_indptr: NDArray[Any],
    back_indices: NDArray[Any],
    start: int,
    is_reached: NDArray[np.bool_],
    found: NDArray[np.int64],
) -> int:
    """Write nodes by breadth-first search into ``found`` until it is full; return their number.

    A search goes along edges, then against them (``back``), and marks the nodes that it reaches.
    """
    found[0] = start
    is_reached[start] = True
    n_found = 1
    n_visited = 0
    while n_visited < n_found and n_found < found.size:
        node = found[n_visited]
        n_visited += 1
        for entry in range(indptr[node], indptr[node + 1]):
            other = indices[entry]
            if not is_reached[other] and n_found < found.size:
                is_reached[other] = True
                found[n_found] = other
                n_found += 1
        for entry in range(back_indptr[node], back_indptr[node + 1]):
            other = back_indices[entry]
            if not is_reached[other] and n_found < found.size:
                is_reached[other] = True
                found[n_found] = other
                n_found += 1
    return n_found
