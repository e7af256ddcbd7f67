"""Which columns of a table hold nodes, edge weights and values.

The rules are the same for data frames and files. A column is found by its name if the name is one
of a documented list (``docs/reference/graphs.md``), or if only one assignment of columns is
possible. If several are, the table is refused. Names are compared by their words: ``FromNodeId``,
``from_node_id`` and ``From node ID`` are alike.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Literal, NamedTuple

from gradraker._columns import ColumnNumber
from gradraker.exceptions import Place, UnclearTableError, format_names
from gradraker.graph.edges import Reading
from gradraker.graph.names import MISSING, is_number

# "mixed" has numbers and words, "empty" nothing but missing entries.
Kind = Literal["whole", "decimal", "text", "mixed", "empty"]
Task = Literal["values", "classes"]
# More columns than this are not compared with each other: they are found by name only.
_MOST_COLUMNS_COMPARED = 40
# Words that make two columns source and target, alone or with the same other words beside them:
# "from" and "to", "from_station" and "to_station".
PAIRS = (
    ("source", "target"),
    ("source", "dest"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "target"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("origin", "destination"),
    ("citing", "cited"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("parent", "child"),
    ("caller", "callee"),
    ("payer", "payee"),
    ("u", "v"),
)
# The same with at least one other word.
PAIRS_WITH_STEM = (("start", "end"),)
# The same after one of a few words: "id_1" and "id_2", "nodeA" and "nodeB".
NUMBERED_PAIRS = (("1", "2"), ("a", "b"))
NUMBERED_STEMS = ("node", "id", "user", "person", "vertex", "page", "station", "name")
# Names of weights, of nodes and of values: those of an earlier group come first.
_WEIGHTS = "weights w edgeweight strength amount count frequency volume similarity score value"
WEIGHTS = (("weight",), tuple(_WEIGHTS.split()))
NODES = (("node",), ("nodeid", "nodename", "id", "name", "vertex", "vertexid"))
VALUES = (("value",), ("y", "label", "class", "category", "target", "type", "group"))
# Words of columns that are never taken for weights.
_TIME_WORDS = {
    *("time", "timestamp", "ts", "unixts", "date", "datetime"),
    *("year", "month", "week", "day", "hour"),
}
_ID_WORDS = {"id", "index", "idx", "key"}
_NEVER_WEIGHTS = _TIME_WORDS | _ID_WORDS | {"lat", "lon", "latitude", "longitude"}
# Pairs that always are names of columns; other pairs may be nodes that occur again.
_PLAIN_PAIRS = frozenset(PAIRS[:8])
_PAIR_WORDS = {word for pair in (*PAIRS, *PAIRS_WITH_STEM, *NUMBERED_PAIRS) for word in pair}


class ColumnPositions(NamedTuple):
    """Positions of the columns of names, and of the column of weights or values, or None.

    ``more`` are the other columns of values, of several targets.
    """

    names: tuple[int, ...]
    value: int | None
    missing_allowed: bool = False  # whether a value may be missing
    is_text: bool = False  # whether values are labels
    more: tuple[int, ...] = ()


def is_column_name(column: Hashable) -> bool:
    """Whether a column is given by its name, and not by its number."""
    if isinstance(column, ColumnNumber):
        return not column.text.isdecimal()
    return isinstance(column, str)


def find_kind(numbers: Sequence[float], n_given: int) -> Kind:
    """Return the kind of a column, from the numbers among its entries that are not missing."""
    if not n_given:
        return "empty"
    if len(numbers) < n_given:
        return "mixed" if numbers else "text"
    return "whole" if all(number.is_integer() for number in numbers) else "decimal"


@dataclass(frozen=True)
class ColumnSample:
    """Some entries of a column, and their kind; None marks a missing entry."""

    kind: Kind
    entries: Sequence[Hashable]

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers only."""
        return self.kind in ("whole", "decimal")

    @property
    def can_be_weights(self) -> bool:
        """Whether the column holds numbers, perhaps written as text."""
        return self.is_number or (
            self.kind == "text" and all(e is None or is_number(str(e)) for e in self.entries)
        )

    @property
    def may_be_names(self) -> bool:
        """Whether the entries may be names of nodes."""
        return self.kind in ("whole", "text", "mixed") and None not in self.entries


def sample_texts(rows: Sequence[Sequence[str]], n_columns: int) -> list[ColumnSample]:
    """Return samples of the columns of a text table, from the fields of some lines."""
    samples = []
    for column in zip(*rows, strict=True) if rows else [()] * n_columns:
        entries = [None if entry.casefold() in MISSING else entry for entry in column]
        numbers = [float(entry) for entry in entries if entry is not None and is_number(entry)]
        kind = find_kind(numbers, len(entries) - entries.count(None))
        samples.append(ColumnSample(kind, entries))
    return samples


