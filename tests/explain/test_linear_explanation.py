"""Tables, contributions and names of explanations of every kind."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from small_skg import N, fitted, graph, hand_made


def test_top_by_hand() -> None:
    explanation = hand_made([[0.1, -0.4, 0.2, 0.4], [0.3, 0.3, 0.3, 0.1]], [10.0, 20.0, 30.0, 40.0])
    expected = pd.DataFrame(
        {
            "node": ["t0", "t0", "t0", "t1", "t1", "t1"],
            # By absolute weight; equal ones in the order of the known nodes.
            "known_node": ["o1", "o3", "o2", "o0", "o1", "o2"],
            "weight": [-0.4, 0.4, 0.2, 0.3, 0.3, 0.3],
            "value": [20.0, 40.0, 30.0, 10.0, 20.0, 30.0],
            "contribution": [-8.0, 16.0, 6.0, 3.0, 6.0, 9.0],
            "similarity": [0.01, 0.03, 0.02, 0.04, 0.05, 0.06],
            "squared_distance": [1.0, 3.0, 2.0, 4.0, 5.0, 6.0],
        }
    )
    pd.testing.assert_frame_equal(explanation.top(3), expected)
    one = explanation.top(3, row=1)
    pd.testing.assert_frame_equal(one, expected[3:].reset_index(drop=True))
    pd.testing.assert_frame_equal(explanation.top(3, row=-1), one)
    pd.testing.assert_frame_equal(explanation.top(3, row=np.int64(1)), one)  # type: ignore[arg-type]


def test_top_of_all_adds_up_to_the_prediction() -> None:
    explanation = fitted().explain(graph()[:2])
    table = explanation.top(k=1000)  # more than there are
    assert len(table) == 2 * N
    np.testing.assert_allclose(
        table.groupby("node")["contribution"].sum(), explanation.prediction, rtol=1e-12
    )
    assert len(explanation.top()) == 10


def test_top_of_several_targets() -> None:
    explanation = hand_made([[0.5, 0.25]], [[2.0, 4.0], [8.0, 16.0]])
    table = explanation.top(1)
    assert table.columns.tolist() == [
        *("node", "known_node", "weight", "value_0", "contribution_0", "value_1"),
        *("contribution_1", "similarity", "squared_distance"),
    ]
    assert table.iloc[0, 2:7].tolist() == [0.5, 2.0, 1.0, 4.0, 2.0]


@pytest.mark.parametrize("k", [0, -1, 1.5, "all"])
def test_top_needs_a_count(k: Any) -> None:
    with pytest.raises(ValueError, match=r"k must be an integer of at least 1, got"):
        hand_made([[1.0]], [1.0]).top(k)


@pytest.mark.parametrize("row", [2, -3, 0.5, "Davos"])
def test_a_row_that_does_not_exist_is_refused(row: Any) -> None:
    explanation = hand_made([[1.0], [1.0]], [1.0])
    with pytest.raises(
        ValueError, match=r"row must be the number of one of 2 explained nodes, got"
    ):
        explanation.top(row=row)


def test_top_without_pandas_names_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        hand_made([[1.0]], [1.0]).top()


def test_contributions_are_weights_times_values() -> None:
    explanation = hand_made([[0.5, 0.25]], [2.0, 8.0])
    np.testing.assert_array_equal(explanation.contributions, [[1.0, 2.0]])
    explanation = hand_made([[0.5, 0.25]], [[2.0, 4.0], [8.0, 16.0]])
    np.testing.assert_array_equal(explanation.contributions, [[[1.0, 2.0], [2.0, 4.0]]])
