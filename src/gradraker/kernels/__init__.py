"""Kernels, exact extreme distances, and the four ranges of the kernel variance σ²."""

from gradraker.kernels.distances.extremes import (
    ExtremeDistances,
    PairDistance,
    extreme_squared_distances,
    find_largest_distance,
    find_smallest_nonzero_distance,
)
from gradraker.kernels.median_rule import median_sigma2
from gradraker.kernels.shift_invariant import (
    KERNELS,
    Kernel,
    Sigma2Ranges,
    compute_noise_ratio,
    get_kernel,
)

__all__ = [
    "KERNELS",
    "ExtremeDistances",
    "Kernel",
    "PairDistance",
    "Sigma2Ranges",
    "compute_noise_ratio",
    "extreme_squared_distances",
    "find_largest_distance",
    "find_smallest_nonzero_distance",
    "get_kernel",
    "median_sigma2",
]
