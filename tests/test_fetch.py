"""Fetched data sets on small files: what they say, where they look, what they refuse."""

import datetime
import hashlib
import json

import pooch
import pytest

from gradraker.datasets import (
    dataset_info,
    fetch_cora_con,
    fetch_email_eu_core,
    fetch_wikipedia_math,
    fetch_wikipedia_math_graph,
    list_datasets,
)
from gradraker.datasets.fetch.registry import REGISTRY
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError
from small_datasets import (
    CONTENT,
    CORA_FILES,
    EDGES,
    EMAIL_FILES,
    put,
    register,
    wikipedia,
)


@pytest.fixture
def small(monkeypatch):
    return register(monkeypatch)


def test_registry_is_complete():
    assert list_datasets() == tuple(sorted(REGISTRY))
    for name in list_datasets():
        info = dataset_info(name)
        assert info.licence
        assert info.citation
        assert info.facts
        for file in info.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.url.startswith("https://")
            assert file.size > 0
    with pytest.raises(TypeError):
        dataset_info("cora").facts["papers"] = 1
    with pytest.raises(ValueError, match=r"name must be one of cora, .*; got 'Cora'"):
        dataset_info("Cora")


def test_small_email_by_hand(small, tmp_path):
    put(tmp_path / "email_eu_core", **EMAIL_FILES)
    data = fetch_email_eu_core(data_home=tmp_path)
    assert data.adjacency.toarray().tolist() == [[0, 1, 0], [1, 1, 0], [1, 0, 0]]
    assert data.values.tolist() == [2.0, 2.0, 1.0]
    assert data.node_names == ("0", "1", "2")


def test_small_cora_by_hand(small, tmp_path):
    put(tmp_path / "cora", **CORA_FILES)
    data = fetch_cora_con(data_home=str(tmp_path))
    # 5 cites nobody and is left out; 7 cites 31 (and 5); 31 cites 7.
    assert data.node_names == ("31", "7")
    assert data.adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert data.values.tolist() == [7.0, 1.0]


def test_data_home_is_the_argument_then_the_variable_then_the_cache(small, tmp_path, monkeypatch):
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / f"cache-{project}")
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "variable"))
    places = {"argument": tmp_path / "argument"}
    with pytest.raises(DatasetUnavailableError, match="variable"):
        fetch_email_eu_core(download=False)
    with pytest.raises(DatasetUnavailableError, match="argument"):
        fetch_email_eu_core(data_home=places["argument"], download=False)
    monkeypatch.setenv("GRADRAKER_DATA", "")
    with pytest.raises(DatasetUnavailableError, match="cache-gradraker"):
        fetch_email_eu_core(download=False)
    put(tmp_path / "cache-gradraker" / "email_eu_core", **EMAIL_FILES)
    assert fetch_email_eu_core(download=False).n_nodes == 3


def test_a_missing_file_is_told_with_its_place_url_and_checksum(small, tmp_path):
    with pytest.raises(DatasetUnavailableError) as caught:
        fetch_email_eu_core(data_home=tmp_path, download=False)
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert "'email-Eu-core.txt' is not in" in message
    assert str(tmp_path / "email_eu_core") in message
    assert "https://snap.stanford.edu/data/email-Eu-core.txt.gz" in message
    assert hashlib.sha256(EDGES).hexdigest() in message
    assert not (tmp_path / "email_eu_core").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("email-Eu-core.txt", b"0 1\n", "has 1 edges instead of 4"),
        ("email-Eu-core.txt", b"", "has 0 edges instead of 4"),
        ("email-Eu-core.txt", b"0 1 5\n", "must have 2"),
        ("email-Eu-core.txt", b"0 1\n1 x\n", "cannot be read"),
        ("email-Eu-core.txt", b"0 1\n1\n", "cannot be read"),
        ("email-Eu-core.txt", b"\xff\xfe\x00", "cannot be read"),
        ("email-Eu-core.txt", b"0 99999999999999999999\n", "cannot be read"),
        ("email-Eu-core.txt", b"0 1\n1 0\n1 1\n3 0\n", "members from 0 to 2; got 0 to 3"),
        ("email-Eu-core.txt", b"0 1\n1 0\n1 1\n-1 0\n", "members from 0 to 2; got -1 to 1"),
        ("email-Eu-core-department-labels.txt", b"0 1\n1 1\n", "2 members instead of 3"),
        ("email-Eu-core-department-labels.txt", b"0 1\n1 1\n2 1\n", "1 departments instead of 2"),
        ("email-Eu-core-department-labels.txt", b"0 1\n1 1\n1 2\n", "0 to 2 one department each"),
    ],
)
def test_wrong_email_files_are_refused_by_name(small, tmp_path, name, content, message):
    put(tmp_path / "email_eu_core", **(EMAIL_FILES | {name: content}))
    with pytest.raises(DatasetFileError, match=message) as caught:
        fetch_email_eu_core(data_home=tmp_path)
    assert str(tmp_path / "email_eu_core" / name) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cora.content", CONTENT + b"8\t1\tTheory\n", "has 4 papers instead of 3"),
        ("cora.content", CONTENT.replace(b"Case_Based", b"Theory"), "1 classes instead of 2"),
        ("cora.content", CONTENT.replace(b"Case_Based", b"Cases"), "line 2: .* got 'Cases'"),
        ("cora.content", b"\x00\xff\n", "line 1: the last column must be"),
        ("cora.content", b"", "0 papers instead of 3 and 0 classes"),
        ("cora.cites", b"", "0 citations instead of 3 and 3 papers that cite nobody instead of 1"),
        ("cora.cites", b"31\t7\n5\t7\n31\t7\n", "2 citations instead of 3"),
        ("cora.cites", b"31\t7\n5\t9\n", "line 2: must be two papers of cora.content; got"),
        ("cora.cites", b"31\t7\t5\n", "line 1: must be two papers"),
    ],
)
def test_wrong_cora_files_are_refused_by_name(small, tmp_path, name, content, message):
    put(tmp_path / "cora", **(CORA_FILES | {name: content}))
    with pytest.raises(DatasetFileError, match=message) as caught:
        fetch_cora_con(data_home=tmp_path)
    assert str(tmp_path / "cora" / name) in str(caught.value)


