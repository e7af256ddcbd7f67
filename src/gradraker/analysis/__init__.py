"""Why a model predicts what it predicts, and whether SKG suits the data."""

from gradraker.analysis.explanation import Explanation, explain
from gradraker.analysis.similarity import (
    conformity_factor,
    efficient_distance,
    kernel_contribution_weights,
    kernel_similarity_measure,
    noise_range,
    similarity_measure,
)

__all__ = [
    "Explanation",
    "conformity_factor",
    "efficient_distance",
    "explain",
    "kernel_contribution_weights",
    "kernel_similarity_measure",
    "noise_range",
    "similarity_measure",
]
