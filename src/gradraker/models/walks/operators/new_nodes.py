"""Predictions for nodes that are not in the graph, from their links, in time that their links take.

Walks start from a new node and never come back to it: its row of a chain is its row of the walk
times what is left of the chain, which is computed once for all new nodes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.models.walks.choice import Kernel, split_block
from gradraker.models.walks.operators.chains import invert_root
from gradraker.models.walks.operators.operators import (
    NewRows,
    Operators,
    is_low_rank,
    multiply_linked,
)

Matrix = NDArray[np.float64]


class _Remainder(NamedTuple):
    """What is left of a term after the first step of a walk."""

    share: float
    walk: str
    products: Matrix  # [n, K + 1]: for coefficients, and for the evidence
    sketch: Matrix  # [n, probes]


class NewNodes:
    """What the kernel of a solution looks like from outside the graph."""

    def __init__(self, operators: Operators, kernel: Kernel, C: Any, mask: Any) -> None:
        self._operators = operators
        self._last: tuple[NewRows, Matrix] | None = None
        xp = operators.engine.xp
        X = xp.hstack([C, mask])
        self._remainders = [
            _Remainder(term.share, split_block(term.block)[0], products, sketch)
            for term, products, sketch in operators.list_remainders(X, kernel)
        ]
        self._low_rank = [
            (term, operators.engine.fetch(operators.get_features(term).T @ X))
            for term in kernel
            if is_low_rank(term.block)
        ]

    def predict(self, rows: NewRows) -> Matrix:
        """K c of new nodes, (new, K)."""
        return self._multiply(rows)[:, :-1]

    def measure_evidence(self, rows: NewRows) -> Matrix:
        """K 1 of new nodes, (new,)."""
        return self._multiply(rows)[:, -1]

    def _multiply(self, rows: NewRows) -> Matrix:
        """Products of new nodes, (new, K + 1); an interval needs those of its prediction again."""
        if self._last is not None and self._last[0] is rows:
            return self._last[1]
        total: Any = 0.0
        for share, walk, products, sketch in self._remainders:
            T: csr_array = rows.walks[walk]
            projected = multiply_linked(T, sketch)
            root = invert_root(np.mean(projected**2, axis=1))
            total = total + share * root[:, np.newaxis] * multiply_linked(T, products)
        for term, products in self._low_rank:
            Z = self._operators.compute_new_features(term, rows)
            total = total + term.share * (Z @ products)
        self._last = rows, np.asarray(total, dtype=np.float64)
        return self._last[1]
