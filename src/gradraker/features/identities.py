"""Identities of referencing nodes: hashes of names that are the same on every machine."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from hashlib import blake2b
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

_MODULUS = 1 << 64


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
    name = to_plain_name(name)
    if isinstance(name, int) or (isinstance(name, float) and name.is_integer()):
        number = int(name)
        if -(_MODULUS >> 1) <= number < _MODULUS >> 1:
            return number % _MODULUS
    return int.from_bytes(blake2b(_encode(name), digest_size=8).digest(), "little")


def to_plain_name(name: Hashable) -> Hashable:
    """Return a name with NumPy numbers and strings as Python types, in tuples as well."""
    if isinstance(name, np.number | np.str_ | np.bytes_ | np.bool_):
        return cast(Hashable, name.item())
    return tuple(map(to_plain_name, name)) if isinstance(name, tuple) else name


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
    >>> from gradraker.features.identities import check_references
    >>> check_references(["a", "b", "a"], 3)
    Traceback (most recent call last):
    ValueError: references must not repeat a name, got 'a' more than once
    """
    unordered = isinstance(references, str | bytes | Set | Mapping)
    if unordered or not hasattr(references, "__len__"):
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
