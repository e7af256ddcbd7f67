"""Readers against random files: the right result or one error, and the same as the oracle."""

import csv
import gzip
import io
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from forked_process import start_python
from gradraker import adjacency_vectors, read_edges, read_values
from gradraker.exceptions import GraphFileError
from gradraker.io import text_table
from gradraker.io.names_in_text import unescape_name
from oracles.text_tables import read_line_by_line

# Random files are small; pieces of a few bytes make them many pieces all the same.
settings.register_profile(
    "files", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
FILES = settings.get_profile("files")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def outcome(reader: Callable[..., Any], path: Path, **arguments: Any) -> Any:
    """The result of a reader, in plain types, or the message of its error."""
    try:
        found = reader(path, **arguments)
    except GraphFileError as error:
        message = str(error)
        return message if "\n" not in message else pytest.fail(f"more than a line: {message}")
    if isinstance(found, dict):
        return [(type(node), node, repr(value)) for node, value in found.items()]
    weights = None if found.weight is None else found.weight.tolist()
    assert found.weight is None or np.isfinite(found.weight).all()
    return found.nodes.tolist(), found.source.tolist(), found.target.tolist(), weights


def check_both_ways(path: Path, **arguments: Any) -> None:
    """Our reader and the oracle have the same result or error, whatever the file holds."""
    for reader in (read_edges, read_values):
        given = {key: value for key, value in arguments.items() if value is not None}
        for piece in (1 << 24, 8):
            with mock.patch.object(text_table, "_PIECE", piece):
                quick = outcome(reader, path, **given)
            with read_line_by_line():
                assert quick == outcome(reader, path, **given)


@settings(FILES)
@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfea\0")
@example(b"a,b\n\xed\xa0\x80,c\n")
def test_random_bytes_are_read_or_refused(path: Path, content: Any) -> None:
    path.write_bytes(content)
    check_both_ways(path)


@settings(FILES)
@given(
    st.sampled_from([b"\x1f\x8b", b"\x1f\x8b\x08\0", b"PAR1", b"<graphml", b"%%MatrixMarket "]),
    st.binary(),
)
def test_random_bytes_that_begin_like_a_format(path: Path, head: Any, content: Any) -> None:
    path.write_bytes(head + content)
    outcome(read_edges, path)
    outcome(read_values, path)


# Characters that mean something to a reader of tables, far more often than chance has them.
TRICKY = st.text(st.sampled_from('ab01-+.e,;\t "#\n\r\ufeff\u00a0\u2028é'), max_size=60)


@settings(FILES, max_examples=5 * settings().max_examples)
@given(
    TRICKY,
    st.sampled_from([None, ",", ";", "\t", " ", "a"]),
    st.sampled_from([None, True, False]),
)
@example(" \ufeff0;0", None, None)
@example('a,b\nx,y\n"""""\n', None, None)
@example('a,b\nx,y\nc,"\n"\n', None, None)
@example('a,b\nx,y\nc,""c""\n', None, None)
@example('a,b\nx,y\n"c,d",e\n', None, None)
@example("a,b\nx,y\nc\n", None, None)
@example("a,b\nx,y\nc,d,e\n", None, None)
@example("a,b\nx,y\n ,d\n", None, None)
@example("a,b,1\nx,y,1\nc,d,1e999\n", None, None)
@example('a,b\n "c",e\n', None, None)
@example('a,b\n"c" ,e\n', None, None)
@example('a,b\n"","x"\n', None, None)
@example("a b\n  # c\n", None, None)
@example("a,b\n # c,d\n", None, None)
@example("a\tb\n\t\t\n", None, None)
@example("a,b,\n", None, None)
@example("0,1\n-0,1\n", None, None)
@example('0" 0\n0\t0', " ", True)
@example('" " 1', None, None)
@example('"\ta"\tb', None, None)
def test_random_tables_of_tricky_characters(
    path: Path, text: Any, separator: Any, header: Any
) -> None:
    path.write_bytes(text.encode())
    check_both_ways(path, separator=separator, header=header)


NAME = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(
    lambda name: (
        name == name.strip(" \t")
        and not name.startswith(("#", "\ufeff"))
        and name == unescape_name(name)
    )  # not as we write names that a table cannot hold
)
HUGE = st.integers(-(2**70), 2**70).map(str)
WEIGHT = st.floats(allow_nan=False, allow_infinity=False)


def written(
    rows: Any, *, separator: str, line_end: str, bom: bool, header: tuple[Any, ...]
) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=line_end)
    writer.writerows([header, *rows])
    return (b"\xef\xbb\xbf" if bom else b"") + text.getvalue().encode()