class Table:
    """The columns of a table, as the rules take them: names, if it has any, and samples.

    Parameters
    ----------
    names : sequence or None
        Names of the columns; None without a header.
    n_columns : int
        Number of columns.
    take_samples : callable
        Returns a :class:`ColumnSample` per column; called only if names do not decide.
    place : Place
        The table, in messages.
    """

    def __init__(
        self,
        names: Sequence[Hashable] | None,
        n_columns: int,
        take_samples: Callable[[], list[ColumnSample]],
        place: Place,
    ) -> None:
        # Data frames number columns without names.
        numbered = names is not None and list(names) == list(range(n_columns))
        self.names = None if numbered else names
        self.n_columns, self.place, self._take_samples = n_columns, place, take_samples

    @cached_property
    def samples(self) -> list[ColumnSample]:
        """Entries of each column."""
        return self._take_samples()

    def get_name(self, i: int) -> Hashable:
        """Return the name of a column, or its number from 1."""
        return i + 1 if self.names is None else self.names[i]

    def find_position(self, role: str, wanted: Hashable) -> int:
        """Return the position of a column that is given by name or position."""
        for i, name in enumerate(self.names or ()):
            if name == (wanted.text if isinstance(wanted, ColumnNumber) else wanted):
                return i
        position: object = wanted
        if isinstance(wanted, ColumnNumber) and wanted.text.isdecimal():
            position = int(wanted.text) - 1
        is_number = isinstance(position, int) and not isinstance(position, bool)
        if is_number and 0 <= position < self.n_columns:  # type: ignore[operator]
            return int(position)  # type: ignore[call-overload,no-any-return]
        has = f"{self.n_columns} columns without names"
        if self.names is not None:
            has = f"columns {format_names(self.names, most=20)}"
        raise ValueError(f"{role}={wanted!r} is not a column: the table has {has}")

    def make_reading(self, roles: dict[str, int | None]) -> Reading:
        """Return the reading of a table with these columns."""
        used = {column for column in roles.values() if column is not None}
        return Reading(
            tuple((r, None if c is None else self.get_name(c)) for r, c in roles.items()),
            unused=tuple(self.get_name(i) for i in range(self.n_columns) if i not in used),
        )

    def refuse(self, role: str, candidates: Iterable[int | None], *arguments: str) -> Exception:
        """Return the error of a table whose columns can be read in several ways."""
        listed = ["no column" if i is None else repr(self.get_name(i)) for i in candidates]
        could = f"{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else "any of them"
        every = format_names([self.get_name(i) for i in range(self.n_columns)], most=20)
        has = f"the columns are {every}"
        if self.names is None:
            has = f"the table has {self.n_columns} columns without names"
        problem = f"{has}, and the {role} could be {could}"
        return UnclearTableError(self.place, problem, arguments or (role,))


@dataclass(frozen=True)
class EdgeColumns:
    """Columns of a table of edges, by name or position from 0; None to find one, False for none."""

    source: Hashable = None
    target: Hashable = None
    weight: Hashable = None

    @property
    def given(self) -> tuple[Hashable, ...]:
        """Columns that were asked for."""
        return self.source, self.target, self.weight

    def is_heading(self, fields: Sequence[str], *, plainly: bool = False) -> bool:
        """Whether fields name source and target; ``plainly`` if they cannot be nodes."""
        pairs = find_pairs(fields)
        if plainly:
            return any(is_plain_pair([fields[i] for i in pair]) for pair in pairs)
        return bool(pairs)

    def choose(self, table: Table) -> tuple[ColumnPositions, Reading]:
        """Decide which columns hold source, target and weight."""
        if table.n_columns < 2:
            raise ValueError(
                f"the table has {table.n_columns} column(s), but edges need a source and a target"
            )
        weight = None
        if self.weight is not None and self.weight is not False:
            weight = table.find_position("weight", self.weight)
        source, target = self._choose_ends(table, weight)
        if source == target:
            raise ValueError(f"source and target must be two columns, got column {source} for both")
        if weight in (source, target):
            raise ValueError(
                f"weight must be a column of its own, got column {weight} as source or target"
            )
        if self.weight is None:
            weight = _choose_weight(table, source, target)
        roles = {"source": source, "target": target}
        if weight is not None or self.weight is False:
            roles["weight"] = weight  # type: ignore[assignment]
        return ColumnPositions((source, target), weight), table.make_reading(dict(roles))

    def _choose_ends(self, table: Table, weight: int | None) -> tuple[int, int]:
        wanted = {"source": self.source, "target": self.target}
        given = {r: table.find_position(r, c) for r, c in wanted.items() if c is not None}
        if len(given) == 2:
            return given["source"], given["target"]
        pairs = [] if table.names is None else find_pairs(table.names)
        pairs = [pair for pair in pairs if _has_ends(pair, given) and weight not in pair]
        if not pairs:
            pairs = _list_pairs(table, given, weight)
        if len(pairs) == 1:
            return pairs[0]
        open_roles = [role for role in wanted if role not in given]
        ends = sorted({column for pair in pairs for column in pair if column not in given.values()})
        raise table.refuse(" and the ".join(open_roles), ends, *open_roles)


