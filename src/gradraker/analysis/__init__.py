"""Why a model predicts what it predicts, and whether SKG suits the data."""

from gradraker.analysis.bank import BankExplanation, explain_bank
from gradraker.analysis.explanation import Explanation, explain
from gradraker.analysis.node_explanation import explain_nodes
from gradraker.analysis.similarity import (
    conformity_factor,
    efficient_distance,
    kernel_contribution_weights,
    kernel_similarity_measure,
    noise_range,
    similarity_measure,
)
from gradraker.analysis.transfer import SimilarityTransfer, similarity_transfer

__all__ = [
    "BankExplanation",
    "Explanation",
    "SimilarityTransfer",
    "conformity_factor",
    "efficient_distance",
    "explain",
    "explain_bank",
    "explain_nodes",
    "kernel_contribution_weights",
    "kernel_similarity_measure",
    "noise_range",
    "similarity_measure",
    "similarity_transfer",
]
