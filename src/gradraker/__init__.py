"""Predict unknown node values on a graph, online, and explain every prediction.

Names are loaded when they are first used, so that ``import gradraker`` is quick
and loads neither the compiled loops nor any plotting.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0.dev0"

# public name -> the module that defines it
_HOMES = {
    "GraphDataset": "gradraker.datasets",
    "load_temperature": "gradraker.datasets",
    "ModelFileError": "gradraker.learners",
    "SKGRegressor": "gradraker.learners",
    "load": "gradraker.learners",
    "gnmse": "gradraker.metrics",
}

__all__ = [
    "GraphDataset",
    "ModelFileError",
    "SKGRegressor",
    "__version__",
    "gnmse",
    "load",
    "load_temperature",
]

if TYPE_CHECKING:
    from gradraker.datasets import GraphDataset, load_temperature
    from gradraker.learners import ModelFileError, SKGRegressor, load
    from gradraker.metrics import gnmse


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'gradraker' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
