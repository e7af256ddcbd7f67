"""Readers of edges and values: formats, rules, and errors that name the place."""

import gzip
import io
import math
import sys
from contextlib import nullcontext

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from gradraker import adjacency_vectors, read_edges, read_values
from gradraker.exceptions import GraphFileError
from gradraker.graph import known_values
from gradraker.io import text_table
from oracles.text_tables import read_line_by_line

TABLE = pl.DataFrame({"source": [3, 3, 7], "target": [7, 5, 5], "weight": [2.0, 0.5, -1.0]})


@pytest.fixture(params=["polars", "oracle"])
def way(request):
    """Each test with this runs with our reader and with the oracle: the rules are the same."""
    with read_line_by_line() if request.param == "oracle" else nullcontext():
        yield request.param


@pytest.fixture
def file(tmp_path):
    def write(content, name="edges.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def listed(edges):
    """Edges as a list of (source, target, weight), by name."""
    names = edges.nodes.tolist()
    weights = [None] * len(edges) if edges.weight is None else edges.weight.tolist()
    pairs = zip(edges.source.tolist(), edges.target.tolist(), weights, strict=True)
    return [(names[s], names[t], w) for s, t, w in pairs]


PLAIN = [(3, 7, 2.0), (3, 5, 0.5), (7, 5, -1.0)]


@pytest.mark.parametrize(
    "content",
    [
        "source,target,weight\n3,7,2\n3,5,0.5\n7,5,-1\n",
        "3,7,2\n3,5,0.5\n7,5,-1",
        "3\t7\t2\n3\t5\t0.5\n7\t5\t-1\n",
        "3;7;2\n3;5;0.5\n7;5;-1\n",
        "  3   7  2\n3 5 \t .5\n\n7 5  -1.  \n",
        "# SNAP\n# FromNodeId\tToNodeId\n3\t7\t2e0\n# between\n3\t5\t5e-1\n7\t5\t-1\n",
        " # indented\n3,7,2\n  # indented, too\n3,5,0.5\n7,5,-1\n",
        "from,to,strength\n3,7,2\n3,5,0.5\n7,5,-1\n",
        "a,b,c\n3,7,2\n3,5,0.5\n7,5,-1\n",
        "weight,note,target,source\n2,x,7,3\n0.5,,5,3\n-1,z,5,7\n",
        '"source","target","weight"\n"3","7",2\n3,"5",0.5\n"7",5,"-1"\n',
        "3, 7, 2\n 3 ,5\t, 0.5\n7,5,-1\n   \n\n",
        "\ufeffsource,target,weight\r\n3,7,2\r\n3,5,0.5\r\n7,5,-1\r\n",
        "3,7,2\r3,5,0.5\r7,5,-1\r",
    ],
)
def test_text(content, file, way):
    path = file(content)
    assert listed(read_edges(path)) == PLAIN
    assert read_edges(path).nodes.dtype == np.int64


def test_all_formats_are_the_same_graph(tmp_path, way):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(PLAIN)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    TABLE.write_parquet(tmp_path / "g.parquet")
    TABLE.write_csv(tmp_path / "g.csv")
    TABLE.write_csv(tmp_path / "g.tsv", separator="\t")
    matrix = sp.coo_array(
        (TABLE["weight"], (TABLE["source"] - 1, TABLE["target"] - 1)), shape=(8, 8)
    )
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix)
    expected = adjacency_vectors(PLAIN, nodes=[3, 5, 7], references=[3, 5, 7]).rows.toarray()
    for path in list(tmp_path.iterdir()):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        for name in (path, str(path), packed):
            edges = read_edges(name)
            found = adjacency_vectors(edges, nodes=[3, 5, 7], references=[3, 5, 7])
            assert np.array_equal(found.rows.toarray(), expected), name


def test_standard_input(monkeypatch, way):
    for content in (b"3,7,2\n3,5,.5\n7,5,-1\n", gzip.compress(b"3 7 2\n3 5 .5\n7 5 -1")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert listed(read_edges("-")) == PLAIN
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"3,x,2\n3,7\n")))
    with pytest.raises(GraphFileError, match=r"standard input, line 2: 2 column\(s\) are there"):
        read_edges("-")


def test_gzip_of_several_parts(file):
    path = file(gzip.compress(b"3,7\n") + gzip.compress(b"7,5\n") + b"\0\0", "edges.csv.gz")
    assert listed(read_edges(path)) == [(3, 7, None), (7, 5, None)]


