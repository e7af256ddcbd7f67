"""Readers: a file in, edges or values out."""

import os
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from gradraker.exceptions import GraphFileError, Place
from gradraker.graph.adapters.tables import edge_columns, value_columns
from gradraker.graph.edges import EdgeList, plain
from gradraker.io.columns import TextOptions, file_columns, numbered
from gradraker.io.content import Progress, no_progress, read_content
from gradraker.io.formats import graphml_edges
from gradraker.io.lines import FileColumns
from gradraker.io.matrix_market import matrix_market_edges

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
        Default: told by the content.
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
        target, from and to, ...), if its weight is no number, or if it holds no numbers and
        the next line holds two.
    ids : {"auto", "text"}
        With "auto", nodes are integers if all are 64-bit integers without plus sign or
        leading zeros, so that nothing is lost; with "text" they are always strings.
    progress : callable, optional
        Called now and then with (stage, done, total).

    Returns
    -------
    EdgeList

    Raises
    ------
    GraphFileError
        If the file is not what it should be; the message names file, line and column.
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
    _check_ids(ids)
    named = any(isinstance(name, str) for name in (source, target, weight))
    options = TextOptions(separator, comment, True if header is None and named else header)
    report = progress or no_progress
    content = read_content(path, format=format, progress=report)
    if content.format == "matrix-market":
        return matrix_market_edges(content, weight, report)
    if content.format == "graphml":
        return graphml_edges(content, weight)

    def choose(names: Sequence[Hashable] | None, n: int) -> tuple[list[int], int | None]:
        chosen = edge_columns(names, n_columns=n, source=source, target=target, weight=weight)
        return [chosen.source, chosen.target], chosen.weight

    found = file_columns(
        content, choose, options=options, number_column=2, missing_allowed=False, progress=report
    )
    nodes, (sources, targets) = numbered(found.texts, ids)
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

    An empty value, NA, NaN, null or none means that the value is not known: it is NaN in the
    result. A node may be given twice with the same value, but not with two.

    Parameters
    ----------
    path : path or "-"
        A text table or a Parquet file, compressed with gzip or not; "-" is standard input.
    format : {"text", "parquet"}, optional
        Default: told by the content.
    node, value : name or position of a column, optional
        Default: the columns called node and value, or else the first two.
    separator, comment, ids, progress
        As in :func:`read_edges`.
    header : bool, optional
        Whether the first line names the columns. Default: it does if it names columns node and
        value, or if its value is no number.

    Returns
    -------
    dict
        From node to value, in the order of the file.

    Raises
    ------
    GraphFileError
        If the file is not what it should be; the message names file, line and column.
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
    _check_ids(ids)
    named = isinstance(node, str) or isinstance(value, str)
    options = TextOptions(separator, comment, True if header is None and named else header)
    report = progress or no_progress
    content = read_content(path, format=format, progress=report)
    if content.format not in ("text", "parquet"):
        raise GraphFileError(
            content.label, f"values are read from text tables or Parquet, not from {content.format}"
        )

    def choose(names: Sequence[Hashable] | None, n: int) -> tuple[list[int], int | None]:
        first, second = value_columns(names, n_columns=n, node=node, value=value)
        return [first], second

    def columns(*, exact: bool) -> FileColumns:
        return file_columns(
            content,
            choose,
            options=options,
            number_column=1,
            missing_allowed=True,
            exact=exact,
            progress=report,
        )

    found = columns(exact=False)
    if _contradiction(found, ids) is not None and found.lines is None:
        found = columns(exact=True)  # the message names lines, which the quick reader skips
    contradiction = _contradiction(found, ids)
    if contradiction is not None:
        raise GraphFileError(*_two_values(found, content.label, *contradiction))
    assert found.numbers is not None
    nodes, (codes,) = numbered(found.texts, ids)
    return dict(zip(nodes[codes].tolist(), found.numbers.tolist(), strict=True))


def _contradiction(found: FileColumns, ids: str) -> tuple[str, int, int] | None:
    """Return a node with two values and the two rows that give them, or None."""
    assert found.numbers is not None
    nodes, (codes,) = numbered(found.texts, ids)
    if len(nodes) == len(codes):
        return None
    first = np.full(len(nodes), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    one, other = found.numbers[first[codes]], found.numbers
    differs = np.flatnonzero((one != other) & ~(np.isnan(one) & np.isnan(other)))
    if not len(differs):
        return None
    row = int(differs[0])
    return repr(plain(nodes[codes[row]])), int(first[codes[row]]), row


def _two_values(
    found: FileColumns, label: str, node: str, first: int, row: int
) -> tuple[Place, str]:
    assert found.numbers is not None
    one, two = found.numbers[first], found.numbers[row]
    if found.lines is None:
        place, where = Place(label, row=row + 1), f"row {first + 1}"
    else:
        place, where = Place(label, line=int(found.lines[row])), f"line {found.lines[first]}"
    return place, f"node {node} has the value {two:g} here, but {one:g} in {where}: give one"


def _check_ids(ids: str) -> None:
    if ids not in ("auto", "text"):
        raise ValueError(f"ids must be 'auto' or 'text', got {ids!r}")
