"""The decorator of all compiled loops: without the Python lock, cached on disk, typed for mypy.

Numba's disk cache notices changes in the file of a function only, not in those of the
functions that it calls, so functions that call each other are in one file. There is no
``parallel=True``: Numba's threading layers break under fork or concurrent callers. Loops
release the lock instead, and :mod:`gradraker.features.engine` runs them on a few threads.
"""

import warnings
from collections.abc import Callable
from functools import cache
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
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        try:
            loop = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no cache folder is writable
            _warn_once()
            loop = numba.njit(**options)(function)
        return cast(F, loop)

    return decorate if function is None else decorate(function)


@cache
def _warn_once() -> None:
    warnings.warn(
        "compiled loops cannot be kept: neither the folder of gradraker nor a cache folder in the "
        "home directory can be written. Every process compiles them again, which takes some "
        "seconds for each kind of call; set NUMBA_CACHE_DIR to a folder that only you can write",
        RuntimeWarning,
        stacklevel=2,
    )