def test_chosen_columns(file, way):
    path = file("a,b,c,d\nx,y,1,2\ny,z,3,4\n")
    assert listed(read_edges(path, source="b", target="a", weight="d")) == [
        ("y", "x", 2.0),
        ("z", "y", 4.0),
    ]
    assert listed(read_edges(path, source=1, target=0, weight=2, header=True))[1] == ("z", "y", 3.0)
    assert listed(read_edges(path, header=True)) == [("x", "y", None), ("y", "z", None)]
    assert (
        read_edges(file("1,2,2020-01-01\n", "dated.csv"), weight=False, header=False).weight is None
    )


def test_header_rule(file, way):
    assert len(read_edges(file("from,to\na,b\n"))) == 1
    assert len(read_edges(file("x,y\na,b\n"))) == 2  # nothing says that x and y are no nodes
    assert len(read_edges(file("x,y\na,b\n"), header=True)) == 1
    assert len(read_edges(file("x,y\n1,2\n"))) == 1
    assert len(read_edges(file("x,7\n1,2\n"))) == 2
    assert len(read_edges(file("source,target\n"), header=False)) == 1
    assert len(read_edges(file("x,y,w\na,b,1\n"))) == 1
    assert read_values(file("x,1\ny,2\n")) == {"x": 1.0, "y": 2.0}
    assert read_values(file("page,visits\ny,2\n")) == {"y": 2.0}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("1,2\n", [1, 2]),
        ("-1,0\n", [-1, 0]),
        ("1,002\n", ["002", "1"]),
        ("+1,2\n", ["+1", "2"]),
        ("-0,2\n", ["-0", "2"]),
        ("1,2.0\n", ["1", "2.0"]),
        ("1,x\n", ["1", "x"]),
        ("1,٣\n", ["1", "٣"]),
        ("9223372036854775807,-9223372036854775808\n", [-(2**63), 2**63 - 1]),
        ("9223372036854775808,1\n", ["1", "9223372036854775808"]),
        (f"{'9' * 5000},1\n", ["1", "9" * 5000]),
    ],
)
def test_ids_are_integers_only_if_nothing_is_lost(content, names, file, way):
    path = file(content)
    assert read_edges(path).nodes.tolist() == names
    assert read_edges(path, ids="text").nodes.tolist() == sorted(map(str, names))


