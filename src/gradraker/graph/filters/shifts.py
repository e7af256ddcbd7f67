"""Graph shifts: the matrices that a graph filter multiplies a signal by."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from gradraker._validation import check_sparse

# Norms of matrices up to this size are computed densely, which is quick and needs no iteration.
_LARGEST_DENSE = 64


def _make_laplacian(adjacency: sp.csr_array) -> sp.csr_array:
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degrees) - adjacency)


def _make_normalised_laplacian(adjacency: sp.csr_array) -> sp.csr_array:
    if len(adjacency.data) and adjacency.data.min() < 0.0:
        raise ValueError(
            "shift='normalised' needs weights of at least 0, got "
            f"{adjacency.data.min():g}: take shift='laplacian', or a matrix"
        )
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    root = np.sqrt(degrees)
    inverse = sp.diags_array(np.divide(1.0, root, out=np.zeros_like(root), where=root > 0.0))
    return sp.csr_array(inverse @ _make_laplacian(adjacency) @ inverse)


SHIFTS: dict[str, Callable[[sp.csr_array], sp.csr_array]] = {
    "adjacency": lambda adjacency: adjacency,
    "laplacian": _make_laplacian,
    "normalised": _make_normalised_laplacian,
}


def make_shift(shift: Any, adjacency: sp.csr_array, *, unit_norm: bool) -> sp.csr_array:
    """Return a shift by name, or a given matrix once it is checked."""
    if isinstance(shift, str):
        if shift not in SHIFTS:
            listed = ", ".join(map(repr, SHIFTS))
            raise ValueError(f"shift must be one of {listed}, or a matrix; got {shift!r}")
        S = SHIFTS[shift](adjacency)
    else:
        S = _check_matrix(shift, adjacency.shape)
    if not np.isfinite(S.data).all():
        raise ValueError("shift holds NaN or infinity, but every entry must be finite")
    norm = spectral_norm(S) if unit_norm else 1.0
    return S / norm if norm > 0.0 else S


def _check_matrix(shift: Any, shape: tuple[int, int]) -> sp.csr_array:
    try:
        matrix = shift if sp.issparse(shift) else np.asarray(shift)
        got = f"shape {matrix.shape} of {matrix.dtype}"
    except ValueError:
        matrix, got = None, "lists of unequal lengths"
    if matrix is None or matrix.dtype.kind not in "biuf" or matrix.shape != shape:
        raise ValueError(
            f"shift must be one of {', '.join(map(repr, SHIFTS))}, or a matrix of real numbers of "
            f"shape {shape}; got {got}"
        )
    check_sparse("shift", matrix)
    return sp.csr_array(matrix, dtype=np.float64)


def spectral_norm(matrix: sp.csr_array) -> float:
    """Return the largest singular value of a square matrix, to 3 digits at least.

    That is enough for scaling; more digits would take hours on graphs with long paths, as of roads.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from gradraker.graph.filters.shifts import spectral_norm
    >>> spectral_norm(sp.csr_array([[0.0, 3.0], [0.0, 0.0]]))
    3.0
    """
    largest = float(np.abs(matrix.data).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    scaled = matrix / largest  # squares of its entries cannot overflow
    n = matrix.shape[0]
    if n <= _LARGEST_DENSE:
        return largest * float(np.linalg.norm(scaled.toarray(), 2))
    from scipy.sparse.linalg import LinearOperator, eigsh  # takes long to import

    back = scaled.T.tocsr()
    product = LinearOperator((n, n), matvec=lambda x: back @ (scaled @ x), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    (square,) = eigsh(product, 1, which="LA", v0=start, tol=1e-3, return_eigenvectors=False)
    return largest * float(np.sqrt(square))
