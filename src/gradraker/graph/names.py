"""Names of nodes as arrays: int64 where all are integers, Python objects otherwise.

The rules for texts that stand for names or numbers are the same for tables and files. The identity
of a name is a hash that is the same on every machine; it seeds the draws of frequencies and walks.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_ordered, is_ordered

if TYPE_CHECKING:
    import polars as pl

Names: TypeAlias = NDArray[np.int64] | NDArray[np.object_]
# Names of the columns of X; None where they are numbered, or keep their names.
References: TypeAlias = Sequence[Hashable] | NDArray[Any] | None
# Patterns that Python and polars read alike. "inf", "nan" and "1_000" are not decimal numbers.
NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_INTEGER = r"^(?:0|-?[1-9][0-9]*)$"
# Words that tables write for an unknown number, in lower case.
MISSING = ("", "na", "n/a", "nan", "null", "none")
_NOT_FINITE = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_MODULUS = 1 << 64


def to_name_array(names: Any, *, argument: str) -> Names:
    """Return names as a 1-D array: int64 if all are integers that fit, else Python objects.

    Whole floats become integers, since an array of edges with weights holds floats. None and
    NaN cannot be names.
    """
    if isinstance(names, np.ndarray) and names.dtype.kind in "iuf":
        return _from_number_array(names, argument)
    listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
    if any(issubclass(kind, np.generic) for kind in set(map(type, listed))):
        # NumPy scalars count as the Python type; "1" and 1 stay two names.
        listed = [to_plain_name(name) for name in listed]
    if set(map(type, listed)) == {int}:
        try:
            return np.array(listed, dtype=np.int64)
        except OverflowError:
            pass
    return _from_objects(listed, argument)


def _from_number_array(names: NDArray[Any], argument: str) -> Names:
    if names.dtype.kind == "f":
        wrong = np.flatnonzero(~(np.isfinite(names) & (names == np.trunc(names))))
        if len(wrong):
            raise ValueError(
                f"{argument} holds {names[wrong[0]]} at position {wrong[0]}, but a node in an "
                "array of numbers must be a whole number"
            )
        if len(names) and np.abs(names).max() > 2.0**53:
            raise ValueError(
                f"{argument} holds numbers above 2⁵³ as floats, which are not exact: give the "
                "nodes as integers"
            )
    elif names.dtype == np.uint64 and len(names) and names.max() > np.iinfo(np.int64).max:
        return np.fromiter(names.tolist(), dtype=object, count=len(names))
    return names.astype(np.int64)


def _from_objects(listed: list[Any], argument: str) -> NDArray[np.object_]:
    for position, name in enumerate(listed):
        if name is None or name != name:
            raise ValueError(
                f"{argument} is missing ({name}) at position {position}, but every edge and row "
                "needs the name of a node"
            )
        try:
            hash(name)
        except TypeError:
            raise TypeError(
                f"{argument} holds {name!r} of type {type(name).__name__} at position {position}, "
                "but names must be hashable"
            ) from None
    return np.fromiter(listed, dtype=object, count=len(listed))


def find_distinct(columns: Sequence[Names]) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the distinct names of all columns together and, for each column, their positions.

    Names are sorted if all are integers or all are strings, and in the order of their first
    appearance otherwise.
    """
    if all(column.dtype == np.int64 for column in columns):
        names, codes = find_distinct_integers(np.concatenate(columns) if columns else _NO_NUMBERS)
    else:
        listed = [name for column in columns for name in column.tolist()]
        found = list(dict.fromkeys(listed))
        if all(type(name) is str for name in found) or all(type(name) is int for name in found):
            found.sort()
        position = {name: i for i, name in enumerate(found)}
        codes = np.fromiter(map(position.__getitem__, listed), np.int64, count=len(listed))
        names = np.fromiter(found, dtype=object, count=len(found))
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return names, np.split(codes, ends)


_NO_NUMBERS = np.empty(0, dtype=np.int64)


