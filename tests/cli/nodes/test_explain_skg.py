"""``gradraker explain`` of models of SKG."""

from collections.abc import Callable
from typing import Any

import pytest

import gradraker
from command_line import read_facts


def test_explanation_of_skg_adds_up_to_the_prediction(run_in_copy: Callable[..., Any]) -> None:
    name = "Pilatus"
    found = read_facts(
        run_in_copy("explain", "--model", "model.skg", "--node", name, "--top", "1000", "--json")
    )
    known = ["--edges", "edges.csv", "--values", "known.csv"]
    predicted = read_facts(run_in_copy("predict", *known, "--method", "skg", "--json"))
    (expected,) = [one["prediction"] for one in predicted["predictions"] if one["node"] == name]
    assert found["prediction"] == pytest.approx(expected, rel=1e-12)
    assert len(found["contributors"]) == found["observed"] == 60
    total = sum(one["contribution"] for one in found["contributors"])
    assert found["mean"] + total == pytest.approx(expected, rel=1e-10)
    values = gradraker.read_values("known.csv")
    assert all(one["value"] == values[one["node"]] for one in found["contributors"])
    assert found["listed_part"] == pytest.approx(1.0)


def test_explain_takes_no_edges_since_the_model_holds_its_graph(
    run_in_copy: Callable[..., Any],
) -> None:
    result = run_in_copy(
        "explain", "--model", "model.skg", "--edges", "edges.csv", "--node", "Pilatus"
    )
    assert result.exit_code == 2
    assert "--edges" in result.stderr


def test_explain_refuses_wrong_nodes_and_models(
    run_in_copy: Callable[..., Any],
) -> None:
    files = ["--node", "Pilatus"]
    result = run_in_copy("explain", "--model", "model.skg", "--node", "Atlantis")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: --node: 'Atlantis' is not in the graph that the model has learned\n",
    )
    assert run_in_copy("explain", "--model", "-", *files).exit_code == 2
    assert run_in_copy("explain", "--model", "edges.csv", *files).exit_code == 1
    assert run_in_copy("explain", "--model", "none.skg", *files).exit_code == 1
    gradraker.SKGRegressor(sigma2=1.0).fit([[1.0]], [1.0]).save("bare.skg")
    result = run_in_copy("explain", "--model", "bare.skg", *files)
    assert result.exit_code == 1
    assert "'gradraker predict --model'" in result.stderr
