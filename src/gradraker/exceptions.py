"""The errors that gradraker raises on purpose and that a caller may want to catch.

An error has the facts as fields, so that a caller can write a sentence of its own.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, dataclass_transform


@dataclass_transform(eq_default=False)
class FieldError(Exception):
    """Base of errors whose facts are fields, as of a dataclass; workers can pickle them.

    ``message`` is the sentence, with names of fields in it.
    """

    message: ClassVar[str]

    def __init_subclass__(cls) -> None:
        dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        self.args = tuple(vars(self).values())  # what a copy is made from

    def __str__(self) -> str:
        return self.message.format(**vars(self))


class ArgumentError(FieldError, ValueError):
    """An argument has a value that will not do.

    Attributes
    ----------
    argument : str
        Name of the argument.
    wanted : str
        What the argument must be.
    got : object
        The value given.

    Examples
    --------
    >>> from gradraker.exceptions import ArgumentError
    >>> raise ArgumentError("n_epochs", "an integer of at least 1", 0)
    Traceback (most recent call last):
    gradraker.exceptions.ArgumentError: n_epochs must be an integer of at least 1, got 0
    """

    argument: str
    wanted: str
    got: object

    def __str__(self) -> str:
        got = repr(self.got)
        got = got if len(got) <= 80 else f"{got[:77]}..."
        return f"{self.argument} must be {self.wanted}, got {got}"


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a kind that will not do.

    Examples
    --------
    >>> from gradraker import SKGRegressor
    >>> from gradraker.exceptions import ArgumentTypeError
    >>> try:
    ...     SKGRegressor(n_frequencies="many").fit([[1.0], [0.0]], [1.0, 2.0])
    ... except (ArgumentTypeError, ValueError) as error:
    ...     print("n_frequencies" in str(error))
    True
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

    Attributes
    ----------
    file : str
        The file.

    Examples
    --------
    >>> from gradraker.exceptions import ModelFileChangedError
    >>> raise ModelFileChangedError("model.gr")
    Traceback (most recent call last):
    gradraker.exceptions.ModelFileChangedError: 'model.gr' was changed by another program since it
    was read: load it again, or save to another file
    """

    file: str
    message = (
        "{file!r} was changed by another program since it was read: load it again, or "
        "save to another file"
    )


class PartlyWrittenError(OSError):
    """Some outputs replaced older files, and then one could not be moved to its place.

    Attributes
    ----------
    written : list of str
        Outputs that are new.
    unwritten : list of str
        Outputs that are as they were.
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

    Attributes
    ----------
    problem : str
        What is wrong, without the name of an argument.
    remedies : dict of str to str
        Arguments that help, and what to do with each.

    Examples
    --------
    >>> from gradraker.exceptions import SweepError
    >>> raise SweepError("all nodes have the same edges", {"fraction": "raise"})
    Traceback (most recent call last):
    gradraker.exceptions.SweepError: all nodes have the same edges: raise fraction
    """

    problem: str
    remedies: dict[str, str]

    def __str__(self) -> str:
        remedies = (f"{action} {argument}" for argument, action in self.remedies.items())
        return f"{self.problem}: {', or '.join(remedies)}"


class SweepFileError(FieldError, ValueError):
    """A file does not hold the results of the sweep that is asked for.

    Attributes
    ----------
    file : str
        The file.
    problem : str
        What is wrong with it.
    """

    file: str
    problem: str
    message = "{file!r} {problem}"


class UnknownFigureError(FieldError, ValueError):
    """A figure of the paper was asked for by a name that it does not have.

    Attributes
    ----------
    name : str
        The name asked for.
    known : tuple of str
        The names that exist.

    Examples
    --------
    >>> from gradraker.exceptions import UnknownFigureError
    >>> from gradraker.paper import choose_parts
    >>> try:
    ...     choose_parts(["fig99"])
    ... except UnknownFigureError as error:
    ...     print("fig99" in str(error))
    True
    """

    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"only: there is no {self.name!r}; it must be some of {', '.join(self.known)}"


