"""Exact smallest nonzero and largest distance over all pairs of rows, without all pairs."""

from gradraker.kernels.distances.extremes import (
    ExtremeDistances,
    PairDistance,
    extreme_squared_distances,
    find_largest_distance,
    find_smallest_nonzero_distance,
)

__all__ = [
    "ExtremeDistances",
    "PairDistance",
    "extreme_squared_distances",
    "find_largest_distance",
    "find_smallest_nonzero_distance",
]
