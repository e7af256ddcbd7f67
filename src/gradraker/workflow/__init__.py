"""Whole jobs, as the command line calls them: predict, update, evaluate."""

from gradraker.workflow.bank import BankPredictions, predict_with_bank
from gradraker.workflow.node_predictions import (
    Contributors,
    NodePredictions,
    evaluate_left_out,
    find_contributors,
)
from gradraker.workflow.predict import (
    predict_all,
    predict_all_targets,
    predict_nodes,
    predict_targets,
)
from gradraker.workflow.ranges import find_ranges
from gradraker.workflow.series import SeriesPredictions, predict_series
from gradraker.workflow.update import FileUpdate, Update, update_file, update_nodes

__all__ = [
    "BankPredictions",
    "Contributors",
    "FileUpdate",
    "NodePredictions",
    "SeriesPredictions",
    "Update",
    "evaluate_left_out",
    "find_contributors",
    "find_ranges",
    "predict_all",
    "predict_all_targets",
    "predict_nodes",
    "predict_series",
    "predict_targets",
    "predict_with_bank",
    "update_file",
    "update_nodes",
]
