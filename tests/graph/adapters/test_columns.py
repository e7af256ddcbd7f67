"""Columns of a table that are taken, reported or refused, in files and in data frames."""

from typing import Any

import pytest

from examples import list_edges
from gradraker import read_edges, read_values
from gradraker._columns import ColumnNumber
from gradraker.exceptions import UnclearTableError

EDGE_HEADERS = {
    "time,sender,receiver,amount\n9,a,b,2\n8,b,c,3\n": "source = sender, target = receiver, "
    "weight = amount; 1 header line; not used: time",
    "id_1,id_2\n1,2\n2,3\n": "source = id_1, target = id_2; 1 header line",
    "FromNodeId\tToNodeId\n1\t2\n2\t3\n": "source = FromNodeId, target = ToNodeId; 1 header line",
    "from_station,to_station,trips\na,b,x\nb,c,y\n": "source = from_station, target = to_station; "
    "1 header line; not used: trips",
    "citing,cited\na,b\nb,c\n": "source = citing, target = cited; 1 header line",
    "SRC,DST,ts\n1,2,1000\n2,3,1001\n": "source = SRC, target = DST; 1 header line; not used: ts",
    "a,b\nb,c\n": "source = column 1, target = column 2; no header line",
    "1 2 0.5\n2 3 1\n": "source = column 1, target = column 2, weight = column 3; no header line",
    "u,v\nu,w\n": "source = column 1, target = column 2; no header line",
    "u,v\n1,2\n": "source = u, target = v; 1 header line",
}


@pytest.mark.parametrize(("text", "reading"), EDGE_HEADERS.items())
def test_read_edges_reports_its_columns(text: Any, reading: Any, write_file: Any) -> None:
    edges = read_edges(write_file(text))
    assert str(edges.reading) == f"read as: {reading}"
    assert reading in repr(edges)


UNCLEAR_EDGES = {
    "person,friend\nAnn,Bob\nCarl,Dora\n": ("'person', 'friend' may name", ("header",)),
    "a,b,km\nx,y,1\ny,z,2\n": ("weight could be 'km' or no column", ("weight",)),
    "edge_id,x,y\n1,2,3\n4,5,6\n": (
        "source and the target could be 'edge_id', 'x' or 'y'",
        ("source", "target"),
    ),
    "sender,receiver,from,to\na,b,c,d\nb,c,d,e\n": ("source and the target", ("source", "target")),
    "source,target,amount,count\na,b,1,2\nb,c,1,2\n": (
        "weight could be 'amount', 'count' or no column",
        ("weight",),
    ),
}


@pytest.mark.parametrize(("text", "expected"), UNCLEAR_EDGES.items())
def test_read_edges_refuses_ambiguous_tables(text: Any, expected: Any, write_file: Any) -> None:
    message, arguments = expected
    with pytest.raises(UnclearTableError, match=message) as caught:
        read_edges(write_file(text))
    assert caught.value.arguments == arguments


def test_read_edges_takes_a_given_header(write_file: Any) -> None:
    path = write_file("person,friend\nAnn,Bob\nCarl,Dora\n")
    assert [edge[:2] for edge in list_edges(read_edges(path, header=True))] == [
        ("Ann", "Bob"),
        ("Carl", "Dora"),
    ]
    assert len(read_edges(path, header=False)) == 3


VALUE_HEADERS = {
    "id,facebook_id,page_name,page_type\n": ("0,1145,A,government\n1,1149,B,tvshow\n", "value"),
    "customer,segment,ltv\n": ("x,3,10.5\ny,3,11.5\n", "value"),
    "a,b,c,d\n": ("1,2,3,4\n5,6,7,8\n", ("node", "value")),
}


@pytest.mark.parametrize(("header", "expected"), VALUE_HEADERS.items())
def test_read_values_refuses_ambiguous_tables(header: Any, expected: Any, write_file: Any) -> None:
    rows, open_roles = expected
    roles = (open_roles,) if isinstance(open_roles, str) else open_roles
    with pytest.raises(UnclearTableError) as caught:
        read_values(write_file(header + rows))
    assert set(roles) <= set(caught.value.arguments)
    assert repr(header.split(",")[0]) in str(caught.value)  # the columns are listed


def test_read_values_by_columns(write_file: Any) -> None:
    path = write_file("id,facebook_id,page_name,page_type\n0,7,A,government\n1,8,B,tvshow\n")
    values = read_values(path, node="id", value="page_type")
    assert values == {0: "government", 1: "tvshow"}
    assert values.task == "classes"
    assert str(values.reading) == (
        "read as: node = id, value = page_type; 1 header line; not used: facebook_id, page_name"
    )
    assert read_values(path, node="id", value="facebook_id") == {0: 7.0, 1: 8.0}
    by_number = read_values(path, node=ColumnNumber("1"), value=ColumnNumber("2"))
    assert by_number == {0: 7.0, 1: 8.0}


@pytest.mark.parametrize(
    ("text", "values", "reading"),
    [
        ("customer,ltv\na,1\nb,2\n", {"a": 1.0, "b": 2.0}, "node = customer, value = ltv; 1"),
        (
            "customer,segment_id,ltv\na,7,1.5\nb,7,2.5\n",
            {"a": 1.5, "b": 2.5},
            "node = customer, value = ltv; 1 header line; not used: segment_id",
        ),
        ("node,colour\na,red\nb,\n", {"a": "red", "b": None}, "node, value = colour; 1 header"),
        ("a,red\nb,red\nc,blue\n", {"a": "red", "b": "red", "c": "blue"}, "no header line"),
        ("name,label\na,x\nb,y\n", {"a": "x", "b": "y"}, "node = name, value = label; 1 header"),
    ],
)
def test_read_values_reports_its_columns(
    text: Any, values: Any, reading: Any, write_file: Any
) -> None:
    found = read_values(write_file(text))
    assert found == values
    assert reading in str(found.reading)