def _has_ends(pair: tuple[int, int], given: dict[str, int]) -> bool:
    return pair[0] == given.get("source", pair[0]) and pair[1] == given.get("target", pair[1])


def _list_pairs(table: Table, given: dict[str, int], weight: int | None) -> list[tuple[int, int]]:
    """Return the pairs of columns that may be source and target, by their entries."""
    free = [i for i in range(table.n_columns) if i != weight]
    if given:
        (end,) = given.values()
        is_source = "source" in given
        pairs = [(end, i) if is_source else (i, end) for i in free if i != end]
    elif len(free) == 2 or (
        table.names is None and table.n_columns == 3 and _has_weight_last(table)
    ):
        return [(free[0], free[1])]  # the usual order of a list of edges
    else:
        pairs = [(i, j) for i in free for j in free if i < j]
    if len(pairs) < 2 or len(free) > _MOST_COLUMNS_COMPARED:
        return pairs
    kinds = ["text" if s.kind == "mixed" else s.kind for s in table.samples]
    usable = [sample.may_be_names for sample in table.samples]
    same_kind = [p for p in pairs if kinds[p[0]] == kinds[p[1]] and usable[p[0]] and usable[p[1]]]
    # Numbers beside two columns of words are not nodes.
    words = [p for p in same_kind if kinds[p[0]] == "text"]
    return words or same_kind or pairs


def _has_weight_last(table: Table) -> bool:
    return table.samples[-1].kind != "text"


def _choose_weight(table: Table, source: int, target: int) -> int | None:
    """Return the column of weights, None for a graph without."""
    others = [i for i in range(table.n_columns) if i not in (source, target)]
    if table.names is None:
        if (source, target) == (0, 1) and table.n_columns == 3:
            return 2 if _has_weight_last(table) else None
        candidates = [i for i in others if table.samples[i].is_number]
    else:
        named = find_named(table.names, WEIGHTS, without=(source, target))
        if len(named) == 1:
            return named[0]
        names = table.names
        candidates = named or [
            i for i in others if can_be_weight(names[i]) and table.samples[i].can_be_weights
        ]
    if not candidates:
        return None
    raise table.refuse("weight", [*candidates[:_MOST_COLUMNS_COMPARED], None], "weight")


@dataclass(frozen=True)
class ValueColumns:
    """Columns of a table of values, by name or position from 0; None to find one.

    ``task`` is "values" for numbers or "classes" for labels; None to find it out. ``more`` are the
    columns of several targets after the first, whose values are numbers.
    """

    node: Hashable = None
    value: Hashable = None
    task: Task | None = None
    more: tuple[Hashable, ...] = ()

    @property
    def given(self) -> tuple[Hashable, ...]:
        """Columns that were asked for."""
        return self.node, self.value, *self.more

    def is_heading(self, fields: Sequence[str], *, plainly: bool = False) -> bool:
        """Whether fields name nodes or values; ``plainly`` if they cannot be data."""
        if plainly:
            return bool(find_named(fields, NODES[:1]) and find_named(fields, VALUES[:1]))
        return bool(find_named(fields, NODES) or find_named(fields, VALUES))

    def choose(self, table: Table) -> tuple[ColumnPositions, Reading]:
        """Decide which columns hold nodes and values."""
        if table.n_columns < 2:
            raise ValueError(
                f"the table has {table.n_columns} column(s), but needs nodes and values"
            )
        more = tuple(table.find_position("value", column) for column in self.more)
        node, value = self._choose_pair(table, more)
        if node in (value, *more):
            raise ValueError(f"node and value must be two columns, got column {node} for both")
        is_text = self.task == "classes"
        if self.task is None:
            is_text = table.samples[value].kind == "text"
        positions = ColumnPositions((node,), value, True, is_text, more)
        roles = {"value": value}
        if more:
            roles = {str(table.get_name(column)): column for column in (value, *more)}
        return positions, table.make_reading({"node": node, **roles})

    def _choose_pair(self, table: Table, more: tuple[int, ...]) -> tuple[int, int]:
        nodes = self._list_columns(table, "node", self.node, NODES)
        values = self._list_columns(table, "value", self.value, VALUES)
        if len(nodes) == 1 and len(values) == 1:
            return nodes[0], values[0]
        pairs = [(i, j) for i in nodes for j in values if i != j and i not in more]
        if len(pairs) == 1:
            return pairs[0]
        if table.n_columns <= _MOST_COLUMNS_COMPARED:
            possible = [pair for pair in pairs if self._is_possible(table, *pair)]
            if table.n_columns == 2 and table.samples[0].may_be_names:
                return pairs[0]  # the usual order: first the node, then the value
            pairs = possible or pairs
        if len(pairs) == 1:
            return pairs[0]
        nodes, values = (list(dict.fromkeys(part)) for part in zip(*pairs, strict=True))
        if len(nodes) == 1:
            raise table.refuse("value", values, "value")
        if len(values) == 1:
            raise table.refuse("node", nodes, "node")
        raise table.refuse("node and the value", sorted({*nodes, *values}), "node", "value")

    @staticmethod
    def _list_columns(
        table: Table, role: str, wanted: Hashable, groups: Sequence[Sequence[str]]
    ) -> list[int]:
        """Return the columns that a role may have: the wanted one, or by their names."""
        if wanted is not None:
            return [table.find_position(role, wanted)]
        named = [] if table.names is None else find_named(table.names, groups)
        return named or list(range(table.n_columns))

    def _is_possible(self, table: Table, node: int, value: int) -> bool:
        """Whether no node has two values, as far as the samples show, and kinds fit."""
        names, values = table.samples[node], table.samples[value]
        if not names.may_be_names or values.kind == "empty":
            return False
        # Identifiers are not taken for values.
        if self.value is None and _ID_WORDS & {*split_words(table.get_name(value))}:
            return False
        if self.task == "values" and not values.is_number:
            return False
        first: dict[Hashable, Hashable] = {}
        for name, entry in zip(names.entries, values.entries, strict=True):
            if first.setdefault(name, entry) != entry:
                return False
        return True


