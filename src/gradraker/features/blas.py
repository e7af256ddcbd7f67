"""The number of threads that linear algebra may use."""

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

# Matrices with fewer rows take less time than setting the limit does; those with more are worth
# several threads, even if these wait for each other.
_SMALL, _LARGE = 128, 4000


def use_one_blas_thread(n_rows: int | None = None) -> AbstractContextManager[Any]:
    """Use one BLAS thread in a ``with`` block: for small matrices, or always without ``n_rows``.

    A decomposition is thousands of short products, and the threads of BLAS wait for each other
    after each one: where another process has a core, up to thirty times as long as they work.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.features.blas import use_one_blas_thread
    >>> with use_one_blas_thread(500):
    ...     np.linalg.inv(2.0 * np.eye(500))[0, 0].item()
    0.5
    """
    if n_rows is not None and not _SMALL <= n_rows <= _LARGE:
        return nullcontext()
    return _find_libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _find_libraries() -> ThreadpoolController:
    return ThreadpoolController()  # finding them takes some ten milliseconds
