"""Wikipedia Math on small files: its content, and refused files."""

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradraker.datasets import fetch_wikipedia_math, fetch_wikipedia_math_graph
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError
from small_datasets import put
from small_datasets import wikipedia_content as changed


def put_wikipedia(tmp_path: Path, content: bytes | dict[str, Any]) -> Path:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    put(tmp_path / "wikipedia_math", **{"wikivital_mathematics.json": text})
    return tmp_path


def test_fetch_wikipedia_math_of_a_small_file_by_hand(
    small: Callable[..., Any], tmp_path: Path
) -> None:
    put_wikipedia(tmp_path, changed())
    data = fetch_wikipedia_math(data_home=tmp_path)
    assert repr(data) == "GraphDataset('Wikipedia-Math 2019-03-16', 3 nodes, 3 edges)"
    assert data.node_names == ("Mathematics", "Number theory", "Algebra")
    assert data.adjacency.toarray().tolist() == [[0, 1, 4], [0, 0, 2], [0, 0, 0]]
    assert data.values.tolist() == [3962.0, 774.0, 1734.0]
    for day in ("2019-03-17", datetime.date(2019, 3, 17)):
        data = fetch_wikipedia_math(day, data_home=tmp_path)
        assert data.values.tolist() == [3923.0, 772.0, 1884.0]
    graph = fetch_wikipedia_math_graph(data_home=tmp_path)
    assert (graph != data.adjacency).nnz == 0


def test_wikipedia_days_without_dates_are_counted(
    small: Callable[..., Any], tmp_path: Path
) -> None:
    put_wikipedia(tmp_path, changed(**{"1": {"y": [1, 2, 3]}}))
    assert fetch_wikipedia_math("2019-03-17", data_home=tmp_path).values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("day", ["2019-03-15", "2019-03-18", "16.3.2019", "", 0, None])
def test_wikipedia_refuses_days_outside_its_range(
    small: Callable[..., Any], tmp_path: Path, day: Any
) -> None:
    with pytest.raises(ValueError, match=r"day must be from 2019-03-16 to 2019-03-17.*got") as e:
        fetch_wikipedia_math(day, data_home=tmp_path)
    assert repr(day) in str(e.value)


def test_wikipedia_days_are_those_of_the_paper() -> None:
    with pytest.raises(ValueError, match="from 2019-03-16 to 2021-03-15"):
        fetch_wikipedia_math("2021-03-16")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be read"),
        (b"[1, 2]", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"edges": [[0, 1]]', "cannot be read"),
        (b"\xff\xff", "cannot be read"),
        ({"edges": []}, "cannot be read: KeyError.'node_ids'"),
        (changed(node_ids=["a", "b", "c"]), "cannot be read"),
        (changed(node_ids={"a": 0, "b": 1}), "has 2 pages instead of 3"),
        (changed(node_ids={"a": 0, "b": 1, "c": 3}), "node_ids must number the pages"),
        (changed(edges=[[0, 1], [0, 2]]), "2 edges need as many weights"),
        (changed(edges=[[0, 1], [0, 2]], weights=[1, 1]), "has 2 edges instead of 3"),
        (changed(edges=[0, 1, 2]), "edges must be pairs"),
        (changed(edges=[[0, 1], [0, 2], [1, 3]]), "edges must be between 0 and 2"),
        (
            changed(edges=[[0, 1], [0, 2], [1, 2], [1, 2]], weights=[1, 1, 1, 1]),
            "an edge occurs more than once",
        ),
        (changed(weights=[1, 4, -2]), "weights must be finite and larger than 0"),
        (changed(weights=[1, 4, None]), "weights must be|cannot be read"),
        (changed(time_periods=1), "has 1 days instead of 2"),
        (changed(**{"0": {"y": [1, 2]}}), "day 0: y must have 3 finite numbers"),
        (changed(**{"0": {"y": [1, 2, None]}}), "day 0"),
        (changed(**{"0": {}}), "day 0 cannot be read: KeyError"),
        (
            changed(**{"0": changed()["1"]}),
            "day 0: must be 2019-03-16; got 2019-3-17",
        ),
    ],
)
def test_wrong_wikipedia_files_are_refused_by_name(
    small: Callable[..., Any], tmp_path: Path, content: bytes | dict[str, Any], message: str
) -> None:
    put_wikipedia(tmp_path, content)
    with pytest.raises(DatasetFileError, match=message) as caught:
        fetch_wikipedia_math(data_home=tmp_path)
    assert "wikivital_mathematics.json" in str(caught.value)


def test_wikipedia_links_alone(small: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "wikipedia_math"
    edges = b"source,target,weight\n0,1,1\n0,2,4\n1,2,2\n"
    put(folder, **{"wikivital_mathematics_edges.csv": edges})
    graph = fetch_wikipedia_math_graph(data_home=tmp_path)
    assert graph.toarray().tolist() == [[0, 1, 4], [0, 0, 2], [0, 0, 0]]
    with pytest.raises(DatasetUnavailableError, match="has the links but no visits"):
        fetch_wikipedia_math(data_home=tmp_path, download=False)
    (folder / "wikivital_mathematics_edges.csv").write_bytes(edges[7:])
    with pytest.raises(DatasetFileError, match="first line must be 'source,target,weight'"):
        fetch_wikipedia_math_graph(data_home=tmp_path)
