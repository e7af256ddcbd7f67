"""Random Fourier features z(a) of adjacency vectors."""

from gradraker.features.fourier import (
    Rows,
    as_rows,
    feature_chunks,
    fourier_features,
    linear_predictions,
    projections,
    rows_a_chunk,
)
from gradraker.features.frequencies import FrequencyTable
from gradraker.features.identities import check_references, reference_identity

__all__ = [
    "FrequencyTable",
    "Rows",
    "as_rows",
    "check_references",
    "feature_chunks",
    "fourier_features",
    "linear_predictions",
    "projections",
    "reference_identity",
    "rows_a_chunk",
]
