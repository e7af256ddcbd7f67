"""Whole jobs: from a graph and known values to predictions and an estimate of their error."""

from gradraker.experiments.contributors import Contributors, explained, top_contributors
from gradraker.experiments.held_out import HeldOutNodes
from gradraker.experiments.prediction import (
    NodePredictions,
    predict_nodes,
    predict_unknown,
    update_nodes,
)

__all__ = [
    "Contributors",
    "HeldOutNodes",
    "NodePredictions",
    "explained",
    "predict_nodes",
    "predict_unknown",
    "top_contributors",
    "update_nodes",
]
