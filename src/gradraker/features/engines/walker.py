"""Walks from nodes, in double precision, on an engine."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.features.engine import Engine
from gradraker.features.walks import Reach, WalkMatrices, propagate


class Walker:
    """Walks of one graph; columns that come in and go out are arrays of the engine.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from gradraker.features.engine import CpuEngine
    >>> from gradraker.features.engines.walker import Walker
    >>> from gradraker.features.walks import WalkMatrices, get_reach
    >>> walker = Walker(WalkMatrices(csr_array([[0.0, 1.0], [0.0, 0.0]])), CpuEngine())
    >>> walker.compute_rows(np.array([0]), get_reach("hop1"))
    array([[0.5],
           [0.5]])
    """

    def __init__(self, matrices: WalkMatrices, engine: Engine) -> None:
        self.matrices, self.engine = matrices, engine
        self._loaded: dict[tuple[str, bool], Any] = {}

    def walk(self, reach: Reach, X: Any, *, back: bool = False) -> Any:
        """f(T) X, or f(T)ᵀ X with ``back``, for X (n, k)."""
        if self.engine.name == "cpu":
            m = self.matrices
            return propagate(m.get_step_back(reach) if back else m.get_step(reach), X, reach)
        names = reach.step[::-1] if back else reach.step
        step = [self._load(name, back) for name in names]
        now, other, free = X, self.engine.xp.empty_like(X), self.engine.xp.empty_like(X)
        for _ in range(reach.n_steps):
            for number in reversed(range(len(step))):
                factor, kept = 1.0, 0.0
                if number == 0 and reach.damping is not None:
                    factor, kept = reach.sign * reach.damping, 1.0 - reach.damping
                    other[...] = X
                self.engine.multiply(step[number], now, X.shape[1], other, factor, kept)
                now, other, free = other, free, other
        return now

    def _load(self, name: str, back: bool) -> Any:
        if (name, back) not in self._loaded:
            matrix = getattr(self.matrices, name)
            matrix = csr_array(matrix.T) if back else matrix
            self._loaded[name, back] = self.engine.load_sparse(matrix, np.float64)
        return self._loaded[name, back]

    def compute_rows(self, rows: NDArray[np.int64], reach: Reach) -> Any:
        """Rows of f(T), as columns: shape (n, len(rows))."""
        load_rows = self.engine.load_rows
        starts = self.engine.xp.zeros((self.matrices.n, rows.size))  # [n, k]
        starts[load_rows(rows), load_rows(np.arange(rows.size))] = 1.0
        return self.walk(reach, starts, back=True)

    def compute_mean_row(self, reach: Reach, n: int) -> Any:
        """Mean of the rows of f(T) of the first n nodes, shape (number of nodes,)."""
        starts = self.engine.xp.zeros((self.matrices.n, 1))
        starts[:n] = 1.0 / n
        return self.walk(reach, starts, back=True)[:, 0]