WantedColumns = EdgeColumns | ValueColumns


# -- names of columns ------------------------------------------------------------------------------


def split_words(name: Hashable) -> tuple[str, ...]:
    """Return the words of a name in lower case.

    Examples
    --------
    >>> split_words("FromNodeId"), split_words("node_1"), split_words("Sender ID")
    (('from', 'node', 'id'), ('node', '1'), ('sender', 'id'))
    """
    if not isinstance(name, str):
        return ()
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])", " ", name)
    return tuple(word.casefold() for word in re.findall(r"[^\W_]+", spaced))


def find_pairs(names: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the positions of columns that are source and target by their names.

    Columns called source and target come before all others.

    Examples
    --------
    >>> find_pairs(["time", "sender", "receiver", "amount"])
    [(1, 2)]
    >>> find_pairs(["id_1", "id_2"]), find_pairs(["from_date", "to_date"])
    ([(0, 1)], [])
    """
    words = [split_words(name) for name in names]
    if ("source",) in words and ("target",) in words:
        return [(words.index(("source",)), words.index(("target",)))]
    # A table may have thousands of columns: most are ruled out by their words first.
    listed = [(i, word) for i, word in enumerate(words) if _PAIR_WORDS & {*word}]
    return [(i, j) for (i, a), (j, b) in permutations(listed, 2) if _is_pair(a, b)]


def is_plain_pair(names: Sequence[Hashable]) -> bool:
    """Whether two names are so common for columns that a line of them cannot be an edge."""
    first, second = (split_words(name) for name in names)
    return _is_pair(first, second) and any(
        {pair[0]} <= {*first} and {pair[1]} <= {*second} for pair in _PLAIN_PAIRS
    )


def _is_pair(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    differing = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    if len(first) != len(second) or len(differing) != 1 or _TIME_WORDS & {*first}:
        return False
    stem = tuple(word for word in first if word != differing[0][0])
    if differing[0] in PAIRS:
        return True
    if differing[0] in PAIRS_WITH_STEM:
        return bool(stem)
    return differing[0] in NUMBERED_PAIRS and len(stem) == 1 and stem[0] in NUMBERED_STEMS


def find_named(
    names: Sequence[Hashable], groups: Sequence[Sequence[str]], *, without: Sequence[int] = ()
) -> list[int]:
    """Return the positions of the names in the first group that has any of them.

    Examples
    --------
    >>> find_named(["id", "page_type", "Value"], VALUES), find_named(["id", "name"], NODES)
    ([2], [0, 1])
    """
    joined = ["".join(split_words(name)) for name in names]
    for group in groups:
        found = [i for i, name in enumerate(joined) if name in group and i not in without]
        if found:
            return found
    return []


def can_be_weight(name: Hashable) -> bool:
    """Whether a column of numbers of this name might hold weights; times and identifiers do not.

    Examples
    --------
    >>> can_be_weight("km"), can_be_weight("timestamp"), can_be_weight("edge_id")
    (True, False, False)
    """
    words = split_words(name)
    return bool(words) and not _NEVER_WEIGHTS & {*words}
