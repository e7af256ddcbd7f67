"""The options of a graph that every form of graph gets."""

from collections.abc import Hashable
from typing import Any, NamedTuple

from gradraker.exceptions import ArgumentError


class GraphOptions(NamedTuple):
    """The arguments that every form of graph gets.

    ``weight`` is None (edge weights if the graph has any), False (no edge weights) or the name of a
    column or attribute; ``names`` are names for numbered nodes; ``kind`` settles what an array is;
    ``source`` and ``target`` are columns of a table; ``directed`` is False if each edge counts both
    ways, however it is listed.
    """

    weight: Hashable = None
    names: Any = None
    kind: str | None = None
    source: Hashable = None
    target: Hashable = None
    directed: bool | None = None

    def refuse_weight_name(self, what: str) -> None:
        """Raise if a weight is asked for by name in a graph whose weights have no names."""
        if self.weight is not None and self.weight is not False:
            raise ArgumentError("weight", f"None or False for {what}", self.weight)
