"""Readers: a file in, edges or values out."""

import os
from collections.abc import Hashable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_choice
from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters.columns import EdgeColumns, ValueColumns
from gradraker.graph.edges import EdgeList
from gradraker.graph.names import Names, to_plain_name
from gradraker.graph.values import find_two_values
from gradraker.io.columns import FileColumns, number_names
from gradraker.io.content import Progress, ignore_progress
from gradraker.io.formats import FORMATS, open_file
from gradraker.io.text.layout import TextOptions

Ids = Literal["auto", "text"]


def read_edges(
    path: str | os.PathLike[str],
    *,
    format: Literal["text", "parquet", "matrix-market", "graphml"] | None = None,  # noqa: A002
    source: Hashable = None,
    target: Hashable = None,
    weight: Hashable = None,
    separator: str | None = None,
    comment: str | None = "#",
    header: bool | None = None,
    ids: Ids = "auto",
    progress: Progress | None = None,
) -> EdgeList:
    r"""Read the edges of a graph from a file.

    Parameters
    ----------
    path : path or "-"
        A file, compressed with gzip or not; "-" is standard input.
    format : {"text", "parquet", "matrix-market", "graphml"}, optional
        Default: recognised by the content.
    source, target : name or position of a column, optional
        Default: the columns called source and target, or else the first two.
    weight : None, False, or name or position of a column
        None takes the column called weight, or the third of exactly three columns if edges
        are the first two; False reads no weights. Weights must be finite; negative ones are
        allowed. In GraphML a name is that of an edge attribute.
    separator : str, optional
        One character, " " for any run of blanks and tabs. Default: tab, comma or semicolon if
        the first line holds one, else blanks.
    comment : str or None
        Lines that begin with it are skipped.
    header : bool, optional
        Whether the first line names the columns. Default: it does if it says so (source and
        target, from and to, ...), if its weight is not a number, or if it holds no numbers
        and the next line holds two.
    ids : {"auto", "text"}
        With "auto", nodes are integers if all are 64-bit integers without plus sign or
        leading zeros, so that nothing is lost; with "text" they are always strings.
    progress : callable, optional
        Called with (stage, done, total) while reading.

    Returns
    -------
    EdgeList

    Raises
    ------
    GraphFileError
        If the file cannot be read as edges; the message names file, line and column.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gradraker import adjacency_vectors, read_edges
    >>> path = pathlib.Path(tempfile.mkdtemp(), "links.csv")
    >>> _ = path.write_text("source,target,weight\na,b,2\na,c,0.5\n")
    >>> edges = read_edges(path)
    >>> edges
    EdgeList(2 weighted edges among 3 nodes)
    >>> adjacency_vectors(edges, nodes=["a"]).rows.toarray()
    array([[0. , 2. , 0.5]])
    """
    check_choice("ids", ids, ("auto", "text"))
    named = any(isinstance(name, str) for name in (source, target, weight))
    options = TextOptions(separator, comment, True if header is None and named else header)
    report = progress or ignore_progress
    content, name = open_file(path, format, report)
    read_graph, read_columns = FORMATS[name].read_graph, FORMATS[name].read_columns
    if read_graph is not None:
        return read_graph(content, weight, report)
    assert read_columns is not None
    found = read_columns(content, EdgeColumns(source, target, weight), options, report)
    nodes, (sources, targets) = number_names(found.names, ids)
    return EdgeList(sources, targets, found.numbers, nodes)


def read_values(
    path: str | os.PathLike[str],
    *,
    format: Literal["text", "parquet"] | None = None,  # noqa: A002
    node: Hashable = None,
    value: Hashable = None,
    separator: str | None = None,
    comment: str | None = "#",
    header: bool | None = None,
    ids: Ids = "auto",
    progress: Progress | None = None,
) -> dict[Hashable, float]:
    r"""Read known values of nodes from a file.

    An empty value, NA, NaN, null or none means that the value is unknown: it is NaN in the
    result. A node may be given twice with the same value, but not with two.

    Parameters
    ----------
    path : path or "-"
        A text table or a Parquet file, compressed with gzip or not; "-" is standard input.
    format : {"text", "parquet"}, optional
        Default: recognised by the content.
    node, value : name or position of a column, optional
        Default: the columns called node and value, or else the first two.
    separator, comment, ids, progress
        As in :func:`read_edges`.
    header : bool, optional
        Whether the first line names the columns. Default: it does if it names columns node and
        value, or if its value is not a number.

    Returns
    -------
    dict
        From node to value, in the order of the file.

    Raises
    ------
    GraphFileError
        If the file cannot be read as values; the message names file, line and column.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gradraker import read_values
    >>> path = pathlib.Path(tempfile.mkdtemp(), "values.tsv")
    >>> _ = path.write_text("page\tvisits\nHome\t12\nAbout\t\n")
    >>> read_values(path)
    {'Home': 12.0, 'About': nan}
    """
    check_choice("ids", ids, ("auto", "text"))
    named = isinstance(node, str) or isinstance(value, str)
    options = TextOptions(separator, comment, True if header is None and named else header)
    report = progress or ignore_progress
    content, name = open_file(path, format, report)
    read_columns = FORMATS[name].read_columns
    if read_columns is None:
        raise GraphFileError(
            content.label, f"values are read from text tables or Parquet, not from {name}"
        )
    found = read_columns(content, ValueColumns(node, value), options, report)
    assert found.numbers is not None
    nodes, (codes,) = number_names(found.names, ids)
    _check_one_value(nodes, codes, found, content.label)
    return dict(zip(nodes[codes].tolist(), found.numbers.tolist(), strict=True))


def _check_one_value(
    nodes: Names, codes: NDArray[np.int64], found: FileColumns, label: str
) -> None:
    """Refuse a node with two values, and name both places; the same value twice is allowed."""
    assert found.numbers is not None
    rows = find_two_values(codes, found.numbers)
    if rows is None:
        return
    (first, row), (before, here) = rows, found.numbers[list(rows)]
    if found.lines is None:
        place, where = Place(label, row=row + 1), f"row {first + 1}"
    else:
        place, where = Place(label, line=int(found.lines[row])), f"line {found.lines[first]}"
    raise GraphFileError(
        place,
        f"node {to_plain_name(nodes[codes[row]])!r} has the value {here:g} here, but {before:g} in "
        f"{where}: give one",
    )