def find_distinct_integers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return sorted distinct integers and the position of each value among them."""
    if not len(values):
        return values, _NO_NUMBERS
    low, high = int(values.min()), int(values.max())
    if high - low <= 4 * len(values) + 1_000_000:
        # Numbers that lie close together, the usual case, need no sorting.
        shifted = (values - values.dtype.type(low)).astype(np.int64, copy=False)
        present = np.zeros(high - low + 1, dtype=bool)
        present[shifted] = True
        names = np.flatnonzero(present).astype(values.dtype) + values.dtype.type(low)
        return names, (np.cumsum(present) - 1)[shifted]
    names, codes = np.unique(values, return_inverse=True)
    return names, codes


def check_names(names: Iterable[Hashable], *, argument: str) -> Names:
    """Check names that a user gave, which must be an ordered collection without repetition."""
    check_ordered(argument, names)
    array = to_name_array(names, argument=argument)
    if array.ndim != 1:
        raise ValueError(f"{argument} must be one list of names, got an array of {array.shape}")
    repeated = find_repeated(array)
    if repeated is not None:
        raise ValueError(f"{argument} must not repeat a name, got {repeated!r} more than once")
    return array


def find_repeated(names: Names) -> object:
    """Return a name that occurs more than once, or None."""
    if names.dtype == np.int64:
        ordered = np.sort(names)
        again = ordered[1:][ordered[1:] == ordered[:-1]]
        return int(again[0]) if len(again) else None
    seen: set[Hashable] = set()
    return next((name for name in names.tolist() if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]


class NameIndex:
    """Positions of names, prepared once: integers are sorted, other names are in a dictionary.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.graph.names import NameIndex
    >>> NameIndex(np.array([30, 10])).find(np.array([10, 20]))
    array([ 1, -1])
    """

    def __init__(self, names: Names) -> None:
        self._names = names

    def find(self, wanted: Names) -> NDArray[np.int64]:
        """Return the position of each wanted name, -1 where it is missing."""
        if wanted.dtype == np.int64 and self._names.dtype == np.int64:
            order, ordered = self._order
            at = np.searchsorted(ordered, wanted)
            at[at == len(ordered)] = 0
            known = ordered[at] == wanted if len(ordered) else np.zeros(len(wanted), dtype=bool)
            found = np.full(len(wanted), -1, dtype=np.int64)
            found[known] = order[at[known]]
            return found
        index = self._positions
        return np.fromiter((index.get(name, -1) for name in wanted.tolist()), np.int64, len(wanted))

    @cached_property
    def _order(self) -> tuple[NDArray[np.int64], Names]:
        order = np.argsort(self._names, kind="stable")
        return order, self._names[order]

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self._names.tolist())}


def find_positions(wanted: Names, names: Names) -> NDArray[np.int64]:
    """Return the position in ``names`` of each wanted name, -1 where it is missing."""
    return NameIndex(names).find(wanted)


def check_same_type(unknown: Names, names: Names, *, argument: str) -> None:
    """Refuse an unknown name such as "7" when the graph has 7, or the other way round.

    Otherwise the miss would be silent: the names look the same and differ in Python.
    """
    others: dict[Hashable, Hashable] = {}
    for name in unknown.tolist():
        if not isinstance(name, str):
            others[name] = str(name)
        elif len(name) < 30:
            with suppress(ValueError):
                others[name] = int(name)
    index = set(names.tolist()) if others else set()
    for name, other in others.items():
        if other in index:
            raise ValueError(
                f"{argument} holds {name!r} of type {type(name).__name__}, but in the graph that "
                f"node is {other!r} of type {type(other).__name__}: give names of one type"
            )


def to_plain_name(name: object) -> object:
    """Return a name as its Python type, so that messages show 3 and not np.int64(3)."""
    return name.item() if isinstance(name, np.generic) else name


def join_names(names: Names, more: Names) -> Names:
    """Return the names of both arrays, one after the other."""
    if names.dtype == more.dtype:
        return np.concatenate([names, more])
    listed = names.tolist() + more.tolist()
    return np.fromiter(listed, dtype=object, count=len(listed))


def name_numbered_nodes(names: Any, n: int) -> Names:
    """Return the names of n numbered nodes: their numbers unless names are given."""
    if names is None:
        return np.arange(n, dtype=np.int64)
    checked = check_names(names, argument="names")
    if len(checked) != n:
        raise ValueError(f"names has {len(checked)} names, but the graph has {n} nodes")
    return checked


# -- texts -----------------------------------------------------------------------------------------


def is_number(text: str) -> bool:
    """Whether a text is a plain decimal number."""
    return re.match(NUMBER, text) is not None


def is_value(text: str) -> bool:
    """Whether a text is a number, finite or not, or marks a missing one."""
    return is_number(text) or text.casefold() in (*MISSING, *_NOT_FINITE)


def to_integers(columns: Sequence["pl.Series"]) -> list["pl.Series"] | None:
    """Return texts as int64 if each is an integer in its shortest form, so that nothing is lost."""
    import polars as pl

    if not all(column.str.contains(_INTEGER).all() for column in columns):
        return None
    converted = [column.cast(pl.Int64, strict=False) for column in columns]
    return None if any(column.null_count() for column in converted) else converted


def find_distinct_texts(columns: Sequence["pl.Series"]) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the sorted distinct texts of columns, and their positions for each column.

    Each text is hashed to 64 bits and the hashes are numbered as integers, which takes a
    fraction of the time of comparing texts; that equal hashes mean equal texts is then checked.
    """
    import polars as pl

    texts = pl.concat([column.alias("text") for column in columns], rechunk=True)
    hashes, codes = find_distinct_integers(texts.hash().to_numpy())
    where = np.empty(len(hashes), dtype=np.int64)
    where[codes] = np.arange(len(codes))
    found = texts.gather(where)
    if not (found.gather(codes) == texts).all():  # two texts with one hash
        return find_distinct([np.array(column.to_list(), dtype=object) for column in columns])
    order = found.arg_sort().to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    names = np.array(found.gather(order).to_list(), dtype=object)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return names, np.split(position[codes], ends)


