"""The errors that gradraker raises on purpose and that a caller may want to catch.

An error has the facts as fields, so that a caller can write a sentence of its own.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, dataclass_transform

from gradraker._fields import describe_fields


@dataclass_transform(eq_default=False)
class FieldError(Exception):
    """Base of errors whose facts are fields, as of a dataclass; workers can pickle them.

    ``message`` is the sentence, with names of fields in it. The annotation of a field describes it
    and is copied into the docstring.
    """

    message: ClassVar[str]

    def __init_subclass__(cls) -> None:
        dataclass(eq=False, repr=False)(cls)
        describe_fields(cls)

    def __post_init__(self) -> None:
        self.args = tuple(vars(self).values())  # from which pickle makes a copy

    def __str__(self) -> str:
        return self.message.format(**vars(self))


class ArgumentError(FieldError, ValueError):
    """An argument has a value that is not allowed.

    Examples
    --------
    >>> from gradraker.exceptions import ArgumentError
    >>> raise ArgumentError("n_epochs", "an integer of at least 1", 0)
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentError: n_epochs must be an integer of at least 1, got 0
    """

    argument: Annotated[str, "Name of the argument."]
    wanted: Annotated[str, "What the argument must be."]
    got: Annotated[object, "The value given."]

    def __str__(self) -> str:
        got = repr(self.got)
        shown = got if len(got) <= 80 else f"{got[:77]}..."
        return f"{self.argument} must be {self.wanted}, got {shown}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument has a type that is not allowed.

    Examples
    --------
    >>> from gradraker.exceptions import ArgumentTypeError
    >>> raise ArgumentTypeError("n_epochs", "an integer of at least 1", "many")
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentTypeError: n_epochs must be an integer of at least 1, got 'many'
    """


class ModelFileError(ValueError):
    """A file is not a complete model file that this version can read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gradraker
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.gr"
    >>> _ = path.write_text("not a model")
    >>> try:
    ...     gradraker.load(path)
    ... except gradraker.exceptions.ModelFileError as error:
    ...     print("model.gr" in str(error))
    True
    """


class ModelFileChangedError(FieldError, ValueError):
    """A model file is not the one that the model was loaded from or last saved to.

    Examples
    --------
    >>> from gradraker.exceptions import ModelFileChangedError
    >>> raise ModelFileChangedError("model.gr")
    Traceback (most recent call last):
    gradraker.exceptions.ModelFileChangedError: 'model.gr' was changed by another program since it
    was read: load it again, or save to another file
    """

    file: Annotated[str, "The file."]
    message = (
        "{file!r} was changed by another program since it was read: load it again, or "
        "save to another file"
    )


class PartlyWrittenError(OSError):
    """Some outputs replaced older files, and then one could not be moved to its place.

    Attributes
    ----------
    written : list of str
        Outputs that were written.
    unwritten : list of str
        Outputs that did not change.
    """

    def __init__(self, error: OSError, written: Sequence[str], unwritten: Sequence[str]) -> None:
        problem = (
            f"{error.strerror}; already written: {format_names(written)}; "
            f"not written: {format_names(unwritten)}"
        )
        super().__init__(error.errno, problem, unwritten[0])
        self.written, self.unwritten = list(written), list(unwritten)


class DatasetUnavailableError(OSError):
    """A file of a data set is missing and could not be downloaded."""


class DatasetFileError(ValueError):
    """A file of a data set exists, but is damaged or is another file."""


class SweepError(FieldError, ValueError):
    """A sweep cannot run on these nodes with these arguments.

    Examples
    --------
    >>> from gradraker.exceptions import SweepError
    >>> raise SweepError("all nodes have the same edges", {"fraction": "raise"})
    Traceback (most recent call last):
    gradraker.exceptions.SweepError: all nodes have the same edges: raise fraction
    """

    problem: Annotated[str, "What is wrong, without the name of an argument."]
    remedies: Annotated[dict[str, str], "Arguments that help, and what to do with each."]

    def __str__(self) -> str:
        remedies = (f"{action} {argument}" for argument, action in self.remedies.items())
        return f"{self.problem}: {', or '.join(remedies)}"


