"""States, which the learning process passes to the serving process.

A state is an anonymous file with the predictions of all nodes and the model. Its arrays are
memory-mapped, so that a state of hundreds of megabytes is loaded in milliseconds. Where the system
allows it, the file is in memory: states are frequent, and the disk is for the journal. Only the two
processes can access it, and it is removed when they end.
"""

import math
import mmap
import os
import pickle
import struct
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gradraker.models import NodeModel

DEFAULT_COVERAGE = 0.9
_ALIGNMENT = 64
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, eq=False)
class StateTable:
    """Predictions of all nodes after the change with the number ``seq``."""

    seq: int
    batch: int
    time: float
    names: list[str]
    has_integer_names: bool  # whether the model's own names are integers
    predictions: NDArray[Any] | None  # [n]: numbers or labels; None while no value is known
    is_known: NDArray[np.bool_]  # [n]
    values: list[Any]  # [n]: None where unknown
    has_intervals: bool
    intervals: NDArray[np.float64] | None  # [n, 2] at the default coverage, if that is quick
    classes: list[Any] | None
    probabilities: NDArray[np.float64] | None  # [n, K]
    facts: dict[str, Any]
    learned: list[dict[str, Any]]  # values of the last batch, and their predictions before

    @cached_property
    def positions(self) -> dict[str, int]:
        """Row of each node."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def label_kinds(self) -> tuple[type, ...]:
        """Types that a label may have: those of the known ones, since 3 and "3" look alike."""
        return tuple({type(label) for label in self.classes or ()}) or (str, int)


@dataclass(eq=False)
class State:
    """A table, and the model behind it, which is loaded when it is first needed."""

    table: StateTable
    read_model: "Callable[[], NodeModel]"

    @cached_property
    def model(self) -> "NodeModel":
        """The model, for the thread that predicts."""
        return self.read_model()

    @cached_property
    def second_model(self) -> "NodeModel":
        """A copy for the thread that explains, since a model must be used by one thread only."""
        return self.read_model()

    def to_name(self, text: str) -> Any:
        """Return the model's own name of a node."""
        return int(text) if self.table.has_integer_names else text


def is_integer_name(name: str) -> bool:
    """Return whether a text is a 64-bit integer in its canonical form."""
    digits = name.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
        return False
    return str(int(name)) == name and -(2**63) <= int(name) < 2**63


def open_state_file() -> BinaryIO:
    """Open an anonymous file."""
    if hasattr(os, "memfd_create"):  # Linux
        return os.fdopen(os.memfd_create("gradraker-state"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def write_state(file: BinaryIO, table: StateTable, model: "NodeModel") -> None:
    """Write a state to a file; the positions of its parts are written at the end."""
    places = []
    for content in (table, model):
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(content, protocol=5, buffer_callback=buffers.append)
        for raw in (memoryview(head), *(buffer.raw() for buffer in buffers)):
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            places.append((content is model, file.tell(), raw.nbytes))
            file.write(raw)
    end = file.tell()
    file.write(pickle.dumps(places) + _LENGTH.pack(end))
    file.flush()


def read_state(descriptor: int) -> State:
    """Memory-map a state, by the descriptor of its file."""
    # Copy on write: a model may cache what it computes when first needed.
    view = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY))
    (end,) = _LENGTH.unpack(view[-_LENGTH.size :])
    places = pickle.loads(view[end : -_LENGTH.size])

    def read_part(is_model: bool) -> Any:
        head, *buffers = (view[at : at + n] for of_model, at, n in places if of_model == is_model)
        return pickle.loads(head, buffers=buffers)

    return State(read_part(False), lambda: read_part(True))


def to_plain(value: Any) -> Any:
    """Return a value ready for JSON: no NumPy types, no NaN, no infinity."""
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
