"""Arrays as text for JSON: base64 of little-endian numbers."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack(array: Any, kind: str) -> str:
    """Return an array as base64 of numbers of a kind such as ``"<f8"``.

    Examples
    --------
    >>> from gradraker.studio.answers.packing import pack, unpack
    >>> pack([1, 2], "<u4")
    'AQAAAAIAAAA='
    >>> unpack(pack([0.5, 2.0], "<f8"), "<f8").tolist()
    [0.5, 2.0]
    """
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def unpack(text: str, kind: str) -> NDArray[Any]:
    """Return the array that :func:`pack` made a text of."""
    return np.frombuffer(base64.b64decode(text), dtype=kind)
