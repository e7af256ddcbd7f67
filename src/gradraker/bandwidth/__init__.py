"""Choosing σ² from the training graph: distances, ranges, and rules that train nothing."""

from gradraker.bandwidth.distances import (
    ExtremeDistances,
    PairDistance,
    extreme_squared_distances,
    largest_distance,
    smallest_nonzero_distance,
)
from gradraker.bandwidth.ranges import Sigma2Ranges, formula_noise_ratio
from gradraker.bandwidth.rules import median_sigma2

__all__ = [
    "ExtremeDistances",
    "PairDistance",
    "Sigma2Ranges",
    "extreme_squared_distances",
    "formula_noise_ratio",
    "largest_distance",
    "median_sigma2",
    "smallest_nonzero_distance",
]
