"""The decorator of all compiled loops: without the Python lock, cached on disk, typed for mypy.

Numba's disk cache notices changes in the file of a function only, not in those of the
functions that it calls, so functions that call each other live in one file. There is no
``parallel=True``: Numba's threading layers break under fork or concurrent callers. Loops
release the lock instead, and :mod:`gradraker.features.parallel` runs them on a few threads.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

import numba

F = TypeVar("F", bound=Callable[..., Any])


@overload
def compile_loop(function: F) -> F: ...
@overload
def compile_loop(*, fastmath: set[str] | bool = ...) -> Callable[[F], F]: ...
def compile_loop(
    function: F | None = None, *, fastmath: set[str] | bool = False
) -> F | Callable[[F], F]:
    """Compile ``function`` with Numba; floating-point rules are strict by default."""

    def decorate(function: F) -> F:
        jit = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)
        return cast(F, jit(function))

    return decorate if function is None else decorate(function)
