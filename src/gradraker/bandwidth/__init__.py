"""Choosing σ² from the training graph: distances, ranges, and rules that train nothing."""

from gradraker.bandwidth.distances import ExtremeDistances, extreme_squared_distances
from gradraker.bandwidth.ranges import Sigma2Ranges, formula_noise_ratio
from gradraker.bandwidth.rules import median_sigma2

__all__ = [
    "ExtremeDistances",
    "Sigma2Ranges",
    "extreme_squared_distances",
    "formula_noise_ratio",
    "median_sigma2",
]
