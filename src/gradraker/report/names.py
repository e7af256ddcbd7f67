"""Names and values of nodes as JSON can hold them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def to_json_name(node: Any) -> Any:
    """Return a name or a label as JSON can hold it."""
    return node if isinstance(node, str | int) else str(node)


def to_json_value(value: Any) -> Any:
    """Return a number as it was given, or a label."""
    return round_off(value) if isinstance(value, float) else to_json_name(value)


def list_contributors(
    names: list[Any], weights: NDArray[np.float64], values: NDArray[Any]
) -> list[dict[str, Any]]:
    """List known nodes with their weights and values."""
    return [
        {"node": to_json_name(name), "weight": weight, "value": to_json_value(value)}
        for name, weight, value in zip(names, weights.tolist(), values.tolist(), strict=True)
    ]


def round_off(value: float) -> float:
    """Return a value as it was before a mean was subtracted from it and added again.

    Examples
    --------
    >>> from gradraker.report.names import round_off
    >>> (0.3 - 7.9) + 7.9, round_off((0.3 - 7.9) + 7.9)
    (0.2999999999999998, 0.3)
    """
    return float(f"{value:.12g}")
