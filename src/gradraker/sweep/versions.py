"""Versions of the packages that results depend on, to be written beside them."""

import platform
from functools import cache
from importlib.metadata import version

from gradraker import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def _find_package_versions() -> dict[str, str]:
    # Read once: it takes milliseconds, and loaded packages do not change.
    return {package: version(package) for package in _PACKAGES}


def collect_versions() -> dict[str, str]:
    """Versions of gradraker, Python and the packages that compute.

    Examples
    --------
    >>> list(collect_versions())
    ['gradraker', 'python', 'numpy', 'scipy', 'scikit-learn', 'numba']
    """
    python = platform.python_version()
    return {"gradraker": __version__, "python": python, **_find_package_versions()}
