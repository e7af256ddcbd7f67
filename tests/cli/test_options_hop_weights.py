"""``--hop-weights``: how walks count, for every command that describes nodes by walks."""

import json
from pathlib import Path

import pytest

import gradraker
from command_line import invoke

FILES = ("--edges", "edges.csv", "--values", "values.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with edges.csv and values.csv to be in."""
    monkeypatch.chdir(tmp_path)
    done = invoke("data", "fetch", "temperature", *FILES)
    assert done.exit_code == 0, done.output


def test_ranges_are_those_of_the_library() -> None:
    walks = ("--hops", "2", "--hop-weights", "random_walk")
    result = invoke("ranges", "--edges", "edges.csv", *walks, "--json")
    assert result.exit_code == 0, result.output
    graph = gradraker.read_edges("edges.csv")
    vectors = gradraker.adjacency_vectors(graph, hops=2, hop_weights="random_walk")
    expected = gradraker.sigma2_ranges(vectors.rows).extending_disturbing
    assert json.loads(result.stdout)["extending_disturbing"] == expected


def test_a_sweep_uses_the_hop_weights() -> None:
    quick = ("--sigma2", "0.5:50:3", "--repeats", "4", "--frequencies", "20")
    result = invoke("sweep", *FILES, *quick, "--hops", "2", "--hop-weights", "binary")
    assert result.exit_code == 0, result.output
    largest = gradraker.sweep.SweepResult.load("sweep.jsonl").squared_distances.max()
    assert 0.0 < largest <= 36.0  # rows of 0 and 1 with a column for each sampled node


def test_a_saved_model_keeps_how_walks_count() -> None:
    options = ("--method", "skg", "--sigma2", "2", "--hops", "2", "--hop-weights", "binary")
    assert invoke("predict", *FILES, *options, "--model", "new.skg").exit_code == 0
    model = gradraker.load("new.skg")
    assert (model.hops, model.hop_weights) == (2, "binary")


@pytest.mark.parametrize("command", [["ranges"], ["predict", "--method", "skg"], ["sweep"]])
def test_negative_weights_are_refused_by_the_name_of_the_option(command: list[str]) -> None:
    Path("signed.csv").write_text("source,target,weight\na,b,-1\nb,c,2\nc,a,1\n")
    Path("three.csv").write_text("node,value\na,1\nb,2\nc,3\n")
    files = ("--edges", "signed.csv", "--values", "three.csv")
    result = invoke(*command, *files, "--hop-weights", "random_walk")
    assert result.exit_code == 1
    assert "weights of at least 0, got -1: pass --unweighted, or count walks" in result.stderr


def test_the_node_model_refuses_hop_weights() -> None:
    graph, known = [("a", "b"), ("b", "c")], {"a": 1.0, "b": 2.0}
    with pytest.raises(TypeError, match="'hop_weights' is not an option of a graph"):
        gradraker.predict_nodes(graph, known, hop_weights="binary")
