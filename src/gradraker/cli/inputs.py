"""Read the input files of commands. Node names are texts, as in the files."""

import os
import shlex
import warnings
from collections.abc import Hashable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker import _files
from gradraker._columns import ColumnNumber
from gradraker.cli.output import StatusLine
from gradraker.exceptions import (
    DeviceWarning,
    NegativeWeightError,
    NotHeldError,
    TooFewValuesError,
    UnclearTableError,
    UnknownNodesError,
    format_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradraker.graph import EdgeList
    from gradraker.graph.edges import Reading
    from gradraker.graph.values import NodeValues
    from gradraker.models import NodeModel

STANDARD_STREAM = "-"


Files = Mapping[str, str | None]  # names of options, and the files that they name


def check_files(inputs: Files, outputs: Files, *, as_json: bool = False) -> None:
    """Refuse files that cannot be combined or written, before any work.

    Standard input and output can be used once each; no two outputs share a file, and no output
    overwrites an input.
    """
    check_streams(inputs)
    check_streams(dict(outputs) | {"json": "-" if as_json else None})
    check_distinct(inputs, outputs)
    check_writable(outputs)


def check_streams(files: Files) -> None:
    """Refuse to use standard input or output twice."""
    used = [f"--{name}" for name, file in files.items() if file == STANDARD_STREAM]
    if len(used) > 1:
        raise click.UsageError(f"only one of {' and '.join(used)} can use a standard stream")


def check_distinct(inputs: Files, outputs: Files) -> None:
    """Refuse to write two outputs to one file, or an output over an input."""
    used: dict[str, str] = {}
    for names, may_share in ((inputs, True), (outputs, False)):
        for name, file in names.items():
            if file is None or file == STANDARD_STREAM:
                continue
            path = os.path.realpath(file)
            option = f"--{name}"
            if path in used and not may_share:
                raise click.UsageError(f"{used[path]} and {option} name the same file, {file!r}")
            used.setdefault(path, option)


def check_writable(outputs: Files) -> None:
    """Refuse files that cannot be written, before any work."""
    _files.check_writable([path for path in outputs.values() if path not in (None, "-")])


@dataclass(frozen=True)
class FileOptions:
    """How files of edges and values are read; None where that is found from the file."""

    source: Hashable = None
    target: Hashable = None
    weight: Hashable = None
    node: Hashable = None
    value: Any = None  # a list names the columns of several targets
    header: bool | None = None
    values_header: bool | None = None
    directed: bool | None = None
    task: Any = None


def take_file_options(options: dict[str, Any], *, task: str | None = None) -> FileOptions:
    """Remove the options of files from those of a command, and return them."""
    names = [field.name for field in fields(FileOptions)]
    given = {name: options.pop(name) for name in names if name in options}
    if options.get("unweighted"):
        if given["weight"] is not None:
            raise click.UsageError("--weight and --unweighted exclude each other")
        given["weight"] = False
    return FileOptions(**({"task": task} | given))


def read_edges_file(path: str, status: StatusLine, how: FileOptions) -> "EdgeList":
    """Read edges; names become text, so that 7 is the same node in every file and model."""
    import numpy as np

    status.set_file(_label(path))
    columns: Any = {"source": how.source, "target": how.target, "weight": how.weight}
    with _name_options("header"):
        edges: EdgeList = gradraker.read_edges(
            path, **columns, header=how.header, progress=status.show_progress
        )
    _print_reading(path, edges.reading, status)
    if edges.references is not None:
        raise click.ClickException(
            f"{_label(path)}: the matrix is {len(edges.nodes)} × {len(edges.references)}, but a "
            "graph has a square one"
        )
    # Readers convert names to integers only if that can be undone exactly.
    texts = np.fromiter(map(str, edges.nodes.tolist()), dtype=object, count=len(edges.nodes))
    if how.directed is None and edges.directed and not has_reverse_edges(edges):
        status.print_note(
            f"{_label(path)}: no edge has its reverse, so the graph is taken as directed; pass "
            "--undirected if each edge counts both ways, or --directed if not"
        )
    return replace(edges, nodes=texts)


def has_reverse_edges(edges: "EdgeList") -> bool:
    """Whether an edge is listed in both directions; self loops do not count."""
    import numpy as np

    plain = edges.source != edges.target
    source, target = edges.source[plain].astype(np.int64), edges.target[plain].astype(np.int64)
    n = len(edges.nodes)
    return bool(np.isin(source * n + target, target * n + source).any())


def read_values_file(path: str, status: StatusLine, how: FileOptions) -> "NodeValues":
    """Read known values, by the name of the node."""
    status.set_file(_label(path))
    header = how.header if how.values_header is None else how.values_header
    columns: Any = {"node": how.node, "value": how.value, "task": how.task}
    with _name_options("values-header"):
        values = gradraker.read_values(
            path, **columns, header=header, progress=status.show_progress
        )
    _print_reading(path, values.reading, status)
    return values.rename(str)


def _print_reading(path: str, reading: "Reading | None", status: StatusLine) -> None:
    """Print how a table was read, if that is not obvious."""
    if reading is not None and not reading.is_plain:
        status.print_note(f"{_label(path)}: {reading}")


def read_weights(path: str, status: StatusLine, how: FileOptions) -> dict[Any, float] | None:
    """Read sample weights from a column of values, which ``how`` names; None without one."""
    if how.value is None:
        return None
    if path == "-":
        raise click.UsageError("--sample-weight needs --values to be a file, not '-'")
    column = read_values_file(path, status, replace(how, task="values"))
    return {node: weight for node, weight in column.items() if weight == weight}


def read_attributes_table(path: str | None, status: StatusLine) -> Any:
    """Read attributes of nodes, whose names are texts; None without a file."""
    if path is None:
        return None
    from gradraker.attributes.reading import read_attributes_file

    status.set_file(_label(path))
    return read_attributes_file(path, progress=status.show_progress)


def print_attributes(path: str | None, model: "NodeModel", status: StatusLine) -> None:
    """Print how attributes were read."""
    if path is not None and model.attributes_ is not None:
        status.print_note(f"{_label(path)}: {model.attributes_.format_kinds()}")


def check_starting_point(options: Mapping[str, Any], *ways: str) -> list[str]:
    """Refuse two starting points, or edges without values; return the given option."""
    given = [f"--{name}" for name in ways if options[name]]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} cannot be given together")
    for name, other in (("values", "edges"), ("edges", "values")):
        if options[name] and not options[other]:
            raise click.UsageError(f"--{name} needs --{other}")
    return given