def test_names_are_kept(file, way):
    path = file('"Bern, BE",Zürich\n"say ""hi""",日本\n')
    assert [edge[:2] for edge in listed(read_edges(path))] == [
        ("Bern, BE", "Zürich"),
        ('say "hi"', "日本"),
    ]
    assert listed(read_edges(file('5" disk,b\n')))[0][0] == '5" disk'
    assert listed(read_edges(file('"New York" Bern\n')))[0][:2] == ("New York", "Bern")
    assert listed(read_edges(file("a\u00a0b c\n")))[0][:2] == ("a\u00a0b", "c")
    assert listed(read_edges(file("a\u2028b,c\n")))[0][:2] == ("a\u2028b", "c")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "edges.csv: the file is empty"),
        ("\ufeff", "the file is empty|no data"),
        ("\n \n", "edges.csv: the file is empty"),
        ("# only\n# comments\n", "edges.csv: the file holds no data"),
        ("source,target\n", "edges.csv: there is a header, but no data"),
        ("a\nb\n", "edges.csv, line 1: at least two columns are needed, got 'a'"),
        (
            "a,b\n\n# c\nc\n",
            r"edges.csv, line 4: 1 column\(s\) are there, but 2 are expected after line 1",
        ),
        (
            "a,b\nc,d,e\n",
            r"edges.csv, line 2: 3 column\(s\) are there, but 2 are expected after line 1",
        ),
        ("a,b\nc,\n", "edges.csv, line 2, column 2: the name of a node is missing"),
        (
            "source,target\nc,d\n ,e\n",
            r"line 3, column 1 \(source\): the name of a node is missing",
        ),
        ("a,b,1\nb,c,x\n", "line 2, column 3: 'x' is not a finite decimal number"),
        ("a,b,1\r\nb,c,\r\n", "line 2, column 3: the weight is missing"),
        ("a,b,1\nb,c,nan\n", "line 2, column 3: the weight is missing"),
        ("a,b,1\nb,c,NaN\n", "line 2, column 3: the weight is missing"),
        ("source,target,weight\na,b,inf\n", r"line 2, column 3 \(weight\): 'inf' is not a finite"),
        ("a,b,1\nb,c,1e999\n", "line 2, column 3: '1e999' is not a finite"),
        ("a,b,1\nb,c,1_0\n", "line 2, column 3: '1_0' is not a finite"),
        ("a,b,1\nb,c,0x1\n", "line 2, column 3: '0x1' is not a finite"),
        ("a,b,1\nb,c,١\n", "line 2, column 3: '١' is not a finite"),
        ('a,b\n"c,d\n', "line 2: a quoted field is not closed"),
        ('a,b\n"c"x,d\n', "line 2: a quoted field is not closed"),
        ('a,b\n"c\nd",e\n', "line 2: a quoted field is not closed"),
        ("a;b,c\n", "line 1: columns could be separated by ',' or ';': pass separator"),
        (b"a,b\nc,\xff\n", "line 2: byte 0xff is not UTF-8"),
        (b"a,b\r\nc,d\re,\xc3\n", "line 3: byte 0xc3 is not UTF-8"),
        (b"a,b\nc,\0d\n", "line 2: a zero byte is there, so it is not text"),
        ("a,b\n".encode("utf-16"), "the text is in UTF-16"),
        (gzip.compress(b"a,b\n")[:-9], "gzip data end too early"),
        (gzip.compress(b"a,b\n" * 99)[:-20] + b"x" * 20, "gzip data are damaged"),
        (b"PAR1 and then nothing", "not a readable Parquet file"),
        (b"%%MatrixMarket matrix\n", "line 1: a matrix of real numbers begins"),
        (b"<graphml>", "not a readable GraphML file"),
    ],
)
def test_errors_name_file_line_and_column(content, message, file, way):
    with pytest.raises(GraphFileError, match=message) as caught:
        read_edges(file(content))
    text = str(caught.value)
    assert "edges.csv" in text
    assert "\n" not in text
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "x"}, "edges.csv: source='x' is not a column: the table has columns 'a', 'b'"),
        ({"weight": "w"}, "edges.csv: weight='w' is not a column"),
        ({"source": 5}, "edges.csv: source=5 is not a column"),
        ({"source": 1}, "source and target must be two columns, got column 1 for both"),
        ({"format": "parquet"}, "format asks for parquet, but the content looks like text"),
    ],
)
def test_missing_columns(arguments, message, file):
    with pytest.raises(GraphFileError, match=message):
        read_edges(file("a,b\nc,d\n"), **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"format": "xls"},
        {"separator": "ab"},
        {"separator": '"'},
        {"comment": ""},
        {"comment": " "},
        {"ids": "int"},
    ],
)
def test_wrong_arguments(arguments, file):
    (name,) = arguments
    with pytest.raises(ValueError, match=f"{name} must be") as caught:
        read_edges(file("a,b\nc,d\n"), **arguments)
    assert not isinstance(caught.value, GraphFileError)


def test_a_suffix_is_a_promise(file):
    with pytest.raises(GraphFileError, match=r"its name promises parquet, but .* text"):
        read_edges(file("a,b\n", "edges.parquet"))
    with pytest.raises(GraphFileError, match="its name promises matrix-market"):
        read_edges(file(gzip.compress(b"a,b\n"), "edges.mtx.gz"))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_edges(tmp_path / "nothing.csv")
    with pytest.raises(IsADirectoryError):
        read_edges(tmp_path)


def test_separator_and_comment(file, way):
    path = file("% KONECT\na|b\n%c|d\n#e|f\n")
    found = read_edges(path, separator="|", comment="%")
    assert [edge[:2] for edge in listed(found)] == [("a", "b"), ("#e", "f")]
    assert len(read_edges(file("#a,b\n"), comment=None)) == 1
    assert len(read_edges(file("//x\na,b\n"), comment="//")) == 1
    assert listed(read_edges(file("a,b c\n"), separator=" "))[0][:2] == ("a,b", "c")


