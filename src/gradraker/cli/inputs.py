"""Read what a command is given. Nodes are named by text, as they are in the files."""

import os
from collections.abc import Hashable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.progress import Waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradraker.graph import EdgeList

STANDARD_STREAM = "-"


def check_streams(**files: str | None) -> None:
    """Refuse to read two inputs from standard input, or to write two outputs to standard output.

    Keyword arguments are options and the files that they name.
    """
    used = [f"--{name.replace('_', '-')}" for name, file in files.items() if file == "-"]
    if len(used) > 1:
        raise click.UsageError(f"only one of {' and '.join(used)} can use a standard stream")


def check_distinct(inputs: Mapping[str, str | None], outputs: Mapping[str, str | None]) -> None:
    """Refuse to write two outputs to one file, or an output over an input."""
    taken: dict[str, str] = {}
    for names, may_share in ((inputs, True), (outputs, False)):
        for name, file in names.items():
            if file is None or file == STANDARD_STREAM:
                continue
            path = os.path.realpath(file)
            option = f"--{name}"
            if path in taken and not may_share:
                raise click.UsageError(f"{taken[path]} and {option} name the same file, {file!r}")
            taken.setdefault(path, option)


def read_edges_file(path: str, waiting: Waiting) -> "EdgeList":
    """Read edges; names become text, so that 7 is the same node in every file and model."""
    import numpy as np

    from gradraker.io.readers import read_edges

    waiting.file(_label(path))
    edges = read_edges(path, progress=waiting.read)
    if edges.references is not None:
        raise click.ClickException(
            f"{_label(path)}: the matrix is {len(edges.nodes)} × {len(edges.references)}, but a "
            "graph has a square one"
        )
    # Readers make integers of names only where the text can be had back exactly.
    texts = np.fromiter(map(str, edges.nodes.tolist()), dtype=object, count=len(edges.nodes))
    return replace(edges, nodes=texts)


def read_values_file(path: str, waiting: Waiting) -> dict[Hashable, float]:
    """Read known values, by the name of the node."""
    from gradraker.io.readers import read_values

    waiting.file(_label(path))
    values = read_values(path, progress=waiting.read)
    return {str(node): value for node, value in values.items()}


def _label(path: str) -> str:
    return "standard input" if path == STANDARD_STREAM else Path(path).name


@contextmanager
def in_words_of_the_command_line(values: str, *, isolated: bool = False) -> "Iterator[None]":
    """Let errors of the library name files and options instead of arguments.

    ``values`` is the file of values; ``isolated`` says that the command takes nodes without edges.
    """
    try:
        yield
    except ValueError as error:
        message = str(error)
        changes = {
            "values holds nodes that are not there": f"{_label(values)} holds nodes without edges",
            "values holds nodes that are not in the graph": f"{_label(values)} holds nodes "
            "without edges",
            ", or 'isolated' to take them for nodes without edges": "",
            "pass unknown_nodes='ignore' to leave them out": "pass --unknown-nodes ignore to leave "
            "them out" + (", or isolated to keep them" if isolated else ""),
            "values: ": f"{_label(values)}: ",
            "sigma2 as a number": "--sigma2 NUMBER",
            "pass weight=False to ignore weights": "pass --unweighted",
        }
        for words, other in changes.items():
            message = message.replace(words, other)
        if message == str(error):
            raise
        line = _line_of_node(values, message)
        raise ValueError(message if line is None else f"{message} (line {line})") from error


def _line_of_node(path: str, message: str) -> int | None:
    """Line of the first node that a message quotes, in a plain text file; None if not found."""
    if path == STANDARD_STREAM or "holds nodes without edges: '" not in message:
        return None
    name = message.split("holds nodes without edges: '", 1)[1].split("'", 1)[0]
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.lstrip(' "').startswith(name):
                    return number
    except (OSError, UnicodeDecodeError):  # compressed or Parquet: there are no lines to name
        pass
    return None


# The options that say how edges describe a node, by the name of the parameter.
VECTOR_OPTIONS = ("direction", "self_loops", "unweighted", "hops", "hop_weights")


def vector_settings(
    *, direction: str | None, self_loops: str, unweighted: bool, hops: int, hop_weights: str
) -> dict[str, Any]:
    """Arguments of ``adjacency_vectors`` from options; a model file keeps them as notes."""
    return {
        "direction": direction or "out",
        "weight": False if unweighted else None,
        "self_loops": self_loops,
        "hops": hops,
        "hop_weights": hop_weights,
    }
