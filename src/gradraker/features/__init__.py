"""Random Fourier features z(a) of adjacency vectors."""

from gradraker.features.fourier import (
    FrequencyTable,
    RowArrays,
    compute_fourier_features,
    compute_projections,
    count_chunk_rows,
    iterate_feature_chunks,
    predict_linear,
    to_row_arrays,
)
from gradraker.graph.names import References, check_references, identify_reference

__all__ = [
    "FrequencyTable",
    "References",
    "RowArrays",
    "check_references",
    "compute_fourier_features",
    "compute_projections",
    "count_chunk_rows",
    "identify_reference",
    "iterate_feature_chunks",
    "predict_linear",
    "to_row_arrays",
]
