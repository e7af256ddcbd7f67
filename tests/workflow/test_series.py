"""Predictions of series: what a hop of the filter does, and the summary."""

import json

import numpy as np
import pytest

from gradraker import SKGRegressor, adjacency_vectors
from gradraker.report import summarize_series
from gradraker.workflow import predict_series

EDGES = [("a", "b", 2.0), ("b", "c", 1.0), ("c", "a", 1.0), ("a", "c", 1.0)]
WAVES = np.sin(np.arange(30)[:, np.newaxis] / 3 + np.arange(3))


def test_mean_over_neighbours_is_a_random_walk() -> None:
    learner = SKGRegressor(sigma2=1.0, random_state=0)
    found = predict_series(
        EDGES, WAVES, learner=learner, taps=2, shift="mean", graph_options={"direction": "in"}
    )
    walk = adjacency_vectors(EDGES, direction="in", hop_weights="random_walk")
    expected = predict_series(walk, WAVES, learner=learner, taps=2, unit_norm=False)
    np.testing.assert_array_equal(found.predictions, expected.predictions)
    other = predict_series(EDGES, WAVES, learner=learner, taps=2)
    assert not np.array_equal(found.predictions, other.predictions)


def test_summary_holds_horizon_and_predictions() -> None:
    learner = SKGRegressor(sigma2=1.0, random_state=0)
    found = predict_series(EDGES, WAVES, learner=learner, taps=2, horizon=2)
    summary = json.loads(json.dumps(summarize_series(found)))
    assert (summary["horizon"], summary["times"], summary["nodes"]) == (2, 30, 3)
    assert summary["predictions"][1]["node"] == "b"
    assert summary["predictions"][1]["prediction"] == pytest.approx(found.predictions[1])
