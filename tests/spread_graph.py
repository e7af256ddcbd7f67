"""The graph for tests of fits whose pieces a mapper computes, with copies or on a cluster."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gradraker.features.engine import has_mapper, use_mapper

N = 300


def make_graph() -> tuple[csr_array, Any]:
    """A ring with random shortcuts, and a wave that is known at every third node."""
    rng = np.random.default_rng(0)
    start = np.repeat(np.arange(N), 4)
    ends = (start + rng.geometric(0.2, start.size)) % N
    A = csr_array((np.ones(start.size), (start, ends)), shape=(N, N))
    return A, np.where(np.arange(N) % 3 == 0, np.sin(np.arange(N) / 20), np.nan)


class CopyingMapper:
    """Computes pieces with copies of their shared data, as other processes would."""

    def __init__(self) -> None:
        self.n_pieces: list[int] = []

    def __call__(self, task: Any, shared: Any, pieces: Sequence[Any]) -> list[Any]:
        self.n_pieces.append(len(pieces))
        return [
            pickle.loads(pickle.dumps(task))(*pickle.loads(pickle.dumps((shared, piece))))
            for piece in pieces
        ]


def fit_both(model: Any, values: Any, **options: Any) -> tuple[Any, Any, CopyingMapper]:
    A, _ = make_graph()
    plain = type(model)(**model.get_params()).fit(A, values, kind="matrix", **options)
    mapper = CopyingMapper()
    with use_mapper(mapper):
        assert has_mapper()
        spread = model.fit(A, values, kind="matrix", **options)
    assert not has_mapper()
    return plain, spread, mapper
