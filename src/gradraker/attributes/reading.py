"""Files of attributes: a table with one row per node, or one of nodes, attributes and values."""

import io
import os
from typing import TYPE_CHECKING

from gradraker.attributes.forms import NODE_HEADINGS
from gradraker.exceptions import GraphFileError
from gradraker.io.content import Progress, ignore_progress, take_first_line
from gradraker.io.parquet import read_parquet_table
from gradraker.io.readers import open_file

if TYPE_CHECKING:
    import polars as pl

# Rows from which the types of columns are inferred.
_SAMPLE_SIZE = 10_000
_SEPARATORS = ("\t", ",", ";")
_MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "none", "None"]


def read_attributes_file(
    path: str | os.PathLike[str], *, progress: Progress | None = None
) -> "pl.DataFrame":
    r"""Read attributes of nodes from a text table with a header or a Parquet file.

    Parameters
    ----------
    path : path or "-"
        A file, compressed with gzip or not; "-" is standard input.
    progress : callable, optional
        Called with (stage, done, total) while reading.

    Returns
    -------
    DataFrame
        Of polars, as ``attributes=`` takes it. The column ``node`` holds names as texts: the one
        of that name (or ``id``, ``name``), else the first.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gradraker.attributes.reading import read_attributes_file
    >>> path = pathlib.Path(tempfile.mkdtemp(), "attributes.csv")
    >>> _ = path.write_text("page,words,topic\n7,120,art\n8,,science\n")
    >>> read_attributes_file(path).rows()
    [('7', 120, 'art'), ('8', None, 'science')]
    """
    import polars as pl

    content, form = open_file(path, None, progress or ignore_progress)
    if form not in ("text", "parquet"):
        raise GraphFileError(
            content.label, f"attributes are read from text tables or Parquet, not from {form}"
        )
    try:
        frame = read_parquet_table(content) if form == "parquet" else _read_text(content.data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise GraphFileError(
            content.label, f"it is not a table ({take_first_line(error)})"
        ) from None
    except UnicodeDecodeError:
        raise GraphFileError(content.label, "it is not text in UTF-8") from None
    if frame.width < 2 or not frame.height:
        raise GraphFileError(
            content.label, "attributes need a header, a row per node, and two columns at least"
        )
    found = (name for name in frame.columns if name.lower() in NODE_HEADINGS)
    node = next(found, frame.columns[0])
    if frame[node].null_count():
        row = int(frame[node].is_null().arg_true()[0]) + 1
        raise GraphFileError(content.label, f"row {row} has no name of a node")
    return frame.with_columns(pl.col(node).cast(pl.String)).rename({node: "node"})


def _read_text(data: bytes) -> "pl.DataFrame":
    import polars as pl

    first = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8")
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    names = first.rstrip("\r").split(separator)
    plain = [name.strip().strip('"') for name in names]
    node = next((n for n in plain if n.lower() in NODE_HEADINGS), plain[0])
    return pl.read_csv(
        io.BytesIO(data),
        separator=separator,
        infer_schema_length=_SAMPLE_SIZE,
        null_values=_MISSING,
        schema_overrides={node: pl.String},
        try_parse_dates=True,
    )
