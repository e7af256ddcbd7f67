"""Read edges or values from a file."""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Hashable, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from gradraker._columns import ColumnNumber
from gradraker._validation import check_choice
from gradraker.exceptions import ArgumentError, GraphFileError, Place, UnclearTableError
from gradraker.graph.adapters.columns import EdgeColumns, Task, ValueColumns, is_column_name
from gradraker.graph.disk_graph import DiskGraph
from gradraker.graph.edges import EdgeList
from gradraker.graph.names import Names, find_distinct, find_distinct_texts, to_plain_name
from gradraker.graph.values import NodeLines, NodeValues, find_two_values
from gradraker.io.content import (
    Content,
    FileColumns,
    Progress,
    check_unpacked_size,
    find_limit,
    ignore_progress,
)
from gradraker.io.disk.parts import list_parts
from gradraker.io.formats import FORMATS
from gradraker.io.text_table import TextOptions

if TYPE_CHECKING:
    import polars as pl

Ids = Literal["auto", "text"]
_BYTES_AT_ONCE = 1 << 22


class _EdgeFileOptions(TypedDict, total=False):
    format: Literal["text", "parquet", "matrix-market", "graphml"] | None
    source: Hashable
    target: Hashable
    weight: Hashable
    separator: str | None
    comment: str | None
    header: bool | None
    ids: Ids
    progress: Progress | None


AnyPath = str | os.PathLike[str]


@overload
def read_edges(
    path: AnyPath, *, on_disk: None = None, **options: Unpack[_EdgeFileOptions]
) -> EdgeList: ...
@overload
def read_edges(
    path: Any, *, on_disk: AnyPath, **options: Unpack[_EdgeFileOptions]
) -> DiskGraph: ...
def read_edges(
    path: Any,
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
    on_disk: str | os.PathLike[str] | None = None,
) -> EdgeList | DiskGraph:
    r"""Read the edges of a graph from a file, or of many files into a folder on disk.

    Parameters
    ----------
    path : path or "-"
        A file, compressed with gzip or not; "-" is standard input. With ``on_disk`` also a folder,
        a pattern such as ``"edges-*.parquet"``, or a sequence of these.
    format : {"text", "parquet", "matrix-market", "graphml"}, optional
        Default: recognised by the content.
    source, target : name or position of a column, optional
        By default they are found by their names, or taken if only one assignment is possible
        (``docs/reference/graphs.md``); ``reading`` of the result names them.
    weight : None, False, or name or position of a column
        None finds the column of weights in the same way; False reads no weights. Weights must be
        finite; negative ones are allowed. In GraphML a name is that of an edge attribute.
    separator : str, optional
        One character, " " for any run of blanks and tabs. Default: tab, comma or semicolon if
        the first line holds one, else blanks.
    comment : str or None
        Lines that begin with it are skipped.
    header : bool, optional
        Whether the first line names the columns. Default: it does if it has known names (source
        and target, from and to, ...) or a word above numbers. A line of words above words is an
        edge if one of them occurs again, and refused otherwise.
    ids : {"auto", "text"}
        With "auto", nodes are integers if all are 64-bit integers without plus sign or
        leading zeros, so that nothing is lost; with "text" they are always strings.
    progress : callable, optional
        Called with (stage, done, total) while reading.
    on_disk : path, optional
        A new folder for edges that do not fit in memory, from Parquet or text files whose nodes
        are whole numbers. Edges then count both ways, as in walks with ``direction="both"``, and
        equal edges are added up in single precision. See ``docs/how-to/large-graphs.md``.

    Returns
    -------
    EdgeList, or DiskGraph with ``on_disk``

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
    EdgeList(2 weighted edges among 3 nodes; read as: source, target, weight; 1 header line)
    >>> adjacency_vectors(edges, nodes=["a"]).rows.toarray()
    array([[0. , 2. , 0.5]])
    """
    check_choice("ids", ids, ("auto", "text"))
    wanted = EdgeColumns(source, target, weight)
    options = TextOptions(separator, comment, _settle_header(header, wanted))
    report = progress or ignore_progress
    if on_disk is not None:
        from gradraker.io.disk.build import build_disk_graph  # rarely needed

        if format not in (None, "text", "parquet") or ids != "auto":
            raise ValueError("on_disk takes text and Parquet files with whole numbers as names")
        return build_disk_graph(list_parts(path), on_disk, wanted, options, report)
    content, name = open_file(path, format, report)
    read_graph, read_columns = FORMATS[name].read_graph, FORMATS[name].read_columns
    if read_graph is not None:
        if source is not None or target is not None:
            raise GraphFileError(
                content.label, f"source and target are columns of a table, but the file is {name}"
            )
        attribute = weight.text if isinstance(weight, ColumnNumber) else weight
        return read_graph(content, attribute, report)
    assert read_columns is not None
    found = read_columns(content, wanted, options, report)
    nodes, (sources, targets) = _number_names(found.names, ids)
    return EdgeList(sources, targets, found.numbers, nodes, reading=found.reading)


