"""Products on the CPU with a matrix that is mapped from files, with little memory."""

import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features.engine import CpuEngine

# Memory for columns of a product, which limits how many are multiplied at once.
_COLUMN_BYTES = 400_000_000


class DiskEngine(CpuEngine):
    """The CPU, with few columns at once; random vectors are in a temporary file.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.features.engines.disk import DiskEngine
    >>> DiskEngine().count_columns(10**6, np.float32, 4)
    25
    """

    wants_close_nodes = False

    def make_array(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
        """Make an array in a file that is deleted with the array."""
        if np.prod(shape) == 0:
            return np.empty(shape, dtype=dtype)
        with tempfile.TemporaryFile() as file:
            return np.asarray(np.memmap(file, dtype=dtype, mode="w+", shape=shape))

    def count_columns(self, n_rows: int, dtype: Any, n_copies: int) -> int:
        """Number of columns that fit in limited memory, 1 at least."""
        return max(1, int(_COLUMN_BYTES / (n_copies * max(1, n_rows) * np.dtype(dtype).itemsize)))
