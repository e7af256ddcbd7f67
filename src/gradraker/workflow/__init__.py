"""Whole jobs, as the command line calls them: predict, update, evaluate."""

from gradraker.workflow.contributors import Contributors, find_contributors
from gradraker.workflow.evaluate import evaluate_left_out
from gradraker.workflow.node_predictions import NodePredictions
from gradraker.workflow.predict import predict_all, predict_nodes
from gradraker.workflow.ranges import find_ranges
from gradraker.workflow.update import Update, update_nodes

__all__ = [
    "Contributors",
    "NodePredictions",
    "Update",
    "evaluate_left_out",
    "find_contributors",
    "find_ranges",
    "predict_all",
    "predict_nodes",
    "update_nodes",
]
