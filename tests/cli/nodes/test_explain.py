"""``gradraker explain``: weights of known nodes that add up to the prediction."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradraker
from command_line import read_facts

KNOWN = ("--edges", "edges.csv", "--values", "known.csv")


def test_explanation_of_the_node_model_adds_up_to_the_prediction(
    run_in_copy: Callable[..., Any],
) -> None:
    found = read_facts(
        run_in_copy("explain", "--model", "model.gr", "--node", "Pilatus", "--top", "99", "--json")
    )
    predicted = read_facts(run_in_copy("predict", *KNOWN, "--json"))["predictions"]
    (prediction,) = [one["prediction"] for one in predicted if one["node"] == "Pilatus"]
    assert found["prediction"] == pytest.approx(prediction, rel=1e-12)
    assert len(found["contributors"]) == found["observed"] == 60
    values = gradraker.read_values("known.csv")
    assert found["mean"] == pytest.approx(np.mean(list(values.values())))
    total = sum(one["contribution"] for one in found["contributors"])
    assert found["mean"] + total == pytest.approx(prediction, rel=1e-9)
    assert found["sum_of_weights"] == pytest.approx(1.0)
    assert all(one["value"] == values[one["node"]] for one in found["contributors"])
    table = run_in_copy("explain", "--model", "model.gr", "--node", "Pilatus").stdout
    assert "Squared distance" not in table


def test_explain_refuses_unknown_nodes_and_edges(run_in_copy: Callable[..., Any]) -> None:
    result = run_in_copy("explain", "--model", "model.gr", "--node", "Atlantis")
    assert result.exit_code == 1
    assert "'Atlantis' is not in the graph that the model has learned" in result.stderr
    result = run_in_copy(
        "explain", "--model", "model.gr", "--edges", "edges.csv", "--node", "Pilatus"
    )
    assert result.exit_code == 2


def test_explain_of_skg_needs_no_edges(run_in_copy: Callable[..., Any]) -> None:
    assert run_in_copy("predict", *KNOWN, "--method", "skg", "--model", "m.skg").exit_code == 0
    assert run_in_copy("explain", "--model", "m.skg", "--node", "Pilatus").exit_code == 0