def read_values(
    path: str | os.PathLike[str],
    *,
    format: Literal["text", "parquet"] | None = None,  # noqa: A002
    node: Hashable = None,
    value: Hashable | Sequence[Hashable] = None,
    separator: str | None = None,
    comment: str | None = "#",
    header: bool | None = None,
    ids: Ids = "auto",
    task: Task | None = None,
    progress: Progress | None = None,
) -> NodeValues:
    r"""Read known values of nodes from a file.

    An empty value, NA, NaN, null or none means that the value is unknown: it is NaN in the
    result, or None among classes. A node may be given twice with the same value, but not with two.

    Parameters
    ----------
    path : path or "-"
        A text table or a Parquet file, compressed with gzip or not; "-" is standard input.
    format : {"text", "parquet"}, optional
        Default: recognised by the content.
    node, value : name or position of a column, optional
        By default they are found by their names, or taken if only one assignment is possible
        (``docs/reference/graphs.md``); ``reading`` of the result names them. A list of columns as
        ``value`` reads several targets, which are numbers.
    task : {"values", "classes"}, optional
        Whether values are numbers, or texts that name classes. Default: texts mean classes, unless
        all of them look like dates or like numbers in another notation, such as 1,5: these are
        refused.
    separator, comment, ids, progress
        As in :func:`read_edges`.
    header : bool, optional
        As in :func:`read_edges`; node and value are names of columns.

    Returns
    -------
    NodeValues
        A dict from node to value, in the order of the file. Of several targets, a value is a dict
        from target to number.

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
    if task is not None:
        check_choice("task", task, ("values", "classes"))
    is_list = isinstance(value, list | tuple)
    targets = list(value) if isinstance(value, list | tuple) else [value]
    if len(set(targets)) < len(targets) or not targets:
        raise ValueError(f"value must name different columns, got {targets!r}")
    if is_list and task == "classes":
        raise ArgumentError("task", "'values' or None for a list of columns", task)
    wanted = ValueColumns(node, targets[0], "values" if is_list else task, tuple(targets[1:]))
    options = TextOptions(separator, comment, _settle_header(header, wanted))
    report = progress or ignore_progress
    content, name = open_file(path, format, report)
    read_columns = FORMATS[name].read_columns
    if read_columns is None:
        raise GraphFileError(
            content.label, f"values are read from text tables or Parquet, not from {name}"
        )
    found = read_columns(content, wanted, options, report)
    if task is None and found.labels is not None:
        _check_labels(found.labels, content.label)
    nodes, (codes,) = _number_names(found.names, ids)
    entries, numbers = _list_entries(found)
    for listed, column in [(entries, numbers), *((more.tolist(), more) for more in found.more)]:
        _check_one_value(nodes, codes, listed, column, found, content.label)
    if is_list:
        keys = [name.text if isinstance(name, ColumnNumber) else name for name in targets]
        rows = zip(entries, *(column.tolist() for column in found.more), strict=True)
        entries = [dict(zip(keys, row, strict=True)) for row in rows]
    named = nodes[codes].tolist()
    values = NodeValues(zip(named, entries, strict=True))
    values.reading, values.task = found.reading, "classes" if found.numbers is None else "values"
    values.lines = None if found.lines is None else NodeLines(named, found.lines)
    return values


def open_file(
    path: str | os.PathLike[str], wanted: str | None, progress: Progress
) -> tuple[Content, str]:
    """Return the content of a file and its format.

    The format is recognised by the first bytes, since standard input has no suffix and suffixes
    may be wrong. A suffix of another format is an error.
    """
    if wanted is not None:
        check_choice("format", wanted, FORMATS)
    content = _read_content(path, progress)
    head = content.data[:4096].removeprefix(b"\xef\xbb\xbf")
    found = next(name for name, format in FORMATS.items() if format.beginning.match(head))  # noqa: A001
    expected = wanted or (None if path == "-" else format_from_suffix(path))
    if expected not in (None, found):
        claim = f"format asks for {wanted}" if wanted else f"its name promises {expected}"
        raise GraphFileError(content.label, f"{claim}, but the content looks like {found}")
    if not content.data or content.data.isspace():
        raise GraphFileError(content.label, "the file is empty")
    return content, found


def _read_content(path: str | os.PathLike[str], progress: Progress) -> Content:
    """Read a whole file, or standard input for "-"."""
    if path == "-":
        label, data = "standard input", _read_all(sys.stdin.buffer, 0, progress)
    else:
        label = str(Path(path))
        with open(path, "rb") as file:
            data = _read_all(file, os.fstat(file.fileno()).st_size, progress)
    if data[:2] == b"\x1f\x8b":
        data = _unpack(data, label, progress)
    return Content(label, data)


def _read_all(file: BinaryIO, size: int, progress: Progress) -> bytes:
    pieces, done = [], 0
    while piece := file.read(_BYTES_AT_ONCE):
        pieces.append(piece)
        done += len(piece)
        progress("reading", done, max(size, done))
    return b"".join(pieces)


def _unpack(data: bytes, label: str, progress: Progress) -> bytes:
    pieces: list[bytes] = []
    n_bytes, limit, packed = 0, find_limit(), io.BytesIO(data)
    try:
        with gzip.GzipFile(fileobj=packed) as file:  # also of several members
            # A piece at a time: packed bytes may unpack to a thousand times as many.
            while piece := file.read(_BYTES_AT_ONCE):
                pieces.append(piece)
                n_bytes += len(piece)
                progress("unpacking", packed.tell(), len(data))
                if n_bytes > limit:
                    check_unpacked_size(label, n_bytes, is_all=False)
    except EOFError:
        raise GraphFileError(label, "the gzip data end too early, the file is cut off") from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise GraphFileError(label, f"the gzip data are damaged ({error})") from None
    return b"".join(pieces)


def format_from_suffix(path: str | os.PathLike[str]) -> str | None:
    """Return the format that the suffix of a file names, or None."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return next((name for name, f in FORMATS.items() if {*suffixes[-1:]} & {*f.suffixes}), None)


