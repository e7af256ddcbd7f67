"""Versions of what results depend on, to be written beside them."""

import platform
from importlib.metadata import version

from gradraker import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


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
        **{package: version(package) for package in _PACKAGES},
    }
