"""Independent pieces of one fit, which other processes may do: a cluster says how."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

# What a piece needs beside itself is shared by all pieces.
Task = Callable[[Any, Any], Any]
Mapper = Callable[[Task, Any, Sequence[Any]], list[Any]]
_MAPPER: ContextVar[Mapper | None] = ContextVar("mapper", default=None)


@contextmanager
def use_mapper(mapper: Mapper) -> Iterator[None]:
    """Give pieces of fits in a ``with`` block to ``mapper``, which returns results in order."""
    token = _MAPPER.set(mapper)
    try:
        yield
    finally:
        _MAPPER.reset(token)


def is_spread() -> bool:
    """Whether pieces go elsewhere, so that it pays to try more of them at once."""
    return _MAPPER.get() is not None


def map_pieces(task: Task, shared: Any, pieces: Sequence[Any]) -> list[Any]:
    """Return ``task(shared, piece)`` of each piece; several may be done elsewhere.

    Examples
    --------
    >>> from gradraker.features.spreading import map_pieces
    >>> map_pieces(lambda shared, piece: shared * piece, 10, [1, 2])
    [10, 20]
    """
    mapper = _MAPPER.get()
    if mapper is None or len(pieces) < 2:
        return [task(shared, piece) for piece in pieces]
    return mapper(task, shared, pieces)
