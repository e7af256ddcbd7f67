"""Figures of results. matplotlib is imported only when one is drawn."""

from gradraker.plotting.nodes import NodeDistancesDisplay, plot_nodes
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
    "plot_nodes",
    "plot_transfer",
    "plot_weights",
]