class SweepFileError(FieldError, ValueError):
    """A file does not hold the results of the requested sweep."""

    file: Annotated[str, "The file."]
    problem: Annotated[str, "What is wrong with it."]
    message = "{file!r} {problem}"


class UnknownFigureError(FieldError, ValueError):
    """A requested figure of the paper does not exist.

    Examples
    --------
    >>> from gradraker.exceptions import UnknownFigureError
    >>> raise UnknownFigureError("fig9", ("fig1", "fig2"))
    Traceback (most recent call last):
    gradraker.exceptions.UnknownFigureError: only: there is no 'fig9'; it must be some of fig1, fig2
    """

    name: Annotated[str, "The requested name."]
    known: Annotated[tuple[str, ...], "The names that exist."]

    def __str__(self) -> str:
        return f"only: there is no {self.name!r}; it must be some of {', '.join(self.known)}"


@dataclass(frozen=True)
class Place:
    """A place in a file: its name, line, row and column, each from 1, and the column's header.

    Examples
    --------
    >>> from gradraker.exceptions import Place
    >>> print(Place("edges.csv", line=3, column=2, header="weight"))
    edges.csv, line 3, column 2 (weight)
    """

    file: str
    line: int | None = None
    row: int | None = None
    column: int | None = None
    header: str | None = None

    def __str__(self) -> str:
        numbers = {"line": self.line, "row": self.row, "column": self.column}
        parts = [self.file, *(f"{kind} {n}" for kind, n in numbers.items() if n is not None)]
        has_header = self.column is not None and self.header is not None
        return ", ".join(parts) + (f" ({self.header})" if has_header else "")


class GraphFileError(ValueError):
    """A file of edges or values is malformed; the message names the place.

    Attributes
    ----------
    place : Place
        File, line and column.
    problem : str
        What is wrong there.

    Examples
    --------
    >>> from gradraker.exceptions import GraphFileError, Place
    >>> raise GraphFileError(Place("edges.csv", line=3, column=2), "'x' is not a number")
    Traceback (most recent call last):
    gradraker.exceptions.GraphFileError: edges.csv, line 3, column 2: 'x' is not a number
    """

    def __init__(self, place: Place | str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = Place(place) if isinstance(place, str) else place
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class UnclearTableError(GraphFileError):
    """A table can be read in more than one way.

    Besides the attributes of :class:`GraphFileError`, ``arguments`` names the arguments that
    choose between them, such as ``("source", "target")``.

    Examples
    --------
    >>> from gradraker.exceptions import Place, UnclearTableError
    >>> problem = "the columns are 'id', 'a', 'b', and the value could be 'a' or 'b'"
    >>> raise UnclearTableError(Place("known.csv"), problem, ("value",))
    Traceback (most recent call last):
    gradraker.exceptions.UnclearTableError: known.csv: the columns are 'id', 'a', 'b', and the value
        could be 'a' or 'b': pass value
    """

    def __init__(self, place: Place | str, problem: str, arguments: tuple[str, ...]) -> None:
        super().__init__(place, problem)
        self.args = (place, problem, arguments)
        self.arguments = arguments

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}: pass {' and '.join(self.arguments)}"


class UnknownNodesError(FieldError, ValueError):
    """Nodes were named that the graph does not have.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.exceptions import UnknownNodesError
    >>> try:
    ...     NodeRegressor().fit([("a", "b")], {"a": 1.0, "c": 2.0})
    ... except UnknownNodesError as error:
    ...     print("'c'" in str(error))
    True
    """

    argument: Annotated[str, "The argument that named them."]
    nodes: Annotated[list[Hashable], "Their names."]
    remedy: Annotated[str, "What a caller can do about it."]
    line: Annotated[int | None, "Line of the first one, if a text file named them."] = None

    def __str__(self) -> str:
        problem = "names that the graph does not have"
        if self.argument == "values":
            problem = "nodes that are not in the graph"
        return f"{self.argument} holds {problem}: {format_names(self.nodes)}; {self.remedy}"


class NotHeldError(FieldError, ValueError):
    """A model was told to forget a value, a node or an edge that it does not have."""

    argument: Annotated[str, "Which of values, nodes and edges named the node."]
    node: Annotated[Hashable, "Name of the node."]
    problem: Annotated[str, "What the node is not."]
    message = "{argument} holds {node!r}, which {problem}"


