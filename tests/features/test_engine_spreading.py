"""Fits whose pieces a mapper computes have the same results."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor
from gradraker.features.engine import map_pieces, use_mapper
from gradraker.models.walks.iterative import selection
from spread_graph import CopyingMapper, N, fit_both, make_graph


def test_candidates_of_a_choice_are_tried_at_once() -> None:
    _, values = make_graph()
    attributes = np.column_stack([np.sin(np.arange(N) / 30), np.arange(N) % 7])
    plain, spread, mapper = fit_both(
        NodeRegressor(solver="operators"), values, attributes=attributes
    )
    # Walks and three kernels of attributes, then other kinds of similarity and leans.
    assert mapper.n_pieces[:2] == [4, 5]
    assert (spread.kernel_, spread.alpha_) == (plain.kernel_, plain.alpha_)
    assert repr(spread.choice_) == repr(plain.choice_)
    np.testing.assert_array_equal(spread.predict(), plain.predict())


@pytest.mark.parametrize("alpha", ["auto", 0.5])
def test_candidates_for_classes_are_tried_at_once(
    alpha: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 10)  # nodes are left out in parts
    _, values = make_graph()
    labels = np.where(values > 0, "high", "low").astype(object)
    labels[np.isnan(values)] = None
    plain, spread, mapper = fit_both(NodeClassifier(solver="operators", alpha=alpha), labels)
    assert max(mapper.n_pieces) >= 4  # degrees, alternating, near and far
    np.testing.assert_array_equal(spread.predict_proba(), plain.predict_proba())


def test_a_single_piece_is_computed_locally() -> None:
    mapper = CopyingMapper()
    with use_mapper(mapper):
        assert map_pieces(lambda shared, piece: shared + piece, 1, [2]) == [3]
    assert mapper.n_pieces == []
