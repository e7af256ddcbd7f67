"""The formats of files: a new one is a file of this folder and an entry of ``FORMATS``."""

import re
from collections.abc import Callable, Hashable
from typing import NamedTuple

from gradraker.graph.adapters.columns import WantedColumns
from gradraker.graph.edges import EdgeList
from gradraker.io.content import Content, FileColumns, Progress
from gradraker.io.graphml import read_graphml
from gradraker.io.matrix_market import read_matrix_market
from gradraker.io.parquet import read_parquet_columns
from gradraker.io.text_table import TextOptions, read_text_columns


class Format(NamedTuple):
    """A format of files: how to recognise it, and its reader, of a table or of a whole graph."""

    suffixes: tuple[str, ...]
    beginning: re.Pattern[bytes]  # of the content without byte order mark
    read_columns: Callable[[Content, WantedColumns, TextOptions, Progress], FileColumns] | None
    read_graph: Callable[[Content, Hashable, Progress], EdgeList] | None


# In order: the first that recognises the content is taken. Any content may be text.
FORMATS = {
    "parquet": Format((".parquet", ".pq"), re.compile(b"PAR1"), read_parquet_columns, None),
    "matrix-market": Format(
        (".mtx", ".mm"), re.compile(rb"\s*%%matrixmarket", re.IGNORECASE), None, read_matrix_market
    ),
    "graphml": Format(
        (".graphml",), re.compile(rb"\s*(?=<).*<graphml", re.DOTALL), None, read_graphml
    ),
    "text": Format((), re.compile(b""), read_text_columns, None),
}
