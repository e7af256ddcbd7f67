"""Fits whose pieces a mapper computes have the same results."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor
from gradraker.features.engine import has_mapper, map_pieces, use_mapper
from spread_graph import N, make_graph


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


def _fit_both(model: Any, values: Any, **options: Any) -> tuple[Any, Any, CopyingMapper]:
    A, _ = make_graph()
    plain = type(model)(**model.get_params()).fit(A, values, kind="matrix", **options)
    mapper = CopyingMapper()
    with use_mapper(mapper):
        assert has_mapper()
        spread = model.fit(A, values, kind="matrix", **options)
    assert not has_mapper()
    return plain, spread, mapper


def test_candidates_of_a_choice_are_tried_at_once() -> None:
    _, values = make_graph()
    attributes = np.column_stack([np.sin(np.arange(N) / 30), np.arange(N) % 7])
    plain, spread, mapper = _fit_both(
        NodeRegressor(solver="operators"), values, attributes=attributes
    )
    # Walks and three kernels of attributes, then other kinds of similarity and leans.
    assert mapper.n_pieces[:2] == [4, 5]
    assert (spread.kernel_, spread.alpha_) == (plain.kernel_, plain.alpha_)
    assert repr(spread.choice_) == repr(plain.choice_)
    np.testing.assert_array_equal(spread.predict(), plain.predict())


@pytest.mark.parametrize("alpha", ["auto", 0.5])
def test_candidates_for_classes_are_tried_at_once(alpha: Any) -> None:
    _, values = make_graph()
    labels = np.where(values > 0, "high", "low").astype(object)
    labels[np.isnan(values)] = None
    plain, spread, mapper = _fit_both(NodeClassifier(solver="operators", alpha=alpha), labels)
    assert max(mapper.n_pieces) >= 4  # degrees, alternating, near and far
    np.testing.assert_array_equal(spread.predict_proba(), plain.predict_proba())


def test_many_targets_are_solved_in_groups() -> None:
    _, values = make_graph()
    several = values[:, np.newaxis] * np.linspace(1.0, 2.0, 70) + np.arange(70)
    several[~np.isnan(values), 1:] += np.random.default_rng(1).normal(size=(100, 69))
    model = NodeRegressor(
        solver="operators", blocks=("hop1", "hop4"), alpha=0.5, transform="none", tol=1e-8
    )
    plain, spread, mapper = _fit_both(model, several)
    assert mapper.n_pieces == [3]  # of 32 columns
    np.testing.assert_array_equal(spread.predict(), plain.predict())
    A, _ = make_graph()
    for target in (0, 40, 69):  # as if it were the only one
        alone = type(model)(**model.get_params()).fit(A, several[:, target], kind="matrix")
        np.testing.assert_allclose(spread.predict()[:, target], alone.predict(), atol=1e-5)


def test_a_single_piece_is_computed_locally() -> None:
    mapper = CopyingMapper()
    with use_mapper(mapper):
        assert map_pieces(lambda shared, piece: shared + piece, 1, [2]) == [3]
    assert mapper.n_pieces == []
