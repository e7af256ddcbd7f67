"""Whole jobs: from a graph and known values to predictions and an estimate of their error."""

from gradraker.experiments.prediction import (
    HeldOutNodes,
    NodePredictions,
    predict_nodes,
    predict_unknown,
    update_nodes,
)

__all__ = ["HeldOutNodes", "NodePredictions", "predict_nodes", "predict_unknown", "update_nodes"]