def put_wikipedia(tmp_path, content):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    put(tmp_path / "wikipedia_math", **{"wikivital_mathematics.json": text})
    return tmp_path


def test_small_wikipedia_by_hand(small, tmp_path):
    put_wikipedia(tmp_path, wikipedia())
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


def test_wikipedia_days_without_dates_are_counted(small, tmp_path):
    put_wikipedia(tmp_path, wikipedia(**{"1": {"y": [1, 2, 3]}}))
    assert fetch_wikipedia_math("2019-03-17", data_home=tmp_path).values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("day", ["2019-03-15", "2019-03-18", "16.3.2019", "", 0, None])
def test_wikipedia_refuses_days(small, tmp_path, day):
    with pytest.raises(ValueError, match=r"day must be from 2019-03-16 to 2019-03-17.*got") as e:
        fetch_wikipedia_math(day, data_home=tmp_path)
    assert repr(day) in str(e.value)


def test_wikipedia_days_are_those_of_the_paper():
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
        (wikipedia(node_ids=["a", "b", "c"]), "cannot be read"),
        (wikipedia(node_ids={"a": 0, "b": 1}), "has 2 pages instead of 3"),
        (wikipedia(node_ids={"a": 0, "b": 1, "c": 3}), "node_ids must number the pages"),
        (wikipedia(edges=[[0, 1], [0, 2]]), "2 edges need as many weights"),
        (wikipedia(edges=[[0, 1], [0, 2]], weights=[1, 1]), "has 2 edges instead of 3"),
        (wikipedia(edges=[0, 1, 2]), "edges must be pairs"),
        (wikipedia(edges=[[0, 1], [0, 2], [1, 3]]), "edges must be between 0 and 2"),
        (
            wikipedia(edges=[[0, 1], [0, 2], [1, 2], [1, 2]], weights=[1, 1, 1, 1]),
            "an edge is there more than once",
        ),
        (wikipedia(weights=[1, 4, -2]), "weights must be finite and larger than 0"),
        (wikipedia(weights=[1, 4, None]), "weights must be|cannot be read"),
        (wikipedia(time_periods=1), "has 1 days instead of 2"),
        (wikipedia(**{"0": {"y": [1, 2]}}), "day 0: y must have 3 finite numbers"),
        (wikipedia(**{"0": {"y": [1, 2, None]}}), "day 0"),
        (wikipedia(**{"0": {}}), "day 0 cannot be read: KeyError"),
        (wikipedia(**{"0": wikipedia()["1"]}), "day 0: must be 2019-03-16; got 2019-3-17"),
    ],
)
def test_wrong_wikipedia_files_are_refused_by_name(small, tmp_path, content, message):
    put_wikipedia(tmp_path, content)
    with pytest.raises(DatasetFileError, match=message) as caught:
        fetch_wikipedia_math(data_home=tmp_path)
    assert "wikivital_mathematics.json" in str(caught.value)


def test_wikipedia_links_alone(small, tmp_path):
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
