"""What a user asks of a graph, whatever its kind."""

from collections.abc import Hashable
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """The arguments that every kind of graph gets.

    ``weight`` is None (weights if there are any), False (no weights) or the name of a column or
    attribute; ``names`` are names for numbered nodes; ``kind`` settles what an array is.
    """

    weight: Hashable = None
    names: Any = None
    kind: str | None = None