def make_model(
    options: Mapping[str, Any], how: FileOptions, status: StatusLine
) -> "NodeModel | None":
    """Load the node model of --model, or fit one to --edges, --values and --attributes."""
    if options["model"]:
        return load_one_target(options["model"], how.value, status)
    if not options["edges"]:
        return None
    attributes = read_attributes_table(options["attributes"], status)
    graph = read_edges_file(options["edges"], status, how)
    values = read_values_file(options["values"], status, how)
    kind = gradraker.NodeClassifier if values.task == "classes" else gradraker.NodeRegressor
    model = kind()
    with watch_training(options["values"], status, isolated=False):
        model.fit(graph, values, attributes=attributes, directed=how.directed)
    print_attributes(options["attributes"], model, status)
    return model


@contextmanager
def watch_training(
    values: str | None, status: StatusLine, *, isolated: bool = True
) -> "Iterator[None]":
    """Show the progress of training, and reword errors and warnings for users of commands."""
    status.show_stage("training")
    with (
        reword_errors(values, isolated=isolated),
        print_warnings(status),
        gradraker.models.watch_progress(status.show_progress),
    ):
        yield


@contextmanager
def print_warnings(status: StatusLine) -> "Iterator[None]":
    """Print warnings about attributes and devices as one sentence, without source code."""
    from gradraker.attributes import AttributeWarning

    printed = (AttributeWarning, DeviceWarning)
    with warnings.catch_warnings(record=True) as caught:
        for category in printed:
            warnings.simplefilter("always", category)
        yield
    for warning in caught:
        if issubclass(warning.category, printed):
            status.print_note(f"warning: {warning.message}")
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


