"""``gradraker data``: list, info and fetch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import gradraker


def facts(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_data_list_and_info(run: Callable[..., Any]) -> None:
    listed = facts(run("data", "list", "--json"))["datasets"]
    assert [one["name"] for one in listed] == list(gradraker.datasets.list_datasets())
    table = run("data", "list").stdout
    assert all(name in table for name in gradraker.datasets.list_datasets())
    cora = facts(run("data", "info", "cora", "--json"))
    assert cora["facts"]["papers"] == 2708
    assert cora["files"][0]["url"].startswith("https://")
    shown = run("data", "info", "cora").stdout
    assert "2 708 papers" in shown
    assert "fetch_cora_con()" in shown


def test_data_fetch_writes_files_that_are_read_back(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    files = ("--edges", "edges.csv", "--values", "values.csv")
    assert run("data", "fetch", "temperature", *files, cwd=tmp_path).exit_code == 0
    data = gradraker.load_temperature()
    edges = gradraker.read_edges(tmp_path / "edges.csv")
    assert len(edges) == data.n_edges
    vectors = gradraker.adjacency_vectors(edges, nodes=data.node_names, references=data.node_names)
    np.testing.assert_array_equal(vectors.rows.toarray(), data.adjacency.toarray())
    values = gradraker.read_values(tmp_path / "values.csv")
    assert values == dict(zip(data.node_names, data.values.tolist(), strict=True))


def test_data_fetch_json_and_stdout(run: Callable[..., Any]) -> None:
    assert facts(run("data", "fetch", "temperature", "--json")) == {
        "name": "temperature",
        "nodes": 89,
        "edges": 2515,
    }
    result = run("data", "fetch", "temperature", "--values", "-")
    assert result.stdout.splitlines()[0] == "node,value"
    assert len(result.stdout.splitlines()) == 90
    assert "Licence" in result.stderr


def test_an_unknown_data_set_is_wrong_usage(run: Callable[..., Any]) -> None:
    for command in ("info", "fetch"):
        result = run("data", command, "mars")
        assert result.exit_code == 2
        assert "name must be one of 'cora'" in " ".join(result.stderr.split())


def test_data_that_cannot_be_fetched_is_exit_code_1(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(*arguments: Any, **options: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr("gradraker.datasets.fetch.download._download", offline)
    result = run("data", "fetch", "cora", "--data-home", str(tmp_path / "home"))
    assert result.exit_code == 1
    assert "cora.cites" in result.stderr
    assert "Traceback" not in result.stderr
