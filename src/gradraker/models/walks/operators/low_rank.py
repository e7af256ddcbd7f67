"""A smooth Gaussian kernel of a few numbers per node, in low rank: Nyström features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import Engine
from gradraker.models.walks.exact.blocks import compute_median, compute_squared_differences
from gradraker.models.walks.operators.chains import invert_root

Matrix = NDArray[np.float64]
# Nodes that all others are compared with.
N_LANDMARKS = 256
# Directions of the landmarks' kernel that are smaller than this × the largest are rounding errors.
_SMALLEST = 1e-6
# Rows of distances that are held at once: 268 MB.
_ROWS = 1 << 17


@dataclass(frozen=True, eq=False)
class GaussianFeatures:
    """Features z(x) = V κ(landmarks, x), whose inner products approximate the kernel κ.

    They are exact between landmarks, and scaled to length 1, as the kernel's own diagonal is.
    """

    landmarks: Matrix  # [r, f]
    scale: float  # 1 / (2 σ²)
    to_features: Matrix  # [r, r']

    def compute(self, columns: Matrix) -> Matrix:
        """Features (n, r') of nodes that are described by ``columns`` (n, f)."""
        Z = (
            np.exp(-self.scale * compute_squared_differences(columns, self.landmarks))
            @ self.to_features
        )
        return scale_to_unit(Z)

    def compute_on(self, engine: Engine, columns: Matrix, dtype: Any) -> Any:
        """Features (n, r') on an engine, some rows at a time: all distances would be too many."""
        xp = engine.xp
        landmarks, to_features = (
            engine.load(array, np.float64) for array in (self.landmarks, self.to_features)
        )
        found = xp.empty((len(columns), self.to_features.shape[1]), dtype=dtype)
        for start in range(0, len(columns), _ROWS):
            some = engine.load(columns[start : start + _ROWS], np.float64)
            squared = (some**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1)
            squared -= 2.0 * some @ landmarks.T
            Z = xp.exp(-self.scale * xp.maximum(squared, 0.0)) @ to_features
            lengths = xp.sqrt((Z * Z).sum(axis=1))[:, None]
            found[start : start + _ROWS] = (Z / xp.where(lengths > 0.0, lengths, 1.0)).astype(dtype)
        return found


def scale_to_unit(rows: Matrix) -> Matrix:
    """Rows of length 1; a row of zeros stays."""
    return rows * invert_root(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, np.newaxis]


def make_gaussian_features(landmarks: Matrix, width: float) -> GaussianFeatures | None:
    """Features of a kernel whose σ² is ``width`` times the median squared distance of landmarks.

    None if all landmarks are equal: the kernel would tell nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.operators.low_rank import make_gaussian_features
    >>> columns = np.array([[0.0], [1.0], [2.0]])
    >>> features = make_gaussian_features(columns, width=0.5)
    >>> Z = features.compute(columns)
    >>> (Z @ Z.T).round(4)[0]  # exp(−d²/(2 · 0.5 · 1))
    array([1.    , 0.3679, 0.0183])
    """
    squared = compute_squared_differences(landmarks, landmarks)
    median = compute_median(squared)
    if median == 0.0:
        return None
    scale = 1.0 / (2.0 * width * median)
    values, vectors = np.linalg.eigh(np.exp(-scale * squared))
    kept = values > _SMALLEST * values[-1]
    return GaussianFeatures(landmarks, scale, vectors[:, kept] / np.sqrt(values[kept]))
