"""``gradraker update`` of the node model, which is the default."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from command_line import read_facts

KNOWN = ("--edges", "edges.csv", "--values", "known.csv")
UPDATE = ("update", "--model", "model.gr", "--edges", "edges.csv")


def test_update_needs_no_edges(run_in_copy: Callable[..., Any]) -> None:
    found = read_facts(
        run_in_copy("update", "--model", "model.gr", "--values", "new.csv", "--json")
    )
    assert (found["learned"], found["graph_changed"]) == (10, False)


def test_update_learns_only_new_values(run_in_copy: Callable[..., Any]) -> None:
    found = read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--json"))
    assert (found["learned"], found["passed_over"], found["known"]) == (10, 0, 70)
    values = gradraker.read_values("new.csv")
    edges, known = gradraker.read_edges("edges.csv"), gradraker.read_values("known.csv")
    before = gradraker.predict_nodes(edges, known)
    at = [before.nodes.tolist().index(name) for name in values]
    errors = before.predictions[at] - np.array(list(values.values()))
    assert found["rmse_before"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    together = gradraker.read_values("known.csv") | values
    at_once = gradraker.NodeRegressor(random_state=0).fit(
        gradraker.read_edges("edges.csv"), together
    )
    names = [one["node"] for one in found["predictions"]]
    assert len(names) == 19
    np.testing.assert_allclose(
        [one["prediction"] for one in found["predictions"]], at_once.predict(names), atol=1e-8
    )


def test_the_same_update_twice_changes_nothing(run_in_copy: Callable[..., Any]) -> None:
    read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--json"))
    once = Path("model.gr").read_bytes()
    found = read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--json"))
    assert (found["learned"], found["passed_over"]) == (0, 10)
    assert not found["graph_changed"]
    assert Path("model.gr").read_bytes() == once
    assert "Model unchanged" in run_in_copy(*UPDATE).stdout


def test_update_adds_edges_and_nodes_to_the_graph(run_in_copy: Callable[..., Any]) -> None:
    Path("e.csv").write_text("Mars,Pilatus\nMars,Titlis\n")
    A = gradraker.load("model.gr").adjacency_
    n_edges = (A.nnz + np.count_nonzero(A.diagonal())) // 2  # each of them is listed both ways
    found = read_facts(run_in_copy("update", "--model", "model.gr", "--edges", "e.csv", "--json"))
    assert found["graph_changed"]
    assert found["nodes"] == 91  # Titlis is new as well
    assert found["edges"] == n_edges + 2  # of the whole graph
    predicted = {one["node"]: one["prediction"] for one in found["predictions"]}
    assert {"Mars", "Titlis"} <= set(predicted)
    saved = gradraker.load("model.gr")
    assert saved.predict(["Mars"])[0] == pytest.approx(predicted["Mars"], abs=1e-10)
    shown = read_facts(run_in_copy("explain", "--model", "model.gr", "--node", "Mars", "--json"))
    assert shown["prediction"] == pytest.approx(predicted["Mars"], abs=1e-10)


def test_update_refuses_again_and_unknown_nodes_and_keeps_the_model(
    run_in_copy: Callable[..., Any],
) -> None:
    old = Path("model.gr").read_bytes()
    result = run_in_copy(*UPDATE, "--values", "new.csv", "--again")
    assert result.exit_code == 2
    assert "--again is for models of SKG" in result.stderr
    Path("v.csv").write_text("Atlantis,1\n")
    result = run_in_copy(*UPDATE, "--values", "v.csv")
    assert result.exit_code == 1
    assert "'Atlantis'" in result.stderr
    assert "--unknown-nodes ignore" in result.stderr
    assert Path("model.gr").read_bytes() == old
