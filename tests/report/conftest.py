"""A job on the embedded stations, its summary and its page, which tests must not change."""

from typing import Any

import pytest

import gradraker
from gradraker.report import summarize_predictions
from gradraker.workflow.node_predictions import NodePredictions


@pytest.fixture(scope="module")
def result() -> NodePredictions:
    data = gradraker.load_temperature()
    known = dict(zip(data.node_names[:60], data.values[:60], strict=True))
    return gradraker.predict_nodes(data, known, model=gradraker.SKGNodeRegressor())


@pytest.fixture(scope="module")
def summary(result: NodePredictions) -> dict[str, Any]:
    return summarize_predictions(
        result,
        n_contributors=2,
        inputs={"edges": "edges.csv", "values": "known.csv"},
        settings={"direction": "out"},
    )
