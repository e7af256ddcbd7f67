"""Explain the predictions of a model, and test whether SKG suits the data."""

from gradraker.explain.bank_explanation import BankExplanation
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.explain.similarity import (
    compute_expected_weight_sum,
    compute_similarity_variance,
    conformity_factor,
    efficient_distance,
    kernel_contribution_weights,
    kernel_similarity_measure,
    noise_range,
    similarity_measure,
)
from gradraker.explain.skg_explanation import Explanation, SplitPrediction
from gradraker.explain.transfer import SimilarityTransfer, similarity_transfer
from gradraker.linear import contribution_weights

__all__ = [
    "BankExplanation",
    "Explanation",
    "LinearExplanation",
    "SimilarityTransfer",
    "SplitPrediction",
    "compute_expected_weight_sum",
    "compute_similarity_variance",
    "conformity_factor",
    "contribution_weights",
    "efficient_distance",
    "kernel_contribution_weights",
    "kernel_similarity_measure",
    "noise_range",
    "similarity_measure",
    "similarity_transfer",
]
