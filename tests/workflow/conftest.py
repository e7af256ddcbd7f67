"""Predictions of the embedded stations and of a ring, which tests must not change."""

from typing import Any

import pytest

import gradraker
from gradraker import predict_nodes
from gradraker.datasets.dataset import GraphDataset
from gradraker.workflow.node_predictions import NodePredictions
from skg_ring import LEARNER, ring


@pytest.fixture(scope="session")
def data() -> GraphDataset:
    return gradraker.load_temperature()


@pytest.fixture(scope="session")
def known(data: GraphDataset) -> dict[str, float]:
    return dict(zip(data.node_names[:60], data.values[:60].tolist(), strict=True))


@pytest.fixture(scope="session")
def result(data: GraphDataset, known: dict[str, float]) -> NodePredictions:
    return predict_nodes(data, known, coverage=0.8)


@pytest.fixture(scope="session")
def job() -> tuple[Any, ...]:
    edges, values = ring()
    known = {name: values[name] for name in list(values)[::2]}
    return edges, values, known, predict_nodes(edges, known, model=LEARNER)