# -- identities ------------------------------------------------------------------------------------


def identify_reference(name: Hashable) -> int:
    """Return a 64-bit number that depends only on the name of a referencing node.

    Names that are equal in Python have equal identities: ``1``, ``1.0`` and ``True`` are
    one node, ``1`` and ``"1"`` are two. Integers are their own identity, so column
    number m of an array without names is the node named m.

    Parameters
    ----------
    name : int, str, bytes, float or tuple of these
        NumPy scalars count as the Python type.

    Returns
    -------
    int
        In [0, 2⁶⁴).

    Examples
    --------
    >>> from gradraker.features import identify_reference
    >>> identify_reference(7)
    7
    >>> identify_reference("Davos") == identify_reference("Arosa")
    False
    """
    name = to_plain_reference(name)
    if isinstance(name, int) or (isinstance(name, float) and name.is_integer()):
        number = int(name)
        if -(_MODULUS >> 1) <= number < _MODULUS >> 1:
            return number % _MODULUS
    return int.from_bytes(blake2b(_encode(name), digest_size=8).digest(), "little")


def to_plain_reference(name: Hashable) -> Hashable:
    """Return a name with NumPy numbers and strings as Python types, in tuples as well."""
    if isinstance(name, np.number | np.str_ | np.bytes_ | np.bool_):
        return cast(Hashable, name.item())
    return tuple(map(to_plain_reference, name)) if isinstance(name, tuple) else name


def _encode(name: Any) -> bytes:
    """Bytes that differ for different names: a type letter, the length, the content."""
    if isinstance(name, str):
        content = b"s", name.encode("utf-8", "surrogatepass")
    elif isinstance(name, bytes):
        content = b"b", name
    elif isinstance(name, int) or (isinstance(name, float) and name.is_integer()):
        content = b"i", str(int(name)).encode()
    elif isinstance(name, float) and name == name:
        content = b"f", name.hex().encode()
    elif isinstance(name, tuple):
        content = b"t", b"".join(_encode(part) for part in name)
    else:
        raise TypeError(
            "a reference name must be an int, str, bytes, float (not NaN) or a tuple of these, "
            f"got {name!r} of type {type(name).__name__}"
        )
    letter, body = content
    return letter + str(len(body)).encode() + b":" + body


def identify_references(names: Iterable[Hashable]) -> NDArray[np.uint64]:
    """Return :func:`identify_reference` of each name, at array speed for integer arrays."""
    if isinstance(names, range):
        names = np.arange(names.start, names.stop, names.step, dtype=np.int64)
    if isinstance(names, np.ndarray) and names.dtype.kind in "iu" and names.dtype != np.uint64:
        return names.astype(np.int64).view(np.uint64)
    return np.fromiter((identify_reference(name) for name in names), dtype=np.uint64)


def check_references(
    references: Sequence[Hashable] | NDArray[Any], n_columns: int
) -> Sequence[Hashable]:
    """Check that each column of X has a distinct name, and return plain names.

    Examples
    --------
    >>> from gradraker.graph.names import check_references
    >>> check_references(["a", "b", "a"], 3)
    Traceback (most recent call last):
    ValueError: references must not repeat a name, got 'a' more than once
    """
    if not is_ordered(references):
        raise TypeError(
            "references must be a sequence with the name of each column of X, "
            f"got {references!r} of type {type(references).__name__}"
        )
    names = references.tolist() if hasattr(references, "tolist") else list(references)
    if len(names) != n_columns:
        raise ValueError(
            f"references must name each column of X: got {len(names)} names for {n_columns} columns"
        )
    try:
        distinct = set(names)
    except TypeError as error:
        raise TypeError(f"references must be hashable: {error}") from None
    if len(distinct) != len(names):
        seen: set[Hashable] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"references must not repeat a name, got {twice!r} more than once")
    return names