def _number_names(columns: list["pl.Series"], ids: str) -> tuple[Names, list[NDArray[np.int64]]]:
    """Return the distinct names of columns, and the position of each entry among them."""
    if ids == "auto" and all(column.dtype.is_integer() for column in columns):
        return find_distinct([column.to_numpy() for column in columns])
    import polars as pl

    return find_distinct_texts([column.cast(pl.String) for column in columns])


def _settle_header(header: bool | None, wanted: EdgeColumns | ValueColumns) -> bool | None:
    """Return True if a column is given by its name, which needs a header."""
    return True if header is None and any(map(is_column_name, wanted.given)) else header


# Digits with decimal commas, groups of thousands, or signs of percent and of money.
_ODD_NUMBER = r"^[-+−]?[$€£]?\s?\d[\d.,'’\s]*[%$€£]?$"
_ODD_SIGN = r"[,'’\s%$€£−]"
_DATE = r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})([T ][\d:.]+.*)?$"
# A pattern that all values match, a pattern that some of them match, and the message then.
_NOT_CLASSES = (
    (_ODD_NUMBER, _ODD_SIGN, "numbers that are not written like 1234.5; write them so"),
    (_DATE, _DATE, "dates; write them as numbers, such as days since the first one"),
)


def _check_labels(labels: "pl.Series", label: str) -> None:
    """Refuse dates, and numbers in another notation such as 1,5, as names of classes."""
    given = labels.drop_nulls()
    for all_match, some_match, kind in _NOT_CLASSES:
        if given.is_empty() or not given.str.contains(all_match).all():
            continue
        odd = given.filter(given.str.contains(some_match))
        if not odd.is_empty():
            raise UnclearTableError(
                label,
                f"values such as {odd[0]!r} look like {kind}, or, if they are names of classes",
                ("task='classes'",),
            )


def _list_entries(found: FileColumns) -> tuple[list[Any], NDArray[np.float64]]:
    """Return values or labels, and numbers that are equal where these are equal."""
    if found.numbers is not None:
        return found.numbers.tolist(), found.numbers
    assert found.labels is not None
    texts = np.array(found.labels.fill_null("").to_list(), dtype=object)
    _, (codes,) = find_distinct([texts])
    return found.labels.to_list(), codes.astype(np.float64)


def _check_one_value(
    nodes: Names,
    codes: NDArray[np.int64],
    entries: list[Any],
    numbers: NDArray[np.float64],
    found: FileColumns,
    label: str,
) -> None:
    """Refuse a node with two values, and name both places; the same value twice is allowed."""
    rows = find_two_values(codes, numbers)
    if rows is None:
        return
    first, row = rows
    pair = [entries[i] for i in rows]
    before, here = (f"{x:g}" if isinstance(x, float) else repr(x) for x in pair)
    if found.lines is None:
        place, where = Place(label, row=row + 1), f"row {first + 1}"
    else:
        place, where = Place(label, line=int(found.lines[row])), f"line {found.lines[first]}"
    raise GraphFileError(
        place,
        f"node {to_plain_name(nodes[codes[row]])!r} has the value {here} here, but {before} in "
        f"{where}: give one",
    )
