"""How many threads linear algebra may take."""

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

# Matrices with fewer rows take less time than the limit does, and those with more are worth
# several threads even if these wait for each other.
_SMALL, _LARGE = 128, 4000


def one_blas_thread(n_rows: int | None = None) -> AbstractContextManager[Any]:
    """Take one thread for decompositions of small matrices, or whatever the size by default.

    A decomposition is thousands of short products, and threads of BLAS meet after each: on a
    machine where another process has a core, they wait up to thirty times as long as they work.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.features.blas import one_blas_thread
    >>> with one_blas_thread(500):
    ...     np.linalg.inv(2.0 * np.eye(500))[0, 0].item()
    0.5
    """
    if n_rows is not None and not _SMALL <= n_rows <= _LARGE:
        return nullcontext()
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()  # to find them takes some ten milliseconds