class TooFewValuesError(FieldError, ValueError):
    """Too few values are known to choose a setting from them."""

    got: Annotated[str, "The number of known values."]
    wanted: Annotated[str, "The number that is needed."]
    remedy: Annotated[str, "What a caller can do about it."]
    settings: Annotated[tuple[str, ...], "Arguments that help as well, if they are numbers."] = ()
    argument: ClassVar[str] = "values"  # that held the values

    def __str__(self) -> str:
        others = "".join(f", or {name} as a number" for name in self.settings)
        return f"values: {self.got}, {self.wanted}: {self.remedy}{others}"


class JournalError(FieldError, ValueError):
    """A journal of a live service cannot be opened or read.

    Examples
    --------
    >>> from gradraker.exceptions import JournalError
    >>> raise JournalError("live.db", "is a database of another program")
    Traceback (most recent call last):
    gradraker.exceptions.JournalError: journal 'live.db' is a database of another program
    """

    journal: Annotated[str, "The file, or the URL without its password."]
    problem: Annotated[str, "What is wrong with it."]
    message = "journal {journal!r} {problem}"


class LiveRequestError(FieldError, ValueError):
    """A live service refused a request."""

    status: Annotated[int, "Status of the answer, such as 422."]
    error: Annotated[str, "The service's message."]
    fields: Annotated[dict[str, str], "Fields of the request, and what is wrong with each."]
    message = "{error} (status {status})"


class NegativeWeightError(FieldError, ValueError):
    """A random walk needs nonnegative edge weights, and one is negative.

    Examples
    --------
    >>> from gradraker import adjacency_vectors
    >>> from gradraker.exceptions import NegativeWeightError
    >>> try:
    ...     adjacency_vectors([("a", "b", -1.0)], hops=2, hop_weights="random_walk")
    ... except NegativeWeightError as error:
    ...     print(error.weight)
    -1.0
    """

    weight: Annotated[float, "The smallest edge weight."]
    remedy: Annotated[str, "What a caller can do about it."]
    message = "a random walk needs weights of at least 0, got {weight:g}: {remedy}"


def format_names(names: Sequence[Hashable], *, most: int = 5) -> str:
    """List the first few names, for a message.

    Examples
    --------
    >>> format_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    listed = ", ".join(repr(name) for name in names[:most])
    return f"{listed} and {len(names) - most} more" if len(names) > most else listed


class NoDeviceError(FieldError, RuntimeError):
    """The requested device is not available; ``reason`` tells which part is missing."""

    reason: str
    message = "device='cuda' needs an NVIDIA GPU and CuPy, but {reason}; device='cpu' does without"


class DeviceWarning(UserWarning):
    """``device="auto"`` chose another device than a user may expect."""


class DeviceMemoryError(MemoryError, FieldError):
    """The memory of a device is too small for a graph; the model is as it was before.

    Attributes are ``device``, the size of the graph (``n_nodes``, ``n_entries``), and the bytes of
    ``free`` and ``total`` memory. For exact kernels, whose size is checked beforehand, ``n_known``
    is the number of known nodes and ``needed`` the bytes that their kernels take.
    """

    device: str
    n_nodes: int
    n_entries: int
    free: int
    total: int
    n_known: int = 0
    needed: int = 0

    def __str__(self) -> str:
        data, remedy = f"{self.n_nodes} nodes and {self.n_entries} entries of the graph", ""
        if self.needed:
            data = f"exact kernels of {self.n_known} known nodes ({self.needed / 1e9:.1f} GB)"
            remedy = "solver='operators' needs less, and "
        return (
            f"device={self.device!r} has too little memory for {data}: {self.free / 1e9:.1f} GB of "
            f"{self.total / 1e9:.1f} GB were free; {remedy}device='cpu' uses the machine's memory"
        )


class NoWorkerError(FieldError, TimeoutError):
    """A cluster had no worker for ``timeout`` seconds."""

    timeout: float
    message = "the cluster had no worker for {timeout:g} seconds: start one, or wait longer"
