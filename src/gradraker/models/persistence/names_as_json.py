"""Names of nodes and labels as JSON: every name is read back unchanged."""

from collections.abc import Hashable
from typing import Any

from gradraker.graph.names import to_plain_reference

_SAVABLE = (str, int, float, bytes, tuple)


def encode_name(name: Hashable) -> Any:
    """Return a reference name as JSON: strings and integers as they are, the rest tagged.

    Examples
    --------
    >>> from gradraker.models.persistence.names_as_json import decode_name, encode_name
    >>> encode_name(("Basel", 4001))
    {'tuple': ['Basel', 4001]}
    >>> decode_name({'tuple': ['Basel', 4001]})
    ('Basel', 4001)
    """
    if isinstance(name, tuple):
        return {"tuple": [encode_name(part) for part in name]}
    if isinstance(name, bytes):
        return {"bytes": name.hex()}
    if isinstance(name, float):
        return {"float": name.hex()}
    if isinstance(name, str) and any("\ud800" <= letter <= "\udfff" for letter in name):
        # JSON writes a pair of lone surrogates as it writes the character that they would make.
        return {"surrogates": name.encode("utf-8", "surrogatepass").hex()}
    return name


def decode_name(item: Any) -> Hashable:
    """Inverse of :func:`encode_name`."""
    match item:
        case str() | int():
            return item
        case {"tuple": list(parts)}:
            return tuple(decode_name(part) for part in parts)
        case {"bytes": str(content)}:
            return bytes.fromhex(content)
        case {"float": str(content)}:
            return float.fromhex(content)
        case {"surrogates": str(content)}:
            return bytes.fromhex(content).decode("utf-8", "surrogatepass")
    raise ValueError(f"{item!r} is not a reference name")


def check_savable(kind: str, name: Any) -> Any:
    """Return a name as JSON, or raise if a model file cannot hold it."""
    plain = to_plain_reference(name)
    if not isinstance(plain, _SAVABLE):
        raise TypeError(
            f"the {kind} {name!r} is of type {type(name).__name__}, which a model file cannot "
            "hold: use strings, numbers, bytes or tuples of these"
        )
    return encode_name(plain)


def stringify_unsavable(name: Any) -> Any:
    """Return a name that a file can hold; others, such as time stamps, become texts."""
    if isinstance(name, tuple):
        return tuple(stringify_unsavable(part) for part in name)
    plain = to_plain_reference(name)
    return plain if isinstance(plain, _SAVABLE) else str(name)
