"""Names of columns that say what a column holds; ``docs/reference/graphs.md`` lists them.

Names are compared by their words: ``FromNodeId``, ``from_node_id`` and ``From node ID`` are alike.
"""

import re
from collections.abc import Hashable, Sequence
from itertools import permutations

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
WEIGHTS = (
    ("weight",),
    (
        "weights",
        "w",
        "edgeweight",
        "strength",
        "amount",
        "count",
        "frequency",
        "volume",
        "similarity",
        "score",
        "value",
    ),
)
NODES = (("node",), ("nodeid", "nodename", "id", "name", "vertex", "vertexid"))
VALUES = (("value",), ("y", "label", "class", "category", "target", "type", "group"))
# Words of columns that are never taken for weights.
_TIMES = {
    *("time", "timestamp", "ts", "unixts", "date", "datetime"),
    *("year", "month", "week", "day", "hour"),
}
_IDS = {"id", "index", "idx", "key"}
_NEVER_WEIGHTS = _TIMES | _IDS | {"lat", "lon", "latitude", "longitude"}
# Pairs that are names of columns wherever they stand; others may be nodes that occur again.
_PLAIN_PAIRS = frozenset(PAIRS[:8])
_PAIR_WORDS = {word for pair in (*PAIRS, *PAIRS_WITH_STEM, *NUMBERED_PAIRS) for word in pair}


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
    # A table may have thousands of columns: most have no word of a pair.
    listed = [(i, word) for i, word in enumerate(words) if _PAIR_WORDS & {*word}]
    return [(i, j) for (i, a), (j, b) in permutations(listed, 2) if _is_pair(a, b)]


def is_plain_pair(names: Sequence[Hashable]) -> bool:
    """Whether two names are so usual for columns that a line of them cannot be an edge."""
    first, second = (split_words(name) for name in names)
    return _is_pair(first, second) and any(
        {pair[0]} <= {*first} and {pair[1]} <= {*second} for pair in _PLAIN_PAIRS
    )


def _is_pair(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    differing = [(a, b) for a, b in zip(first, second, strict=False) if a != b]
    if len(first) != len(second) or len(differing) != 1 or _TIMES & {*first}:
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
    """Return the positions of names that are in the first group of which there are any.

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
    """Whether a column of numbers of that name might hold weights; times and numbers do not.

    Examples
    --------
    >>> can_be_weight("km"), can_be_weight("timestamp"), can_be_weight("edge_id")
    (True, False, False)
    """
    words = split_words(name)
    return bool(words) and not _NEVER_WEIGHTS & {*words}


def is_id(name: Hashable) -> bool:
    """Whether a column of that name holds identifiers, which are not taken for values.

    Examples
    --------
    >>> is_id("segment_id"), is_id("ltv")
    (True, False)
    """
    return bool(_IDS & {*split_words(name)})