def test_matrix_market(file, way):
    symmetric = b"%%MatrixMarket matrix coordinate pattern symmetric\n%c\n4 4 2\n2 1\n4 4\n"
    edges = read_edges(file(symmetric, "a.mtx"))
    assert edges.nodes.tolist() == [1, 2, 3, 4]
    assert sorted(listed(edges)) == [(1, 2, 1.0), (2, 1, 1.0), (4, 4, 1.0)]
    rectangular = b"%%MatrixMarket matrix coordinate real general\n2 3 1\n2 3 0.5\n"
    vectors = adjacency_vectors(read_edges(file(rectangular, "b.mtx")))
    assert vectors.rows.toarray().tolist() == [[0, 0, 0], [0, 0, 0.5]]
    assert vectors.references.tolist() == [1, 2, 3]
    dense = b"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n0\n"
    assert adjacency_vectors(read_edges(file(dense, "c.mtx"))).rows.toarray().tolist() == [
        [1, 3],
        [2, 0],
    ]
    skew = b"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n"
    assert adjacency_vectors(read_edges(file(skew, "d.mtx"))).rows.toarray().tolist() == [
        [0, -1, -2],
        [1, 0, -3],
        [2, 3, 0],
    ]
    empty = b"%%MatrixMarket matrix coordinate real general\n4 4 0\n"
    assert adjacency_vectors(read_edges(file(empty, "e.mtx"))).rows.shape == (4, 4)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("9 9 999999999999\n1 1 1\n", "line 2: a matrix of 9 × 9 × 999999999999 does not fit"),
        ("99999999999 9 1\n1 1 1\n", "line 2: a matrix of .* does not fit the file"),
        ("0 0 0\n", "line 2: a matrix of 0 × 0 × 0 does not fit"),
        ("2 2\n", "line 2: the sizes of the matrix are needed, got '2 2'"),
        ("", "g.mtx: the sizes of the matrix are needed"),
        ("2 2 1\n%\n3 1 1\n", "line 4: '3 1' is not an entry of a matrix of 2 × 2"),
        ("2 2 1\nx 1 1\n", "line 3: 'x 1' is not an entry"),
        ("2 2 1\n1 1\n", r"line 3: 2 column\(s\) are there, but 3 are expected after line 1"),
        ("2 2 1\n1 1 x\n", "line 3, column 3: 'x' is not a finite"),
        ("2 2 2\n1 1 1\n", "2 entries are declared, but 1 are there"),
        ("2 2 1\n", "1 entries are declared, but"),
    ],
)
def test_damaged_matrix_market(body, message, file, way):
    head = "%%MatrixMarket matrix coordinate real general\n"
    with pytest.raises(GraphFileError, match=message):
        read_edges(file(head + body, "g.mtx"))


def test_graphml_keeps_isolated_nodes_and_no_direction(tmp_path):
    graph = nx.Graph([("a", "b")])
    graph.add_node("c")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    vectors = adjacency_vectors(read_edges(tmp_path / "g.graphml"))
    assert vectors.nodes.tolist() == ["a", "b", "c"]
    assert vectors.rows.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"source": ["a", None], "target": ["b", "c"]}, r"row 2, column 1 \(source\): the name"),
        ({"source": [1.5], "target": [2]}, r"column 1 \(source\): nodes must be integers or texts"),
        (
            {"source": [1], "target": [2], "weight": ["x"]},
            r"column 3 \(weight\): numbers are needed",
        ),
        (
            {"source": [1], "target": [2], "weight": [math.nan]},
            r"row 1, column 3 \(weight\): nan is",
        ),
        (
            {"source": [1, 1], "target": [2, 2], "weight": [1.0, None]},
            r"row 2, column 3 \(weight\)",
        ),
        ({"source": [1]}, r"1 column\(s\)"),
    ],
)
def test_parquet_errors(frame, message, tmp_path):
    pl.DataFrame(frame).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(GraphFileError, match=message):
        read_edges(tmp_path / "e.parquet")


def test_parquet_ids(tmp_path):
    huge = pl.DataFrame(
        {"source": [2**64 - 1], "target": [1]}, schema_overrides={"source": pl.UInt64}
    )
    huge.write_parquet(tmp_path / "e.parquet")
    assert read_edges(tmp_path / "e.parquet").nodes.tolist() == ["1", str(2**64 - 1)]
    TABLE.write_parquet(tmp_path / "e.parquet")
    assert read_edges(tmp_path / "e.parquet", ids="text").nodes.tolist() == ["3", "5", "7"]


