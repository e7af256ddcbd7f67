"""Whole jobs: from a graph and known values to predictions and an estimate of their error."""

from gradraker.workflow.contributors import Contributors, explained, top_contributors
from gradraker.workflow.held_out import HeldOutNodes
from gradraker.workflow.node_job import all_predictions, update_by_nodes
from gradraker.workflow.node_predictions import NodePredictions
from gradraker.workflow.predict import predict_nodes, predict_unknown
from gradraker.workflow.skg_job import update_by_skg

__all__ = [
    "Contributors",
    "HeldOutNodes",
    "NodePredictions",
    "all_predictions",
    "explained",
    "predict_nodes",
    "predict_unknown",
    "top_contributors",
    "update_by_nodes",
    "update_by_skg",
]
