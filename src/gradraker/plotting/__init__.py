"""Figures of results. matplotlib is imported only when one is drawn."""

from gradraker.plotting.bank import KernelWeightsDisplay, plot_kernel_weights
from gradraker.plotting.files import FORMATS, figure_bytes, freeze_layout, inline_svg, write_figure
from gradraker.plotting.nodes import NodeDistancesDisplay, plot_nodes
from gradraker.plotting.prediction import plot_errors, plot_held_out, plot_sigma2_ranges, svg_text
from gradraker.plotting.sweep import plot_settings_sweep, plot_sweep
from gradraker.plotting.transfer import SimilarityTransferDisplay, plot_transfer
from gradraker.plotting.values import PredictedValuesDisplay
from gradraker.plotting.weights import ConformityDisplay, ContributionWeightsDisplay, plot_weights

__all__ = [
    "FORMATS",
    "ConformityDisplay",
    "ContributionWeightsDisplay",
    "KernelWeightsDisplay",
    "NodeDistancesDisplay",
    "PredictedValuesDisplay",
    "SimilarityTransferDisplay",
    "figure_bytes",
    "freeze_layout",
    "inline_svg",
    "plot_errors",
    "plot_held_out",
    "plot_kernel_weights",
    "plot_nodes",
    "plot_settings_sweep",
    "plot_sigma2_ranges",
    "plot_sweep",
    "plot_transfer",
    "plot_weights",
    "svg_text",
    "write_figure",
]