@dataclass(frozen=True)
class Place:
    """Where in a file something is: name, line from 1, row from 1, column from 1, its header.

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
        parts = [self.file]
        parts += [f"line {self.line}"] if self.line is not None else []
        parts += [f"row {self.row}"] if self.row is not None else []
        if self.column is not None:
            header = f" ({self.header})" if self.header is not None else ""
            parts.append(f"column {self.column}{header}")
        return ", ".join(parts)


class GraphFileError(ValueError):
    """A file of edges or values is not what it should be; the message names the place.

    Attributes
    ----------
    place : Place
        File, line and column.
    problem : str
        What is wrong there.

    Examples
    --------
    >>> from gradraker.exceptions import GraphFileError, Place
    >>> raise GraphFileError(Place("edges.csv", line=3, column=2), "'x' is no number")
    Traceback (most recent call last):
    gradraker.exceptions.GraphFileError: edges.csv, line 3, column 2: 'x' is no number
    """

    def __init__(self, place: Place | str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = Place(place) if isinstance(place, str) else place
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class UnclearTableError(GraphFileError):
    """A table can be read in more than one way, and nothing tells which one is meant.

    Attributes
    ----------
    place : Place
        The file and perhaps the line, or the table.
    problem : str
        What is unclear.
    arguments : tuple of str
        Arguments that settle it, such as ``("source", "target")``.

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

    Attributes
    ----------
    argument : str
        The argument that named them.
    nodes : list
        Their names.
    remedy : str
        What a caller can do about it.

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

    argument: str
    nodes: list[Hashable]
    remedy: str

    def __str__(self) -> str:
        what = (
            "nodes that are not in the graph"
            if self.argument == "values"
            else "names that the graph does not have"
        )
        return f"{self.argument} holds {what}: {format_names(self.nodes)}; {self.remedy}"


class TooFewValuesError(FieldError, ValueError):
    """Too few values are known for what is to be chosen from them.

    Attributes
    ----------
    got : str
        What is known.
    wanted : str
        What is needed.
    remedy : str
        What a caller can do about it.
    argument : str
        The argument that held the values.
    """

    got: str
    wanted: str
    remedy: str
    argument: ClassVar[str] = "values"
    message = "values: {got}, {wanted}: {remedy}"


class JournalError(FieldError, ValueError):
    """A journal of a live service cannot be opened or read.

    Attributes
    ----------
    journal : str
        The file, or the URL without its password.
    problem : str
        What is wrong with it.

    Examples
    --------
    >>> from gradraker.exceptions import JournalError
    >>> raise JournalError("live.db", "is a database of another program")
    Traceback (most recent call last):
    gradraker.exceptions.JournalError: journal 'live.db' is a database of another program
    """

    journal: str
    problem: str
    message = "journal {journal!r} {problem}"


class LiveRequestError(FieldError, ValueError):
    """A live service refused a request.

    Attributes
    ----------
    status : int
        Status of the answer, such as 422.
    error : str
        What the service says.
    fields : dict of str to str
        Fields of the request, and what is wrong with each.
    """

    status: int
    error: str
    fields: dict[str, str]
    message = "{error} (status {status})"


class NegativeWeightError(FieldError, ValueError):
    """A random walk was asked for, and an edge weight is negative.

    Attributes
    ----------
    weight : float
        The smallest edge weight.
    remedy : str
        What a caller can do about it.

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

    weight: float
    remedy: str
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
    """A device was asked for that this machine does not have; ``reason`` says what is missing."""

    reason: str
    message = "device='cuda' needs an NVIDIA GPU and CuPy, but {reason}; device='cpu' does without"


class DeviceWarning(UserWarning):
    """``device="auto"`` took another device than a user may expect."""


class DeviceMemoryError(MemoryError, FieldError):
    """The memory of a device is too small for a graph; the model is as it was before.

    Attributes are ``device``, the size of the graph (``n_nodes``, ``n_entries``), and the bytes of
    memory that were ``free`` and in ``total``. Of exact kernels, which are checked beforehand,
    ``n_known`` is the number of known nodes and ``needed`` the bytes that they take.
    """

    device: str
    n_nodes: int
    n_entries: int
    free: int
    total: int
    n_known: int = 0
    needed: int = 0

    def __str__(self) -> str:
        what, instead = f"{self.n_nodes} nodes and {self.n_entries} entries of the graph", ""
        if self.needed:
            what = f"exact kernels of {self.n_known} known nodes ({self.needed / 1e9:.1f} GB)"
            instead = "solver='operators' needs less, and "
        return (
            f"device={self.device!r} has too little memory for {what}: {self.free / 1e9:.1f} GB of "
            f"{self.total / 1e9:.1f} GB were free; {instead}device='cpu' uses the machine's memory"
        )


class NoWorkerError(FieldError, TimeoutError):
    """A cluster had no worker for so many seconds (``timeout``)."""

    timeout: float
    message = "the cluster had no worker for {timeout:g} seconds: start one, or wait longer"
