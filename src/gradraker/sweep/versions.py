"""Versions of the packages that results depend on, to be stored with them."""

import platform
from importlib.metadata import version

from gradraker import __version__

# Read once, since loaded packages do not change.
VERSIONS = {
    "gradraker": __version__,
    "python": platform.python_version(),
    **{package: version(package) for package in ("numpy", "scipy", "scikit-learn", "numba")},
}
