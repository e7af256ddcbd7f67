"""Read a small table of whole numbers, and name the file when it is not one."""

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradraker.exceptions import DatasetFileError


def read_integers(
    path: Path, *, n_columns: int, delimiter: str | None = None, header: str | None = None
) -> NDArray[np.int64]:
    """Return the table (n, n_columns) of a text file; ``header`` must be its first line."""
    try:
        with path.open(encoding="utf-8") as file, warnings.catch_warnings():
            if header is not None and (first := file.readline().strip()) != header:
                raise ValueError(f"the first line must be {header!r}; got {first[:80]!r}")
            warnings.simplefilter("ignore", UserWarning)  # an empty file is told by its counts
            warnings.simplefilter("error", DeprecationWarning)  # a number too large for int64
            table = np.loadtxt(file, dtype=np.int64, delimiter=delimiter, ndmin=2)
        if table.size == 0:
            return np.empty((0, n_columns), dtype=np.int64)
        if table.shape[1] != n_columns:
            raise ValueError(f"has {table.shape[1]} columns, but must have {n_columns}")
    except (ValueError, OverflowError) as error:
        raise DatasetFileError(f"{str(path)!r} cannot be read: {error}") from error
    return table
