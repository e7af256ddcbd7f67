"""States: what the learning process hands to the process that answers.

A state is a file without a name: predictions of all nodes, and the model itself. Arrays lie side by
side in it and are mapped into memory, so that a state of hundreds of megabytes is taken over in
milliseconds. Where the system allows it, the file is in memory: states come often, and the disk is
for the journal. Only the two processes can reach it, and it goes with them.
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

USUAL_COVERAGE = 0.9
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
    intervals: NDArray[np.float64] | None  # [n, 2] at the usual coverage, where that is quick
    classes: list[Any] | None
    probabilities: NDArray[np.float64] | None  # [n, K]
    facts: dict[str, Any]
    learned: list[dict[str, Any]]  # values of the last batch, and what was predicted before

    @cached_property
    def positions(self) -> dict[str, int]:
        """Row of each node."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def label_kinds(self) -> tuple[type, ...]:
        """Types that a label may have: those of the known ones, as 3 and "3" read alike."""
        return tuple({type(one) for one in self.classes or ()}) or (str, int)


@dataclass(eq=False)
class State:
    """A table, and the model behind it, which is made when it is first needed."""

    table: StateTable
    read_model: "Callable[[], NodeModel]"

    @cached_property
    def model(self) -> "NodeModel":
        """The model, for the thread that predicts."""
        return self.read_model()

    @cached_property
    def second_model(self) -> "NodeModel":
        """The same model, for the thread that explains: a model is used by one thread."""
        return self.read_model()

    def to_name(self, text: str) -> Any:
        """Return the model's own name of a node."""
        return int(text) if self.table.has_integer_names else text


def is_integer_name(name: str) -> bool:
    """Return whether a text is an integer as NumPy holds it, written in one way only."""
    digits = name.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 19):
        return False
    return str(int(name)) == name and -(2**63) <= int(name) < 2**63


def open_state_file() -> BinaryIO:
    """Open a file that has no name."""
    if hasattr(os, "memfd_create"):  # Linux
        return os.fdopen(os.memfd_create("gradraker-state"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def write_state(file: BinaryIO, table: StateTable, model: "NodeModel") -> None:
    """Write a state to a file; where its parts are is written at the end."""
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
    """Map a state into memory, by the descriptor of its file."""
    # Changes stay in this process: a model may fill in what it computes when first needed.
    view = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY))
    (end,) = _LENGTH.unpack(view[-_LENGTH.size :])
    places = pickle.loads(view[end : -_LENGTH.size])

    def read_part(is_model: bool) -> Any:
        head, *buffers = (view[at : at + n] for of_model, at, n in places if of_model == is_model)
        return pickle.loads(head, buffers=buffers)

    return State(read_part(False), lambda: read_part(True))


def to_plain(value: Any) -> Any:
    """Return what JSON can hold: no NumPy, no NaN, no infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.live.learning.states import to_plain
    >>> to_plain({"a": np.float64(1.5), "b": (np.inf, np.int64(2))})
    {'a': 1.5, 'b': [None, 2]}
    """
    if isinstance(value, dict):
        return {str(key): to_plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
