"""Which columns of a table hold nodes, edge weights and values, and whether a line names them.

Data frames and files are read by these rules, and nothing else decides.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from gradraker.graph.text import is_number, is_value

# Two first fields of a line, in lower case, that make it a header.
_HEADINGS = {
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("source", "dest"),
    ("source", "destination"),
    ("fromnodeid", "tonodeid"),
    ("node", "value"),
}


class ColumnPositions(NamedTuple):
    """Positions of the columns of names, and of the column of numbers or None."""

    names: tuple[int, ...]
    number: int | None
    missing_allowed: bool = False  # whether a number may be missing


@dataclass(frozen=True)
class EdgeColumns:
    """Columns of a table of edges, by name or position from 0; None to find one, False for none."""

    source: Hashable = None
    target: Hashable = None
    weight: Hashable = None
    n_names: ClassVar[int] = 2

    def choose(self, names: Sequence[Hashable] | None, n_columns: int) -> ColumnPositions:
        """Decide which columns hold source, target and weight.

        A column that is asked for is found by name, or by position if it is an int that is not a
        name. By default these are the columns called source, target and weight. Without columns
        called source and target, the edges are the first two columns, and a third of exactly
        three is the weight.
        """
        if n_columns < 2:
            raise ValueError(
                f"the table has {n_columns} column(s), but edges need a source and a target"
            )
        known = _find_first_positions(names)
        pair = {"source": self.source, "target": self.target}
        first, second, by_name = _choose_pair(pair, known, n_columns)
        third: int | None = None
        if self.weight is None:
            if "weight" in known:
                third = known["weight"]
            elif not by_name and n_columns == 3 and {first, second} == {0, 1}:
                third = 2
        elif self.weight is not False:
            third = _find_position("weight", self.weight, known, n_columns)
        if third in (first, second):
            raise ValueError(
                f"weight must be a column of its own, got column {third} as source or target"
            )
        return ColumnPositions((first, second), third)


@dataclass(frozen=True)
class ValueColumns:
    """Columns of a table of values, by name or position from 0; None to find one."""

    node: Hashable = None
    value: Hashable = None
    n_names: ClassVar[int] = 1

    def choose(self, names: Sequence[Hashable] | None, n_columns: int) -> ColumnPositions:
        """Decide which columns hold nodes and values: by default those called so, or the first."""
        if n_columns < 2:
            raise ValueError(f"the table has {n_columns} column(s), but needs nodes and values")
        pair = {"node": self.node, "value": self.value}
        first, second, _ = _choose_pair(pair, _find_first_positions(names), n_columns)
        return ColumnPositions((first,), second, missing_allowed=True)


def is_header(first: Sequence[str], second: Sequence[str], *, number_column: int) -> bool:
    """Whether the first line of a text table names its columns.

    Parameters
    ----------
    first, second : sequences of str
        Fields of the first two lines; the second is empty if the table has one line only.
    number_column : int
        The column, from 0, that holds numbers: 2 in a table of edges, 1 in a table of values.
    """
    lowered = [field.casefold() for field in first]
    if (lowered[0], lowered[1]) in _HEADINGS or {"source", "target"} <= set(lowered):
        return True
    if number_column == 1 and {"node", "value"} <= set(lowered):
        return True
    if len(first) == number_column + 1 and first[number_column]:
        # As data the line would be wrong. It is a header, unless its nodes are numbers: then it
        # is data with a mistake, which the reader will name.
        nodes = first[:number_column]
        return not is_value(first[number_column]) and not any(is_number(node) for node in nodes)
    both = len(second) > 1 and all(is_number(field) for field in second[:2])
    return both and not any(is_number(field) for field in first[:2])


def _choose_pair(
    asked: dict[str, Hashable], known: dict[Hashable, int], n_columns: int
) -> tuple[int, int, bool]:
    """Return the positions of two columns, and whether both were found by their usual names."""
    (one, first), (other, second) = asked.items()
    if first is None and second is None and {one, other} <= known.keys():
        return known[one], known[other], True
    at = [
        default if wanted is None else _find_position(role, wanted, known, n_columns)
        for default, (role, wanted) in enumerate(asked.items())
    ]
    if at[0] == at[1]:
        raise ValueError(f"{one} and {other} must be two columns, got column {at[0]} for both")
    return at[0], at[1], False


def _find_first_positions(names: Sequence[Hashable] | None) -> dict[Hashable, int]:
    """Return the position of each name; the first if a table has a name twice."""
    known: dict[Hashable, int] = {}
    for i, name in enumerate(names or ()):
        known.setdefault(name, i)
    return known


def _find_position(role: str, wanted: Hashable, known: dict[Hashable, int], n_columns: int) -> int:
    if wanted in known:
        return known[wanted]
    if isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < n_columns:
        return wanted
    has = (
        f"columns {', '.join(map(repr, known))}" if known else f"{n_columns} columns without names"
    )
    raise ValueError(f"{role}={wanted!r} is not a column: the table has {has}")
