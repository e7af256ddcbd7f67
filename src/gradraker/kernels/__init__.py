"""Kernels, exact extreme distances, and the four ranges of the kernel variance σ²."""

from gradraker.kernels.distances import (
    ExtremeDistances,
    PairDistance,
    extreme_squared_distances,
    largest_distance,
    smallest_nonzero_distance,
)
from gradraker.kernels.median_rule import median_sigma2
from gradraker.kernels.ranges import Sigma2Ranges, formula_noise_ratio
from gradraker.kernels.shift_invariant import KERNELS, Kernel, get_kernel

__all__ = [
    "KERNELS",
    "ExtremeDistances",
    "Kernel",
    "PairDistance",
    "Sigma2Ranges",
    "extreme_squared_distances",
    "formula_noise_ratio",
    "get_kernel",
    "largest_distance",
    "median_sigma2",
    "smallest_nonzero_distance",
]
