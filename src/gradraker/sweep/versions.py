"""Versions of what results depend on, to be written beside them."""

import platform
from functools import cache
from importlib.metadata import version

from gradraker import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def _package_versions() -> dict[str, str]:
    # Read once: it takes milliseconds, and what is loaded does not change.
    return {package: version(package) for package in _PACKAGES}


def versions() -> dict[str, str]:
    """Versions of gradraker, Python and the packages that compute.

    Examples
    --------
    >>> list(versions())
    ['gradraker', 'python', 'numpy', 'scipy', 'scikit-learn', 'numba']
    """
    return {
        "gradraker": __version__,
        "python": platform.python_version(),
        **_package_versions(),
    }
