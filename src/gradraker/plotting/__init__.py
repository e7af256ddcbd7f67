"""Figures of results. matplotlib is imported only when one is drawn."""

from gradraker.plotting.nodes import NodeDistancesDisplay, plot_nodes
from gradraker.plotting.prediction import (
    plot_errors,
    plot_held_out,
    plot_sigma2_ranges,
    svg_text,
)
from gradraker.plotting.transfer import SimilarityTransferDisplay, plot_transfer
from gradraker.plotting.values import PredictedValuesDisplay
from gradraker.plotting.weights import (
    ConformityDisplay,
    ContributionWeightsDisplay,
    plot_weights,
)

__all__ = [
    "ConformityDisplay",
    "ContributionWeightsDisplay",
    "NodeDistancesDisplay",
    "PredictedValuesDisplay",
    "SimilarityTransferDisplay",
    "plot_errors",
    "plot_held_out",
    "plot_nodes",
    "plot_sigma2_ranges",
    "plot_transfer",
    "plot_weights",
    "svg_text",
]