@contextmanager
def _name_options(header: str) -> "Iterator[None]":
    """Reword errors about columns to name options instead of arguments."""
    try:
        yield
    except UnclearTableError as error:
        options = {
            "header": f"--{header} or --no-{header}",
            "weight": "--weight COLUMN, or --unweighted",
            "task='classes'": "--task classes",
        }
        named = [options.get(name, f"--{name}") for name in error.arguments]
        remedy = f"pass {' and '.join(named)}"
        raise ValueError(f"{error.place}: {error.problem}: {remedy}") from error


def load_one_target(path: str, value: Hashable, status: StatusLine) -> "NodeModel":
    """Load a model for a page or service of one target; --value names one of several."""
    from gradraker.models.loading import load_node_model

    status.show_stage("reading the model")
    model = load_node_model(path)
    wanted = value.text if isinstance(value, ColumnNumber) else value
    names = {str(name): name for name in model.target_names_}
    if not names and wanted is not None:
        raise click.UsageError(f"--value is not needed: {path!r} holds a model of one target")
    if not names:
        return model
    if wanted not in names:
        problem = "" if wanted is None else f", and none of them is {wanted!r}"
        raise click.UsageError(
            f"{path!r} holds a model of the targets {', '.join(names)}{problem}: pass --value with "
            f"one of them, such as --value {shlex.quote(next(iter(names)))}"
        )
    status.show_stage("training")
    return model.select_target(names[wanted])


def _label(path: str) -> str:
    return "standard input" if path == STANDARD_STREAM else Path(path).name


@contextmanager
def reword_errors(values: str | None, *, isolated: bool = False) -> "Iterator[None]":
    """Reword errors of the library to name files and options instead of arguments.

    ``values`` is the file of values; ``isolated`` is whether the command accepts isolated nodes.
    """
    file = "values" if values is None else _label(values)
    try:
        yield
    except UnknownNodesError as error:
        if error.argument == "attributes":
            raise ValueError(
                f"--attributes names nodes without edges: {format_names(error.nodes)}; pass "
                "--unknown-nodes ignore to leave them out, or isolated to keep them"
            ) from error
        if error.argument != "values":
            raise
        remedy = "pass --unknown-nodes ignore to leave them out"
        remedy += ", or isolated to keep them" if isolated else ""
        message = f"{file} holds nodes without edges: {format_names(error.nodes)}; {remedy}"
        line = "" if error.line is None else f" (line {error.line})"
        raise ValueError(f"{message}{line}") from error
    except TooFewValuesError as error:
        others = "".join(f", or --{name} NUMBER" for name in error.settings)
        raise ValueError(f"{file}: {error.got}, {error.wanted}: {error.remedy}{others}") from error
    except NotHeldError as error:
        option = f"--forget-{error.argument.removesuffix('s')}"
        raise ValueError(f"{option}: {error.node!r} {error.problem}") from error
    except NegativeWeightError as error:
        raise ValueError(
            f"a random walk needs weights of at least 0, got {error.weight:g}: pass --unweighted, "
            "or count walks in another way"
        ) from error


def to_graph_options(options: Mapping[str, Any], how: FileOptions) -> dict[str, Any]:
    """Return the options of a graph that all models take."""
    weight = False if options["unweighted"] else None
    return {"weight": weight, "self_loops": options["self_loops"], "directed": how.directed}


def to_vector_options(options: Mapping[str, Any], how: FileOptions) -> dict[str, Any]:
    """Return the options of ``adjacency_vectors``."""
    names = ("hops", "hop_weights")
    return {
        "direction": options["direction"] or "out",
        **to_graph_options(options, how),
        **{name: options[name] for name in names},
    }


def to_learner_options(options: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Return the settings that all commands of the paper's learner share, and ``more``."""
    names = ("kernel", "n_frequencies", "learning_rate", "n_epochs", "random_state", *more)
    return {name: options[name] for name in names}
