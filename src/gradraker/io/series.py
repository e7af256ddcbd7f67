"""Series in a file: one row per time, one column per node."""

import os
from collections.abc import Sequence
from typing import Any


def read_series(path: str | os.PathLike[str], *, leave_out: Sequence[str] = ()) -> Any:
    r"""Read series of nodes from CSV or Parquet, one row per time and one column per node.

    Parameters
    ----------
    path : path-like
        A file with a header line of node names; ``.parquet``, or CSV of any other name.
    leave_out : sequence of str
        Columns that are not nodes, such as the time.

    Returns
    -------
    polars.DataFrame
        As :func:`gradraker.graph.filtered_signals` takes it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from gradraker.io.series import read_series
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "series.csv"
    ...     _ = file.write_text("time,a,b\n0,1.5,2\n1,3,4\n")
    ...     read_series(file, leave_out=["time"]).columns
    ['a', 'b']
    """
    import polars as pl

    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(2, "No such file or directory", name)
    try:
        table = (
            pl.read_parquet(name)
            if name.endswith(".parquet")
            else pl.read_csv(name, infer_schema_length=None)
        )
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{name}: the series cannot be read: {reason}") from error
    for column in leave_out:
        if column not in table.columns:
            raise ValueError(
                f"{name}: there is no column {column!r} to leave out; the columns begin with "
                f"{', '.join(map(repr, table.columns[:5]))}"
            )
    table = table.drop(list(leave_out))
    for column in table.columns:
        if not table[column].dtype.is_numeric():
            raise ValueError(
                f"{name}: column {column!r} holds no numbers; a series has one row per time and "
                "one column per node, and --time-column names a column that is no node"
            )
    return table.cast(pl.Float64)
