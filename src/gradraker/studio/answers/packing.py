"""Arrays as text for JSON: base64 of little-endian numbers."""

import base64
from typing import Any

import numpy as np


def pack(array: Any, kind: str) -> str:
    """Return an array as base64 of numbers of a kind such as ``"<f8"``.

    Examples
    --------
    >>> from gradraker.studio.answers.packing import pack
    >>> pack([1, 2], "<u4")
    'AQAAAAIAAAA='
    """
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()