@settings(FILES)
@given(
    rows=st.lists(
        st.tuples(st.one_of(NAME, HUGE), st.one_of(NAME, HUGE), WEIGHT), min_size=1, max_size=8
    ),
    separator=st.sampled_from(",;\t"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.booleans(),
    packed=st.booleans(),
)
def test_edges_are_read_back_from_text_unchanged(
    path: Path, rows: Any, separator: Any, line_end: Any, bom: Any, packed: Any
) -> None:
    header = ("source", "target", "weight")
    content = written(rows, separator=separator, line_end=line_end, bom=bom, header=header)
    path.write_bytes(gzip.compress(content) if packed else content)
    edges = read_edges(path, separator=separator)
    names = [str(name) for name in edges.nodes.tolist()]
    assert [names[i] for i in edges.source] == [row[0] for row in rows]
    assert [names[i] for i in edges.target] == [row[1] for row in rows]
    assert edges.weight is not None
    assert edges.weight.tolist() == [row[2] for row in rows]
    check_both_ways(path, separator=separator)


@settings(FILES)
@given(st.dictionaries(st.one_of(NAME, HUGE), WEIGHT, min_size=1))
def test_values_are_read_back_from_text_unchanged(path: Path, values: Any) -> None:
    path.write_bytes(
        written(values.items(), separator=",", line_end="\r\n", bom=False, header=("node", "value"))
    )
    found = read_values(path, separator=",")
    assert {str(node): value for node, value in found.items()} == values


def write_parquet(rows: list[Any]) -> bytes:
    frame = pl.DataFrame(rows, schema=["source", "target", "weight"], orient="row")
    content = io.BytesIO()
    frame.write_parquet(content)
    return content.getvalue()


@settings(FILES)
@given(st.lists(st.tuples(NAME, NAME, WEIGHT), min_size=1))
def test_edges_are_read_back_from_parquet_unchanged(path: Path, rows: Any) -> None:
    path.write_bytes(write_parquet(rows))
    edges = read_edges(path)
    assert edges.nodes[edges.source].tolist() == [row[0] for row in rows]
    assert edges.weight is not None
    assert edges.weight.tolist() == [row[2] for row in rows]


READ_ALL = """
import sys
from gradraker import read_edges
from gradraker.exceptions import GraphFileError
for path in sys.argv[1:]:
    try:
        read_edges(path)
    except GraphFileError as error:
        assert "\\n" not in str(error), error
    print(path, flush=True)
"""


@pytest.mark.process
def test_damaged_parquet_is_read_or_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng()
    rows = [("a", "b", 1.0), ("b", "é", 2.5), ("c", "a", -1.0)]
    paths = [str(tmp_path / f"{i}.parquet") for i in range(50)]
    for path in paths:
        content = bytearray(write_parquet(rows[: rng.integers(1, 4)]))
        for position in rng.integers(0, len(content), rng.integers(1, 4)):
            content[position] = rng.integers(0, 256)
        Path(path).write_bytes(content)
    # In another process: of some damaged numbers polars makes a request for memory that ends it.
    while paths:
        reader = start_python(READ_ALL, *paths, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        read, errors = reader.communicate(timeout=120)
        n_read = len(read.splitlines())
        assert n_read == len(paths) or "memory allocation of" in errors, errors
        paths = paths[n_read + 1 :]


@settings(FILES)
@given(
    st.lists(
        st.sampled_from(
            ["0", "1", "2", "3", "+1", "02", "9999999999", "-1", "1.5", "x", "%", "nan"]
        ),
        max_size=12,
    ),
    st.sampled_from(
        ["coordinate real", "array real", "coordinate pattern", "array complex", "x y"]
    ),
    st.sampled_from(["general", "symmetric", "hermitian", "skew-symmetric", ""]),
    st.sampled_from([1, 2, 3, 12]),
)
def test_random_matrix_market_is_read_or_refused(
    path: Path, words: Any, kind: Any, symmetry: Any, width: Any
) -> None:
    lines = [" ".join(words[i : i + width]) for i in range(0, len(words), width)]
    path.write_text("\n".join([f"%%MatrixMarket matrix {kind} {symmetry}", *lines]))
    check_both_ways(path)


# SciPy 1.13 lacks the argument that SciPy 1.18 asks for.
@pytest.mark.filterwarnings("ignore:The default value for .spmatrix.:DeprecationWarning")
@settings(FILES, max_examples=30)  # SciPy starts threads for each file
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_matrix_market_as_scipy_reads_it(path: Path, seed: Any, symmetric: Any) -> None:
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((5, 5), density=0.4, random_state=rng)
    matrix = matrix + matrix.T if symmetric else matrix
    written_file = io.BytesIO()
    scipy.io.mmwrite(written_file, matrix)
    path.write_bytes(written_file.getvalue())
    found = adjacency_vectors(read_edges(path)).rows
    # Whether it is a matrix or an array depends on the version of SciPy.
    expected = sp.coo_array(scipy.io.mmread(path))
    assert np.array_equal(found.toarray(), expected.toarray())


PIECES = [
    "<graph>",
    "</graph>",
    "<graph edgedefault='directed'>",
    "<node id='a'/>",
    "<edge source='a' target='b'/>",
    "<edge source='a' target='b'><data key='w'>x</data></edge>",
    "<key id='w' for='edge' attr.name='weight' attr.type='double'/>",
    "<key/>",
    "<data>x</data>",
    "<!DOCTYPE x>",
    "&amp;",
    "&x;",
    "text",
    "</graphml>",
]


@settings(FILES)
@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_random_graphml_is_read_or_refused(path: Path, pieces: Any) -> None:
    space = "xmlns='http://graphml.graphdrawing.org/xmlns'"
    path.write_text(f"<graphml {space}>" + "".join(pieces))
    outcome(read_edges, path)
    path.write_text(f"<graphml {space}>" + "".join(pieces) + "</graphml>")
    outcome(read_edges, path)
