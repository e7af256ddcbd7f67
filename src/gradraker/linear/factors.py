"""Cholesky factors and their inverses on any engine, by blocks and in place.

Nearly all work is in products of blocks, which keep a GPU busy and need no second matrix. With L
the lower factor of a positive definite H, H⁻¹ = L⁻ᵀL⁻¹: with L⁻¹, H⁻¹ need not be formed.
"""

from typing import Any

from gradraker.features.engine import Engine, split_range

# Rows of a block: products of such blocks run near a GPU's peak.
_ROWS_PER_BLOCK = 2048


def split_blocks(n: int) -> list[slice]:
    """Return slices that make up [0, n), of a block of rows each.

    Examples
    --------
    >>> from gradraker.linear.factors import split_blocks
    >>> split_blocks(3000)
    [slice(0, 2048, None), slice(2048, 3000, None)]
    """
    return list(split_range(n, _ROWS_PER_BLOCK))


def invert_factor(engine: Engine, H: Any) -> None:
    """Write L⁻¹ over H = LLᵀ (n, n), an array of the engine, with 0 above the diagonal.

    Raises ``numpy.linalg.LinAlgError`` if H is not positive definite; H is then overwritten too.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.features.engine import CpuEngine
    >>> from gradraker.linear.factors import invert_factor
    >>> H = np.array([[4.0, 2.0], [2.0, 10.0]])
    >>> invert_factor(CpuEngine(), H)
    >>> H.round(4)
    array([[ 0.5   ,  0.    ],
           [-0.1667,  0.3333]])
    """
    blocks = split_blocks(H.shape[0])
    inverses = _write_factor(engine, H, blocks)
    for number in reversed(range(len(blocks))):  # columns to the right are those of L⁻¹ already
        own, inverse = blocks[number], inverses.pop()
        panel = H[own.stop :, own].copy()  # [rows below, b]
        H[own, own] = inverse
        for other in blocks[number + 1 :]:
            left = H[other, own.stop : other.stop]  # [b, columns up to the diagonal]
            H[other, own] = -(left @ panel[: other.stop - own.stop]) @ inverse


def _write_factor(engine: Engine, H: Any, blocks: list[slice]) -> list[Any]:
    """Write L over H; return the inverses of its blocks on the diagonal."""
    inverses = []
    for number, own in enumerate(blocks):
        inverse = engine.invert_factor(H[own, own])
        inverses.append(inverse)
        H[: own.start, own] = 0.0
        panel = H[own.stop :, own] @ inverse.T  # [rows below, b]
        H[own.stop :, own] = panel
        for other in blocks[number + 1 :]:
            first, last = other.start - own.stop, other.stop - own.stop
            H[other.start :, other] -= panel[first:] @ panel[first:last].T
    return inverses
