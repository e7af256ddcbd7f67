"""Figures of results. matplotlib is imported only when one is drawn."""

from gradraker.plotting.bank import KernelWeightsDisplay
from gradraker.plotting.figure import (
    FORMATS,
    DrawnDisplay,
    freeze_layout,
    render_figure,
    render_inline_svg,
    to_inline_svg,
    write_figure,
)
from gradraker.plotting.node_weights import (
    ConformityDisplay,
    ContributionWeightsDisplay,
    NodeDistancesDisplay,
)
from gradraker.plotting.prediction import (
    plot_distribution,
    plot_errors,
    plot_held_out,
    plot_sigma2_ranges,
)
from gradraker.plotting.reasons import ContributorsDisplay, NeighbourhoodDisplay
from gradraker.plotting.sweep import plot_settings_sweep, plot_sweep
from gradraker.plotting.values import PredictedValuesDisplay, SimilarityTransferDisplay

__all__ = [
    "FORMATS",
    "ConformityDisplay",
    "ContributionWeightsDisplay",
    "ContributorsDisplay",
    "DrawnDisplay",
    "KernelWeightsDisplay",
    "NeighbourhoodDisplay",
    "NodeDistancesDisplay",
    "PredictedValuesDisplay",
    "SimilarityTransferDisplay",
    "freeze_layout",
    "plot_distribution",
    "plot_errors",
    "plot_held_out",
    "plot_settings_sweep",
    "plot_sigma2_ranges",
    "plot_sweep",
    "render_figure",
    "render_inline_svg",
    "to_inline_svg",
    "write_figure",
]
