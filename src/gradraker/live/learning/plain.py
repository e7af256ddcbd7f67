"""What both processes say about predictions. The process that answers loads no model for it."""

import math
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

USUAL_COVERAGE = 0.9


@runtime_checkable
class ProbabilityModel(Protocol):
    """A model of labels that has probabilities of its classes."""

    classes_: NDArray[Any]

    def predict_proba(self, nodes: Any = None) -> NDArray[np.float64]:
        """Return probabilities of the classes, in the order of ``classes_``."""

    def predict_new(self, links: Any, *, proba: bool = False) -> Any:
        """Predict new nodes: labels, or probabilities."""


def to_plain(value: Any) -> Any:
    """Return what JSON can hold: no NumPy, no NaN, no infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.live.learning.plain import to_plain
    >>> to_plain({"a": np.float64(1.5), "b": (np.inf, np.int64(2))})
    {'a': 1.5, 'b': [None, 2]}
    """
    if isinstance(value, dict):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
