"""Whole jobs: from a graph and known values to predictions and an estimate of their error."""

from gradraker.experiments.contributors import Contributors, explained, top_contributors
from gradraker.experiments.held_out import HeldOutNodes
from gradraker.experiments.node_job import all_predictions, update_by_nodes
from gradraker.experiments.node_predictions import NodePredictions
from gradraker.experiments.prediction import predict_nodes, predict_unknown
from gradraker.experiments.skg_job import update_by_skg
from gradraker.experiments.sweep import sigma2_sweep
from gradraker.experiments.sweep_result import SweepResult
from gradraker.experiments.sweep_settings import SettingsSweep, settings_sweep

__all__ = [
    "Contributors",
    "HeldOutNodes",
    "NodePredictions",
    "SettingsSweep",
    "SweepResult",
    "all_predictions",
    "explained",
    "predict_nodes",
    "predict_unknown",
    "settings_sweep",
    "sigma2_sweep",
    "top_contributors",
    "update_by_nodes",
    "update_by_skg",
]