def test_values(file, tmp_path, way):
    nodes = [3, 5, 7]
    expected = [2.5, math.nan, -1.0]
    contents = [
        "3,2.5\n7,-1\n",
        "node,value\n7,-1\n3,2.5\n5,\n",
        "value\tnode\n-1\t7\nNA\t5\n2.5\t3\n",
        "3 2.5\n7 -1\n3 2.50\n5 nan\n",
        "id,temperature\r\n3,2.5\r\n7,-1\r\n",
    ]
    for content in contents:
        found = known_values(read_values(file(content)), nodes)
        assert np.array_equal(found, expected, equal_nan=True), content
    pl.DataFrame({"node": nodes, "value": [2.5, None, -1]}).write_parquet(tmp_path / "v.parquet")
    found = known_values(read_values(tmp_path / "v.parquet"), nodes)
    assert np.array_equal(found, expected, equal_nan=True)
    chosen = read_values(file("a,b,c\n1,2,x\n"), node="c", value="a")
    assert chosen == {"x": 1.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,1\nb,2\n\na,3\n", "line 4: node 'a' has the value 3 here, but 1 in line 1"),
        ("7,1\n7,\n", "line 2: node 7 has the value nan here, but 1 in line 1"),
        ("a,1\nb,high\n", "line 2, column 2: 'high' is not a finite decimal number"),
        ("a,1\nb,-inf\n", "line 2, column 2: '-inf' is not a finite"),
        ("node,value\n", "there is a header, but no data"),
        (b"%%MatrixMarket matrix array real general\n1 1\n1\n", "values are read from text tables"),
    ],
)
def test_wrong_values(content, message, file, way):
    with pytest.raises(GraphFileError, match=message):
        read_values(file(content))


def test_two_values_in_parquet_name_rows(tmp_path):
    pl.DataFrame({"node": ["a", "a"], "value": [1, 2]}).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(
        GraphFileError, match="row 2: node 'a' has the value 2 here, but 1 in row 1"
    ):
        read_values(tmp_path / "v.parquet")


def test_progress_goes_up_to_the_end(file, way):
    calls = []
    read_edges(
        file(gzip.compress(b"1,2\n" * 1000), "e.csv.gz"),
        progress=lambda *call: calls.append(call),
    )
    assert {stage for stage, _, _ in calls} == {"reading", "unpacking", "parsing"}
    assert all(0 < done <= total for _, done, total in calls)
    for stage in ("reading", "unpacking"):
        done, total = [call[1:] for call in calls if call[0] == stage][-1]
        assert done == total


@pytest.mark.parametrize(
    "content",
    [
        "source,target,weight\n3,7,2\n3,5,0.5\n",
        "# SNAP\n3\t7\n# in between\n\n3\t5\r\n",
        "  3   7\n3 \t 5 \n",
        '"from","to"\n"a, b","c"\n"d",e\n',
        "a, b\nc ,d\n",
    ],
)
def test_lines_are_looked_at_one_by_one_only_for_errors(content, file, monkeypatch):
    monkeypatch.setattr(text_table, "explain_line", lambda *_: pytest.fail("line by line"))
    assert len(read_edges(file(content))) == 2


def test_large_files_are_read_in_pieces(file, monkeypatch):
    monkeypatch.setattr(text_table, "_PIECE", 64)
    edges = [(i, (7 * i) % 101, i / 8) for i in range(200)]
    text = "".join(f"{s},{t},{w}\n" for s, t, w in edges)
    assert listed(read_edges(file(text))) == edges
    # Only the last piece shows that nodes are texts.
    mixed = listed(read_edges(file(text + "x,y,1\n")))
    assert mixed == [(str(s), str(t), w) for s, t, w in [*edges, ("x", "y", 1.0)]]
    with pytest.raises(GraphFileError, match="line 201, column 3: 'w'"):
        read_edges(file(text + "x,y,w\n"))


def test_graphml_without_networkx_names_the_extra(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        GraphFileError, match=r"read with networkx: pip install 'gradraker\[networkx\]'"
    ):
        read_edges(file(b"<graphml></graphml>", "edges"))


def test_predictions_are_read_back_as_values(tmp_path):
    path = tmp_path / "predictions.csv"
    path.write_text("node,known,value,prediction\na,True,1.5,1.4\nb,False,,1.2\n")
    values = read_values(path)
    assert values["a"] == 1.5
    assert np.isnan(values["b"])


@pytest.mark.parametrize(
    ("reader", "text", "column"),
    [(read_edges, "1,2,1.5x\n2,3,1\n3,4,2\n", 3), (read_values, "1,abc\n2,3\n", 2)],
)
def test_a_mistake_in_the_first_line_is_no_header(tmp_path, reader, text, column):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(GraphFileError, match=f"line 1, column {column}"):
        reader(path)


def test_source_and_dest_name_columns(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,dest\na,b\n")
    assert len(read_edges(path)) == 1
