"""The commands on the node model, which is the default: predict, explain, update."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradraker
from command_line import read_facts
from gradraker.workflow.node_predictions import NodePredictions

KNOWN = ("--edges", "edges.csv", "--values", "known.csv")


def expected(**options: Any) -> NodePredictions:
    return gradraker.predict_nodes(
        gradraker.read_edges("edges.csv"), gradraker.read_values("known.csv"), **options
    )


def test_intervals_in_every_output(run_in_copy: Callable[..., Any]) -> None:
    options = ["--coverage", "0.8", "--out", "p.csv", "--report", "r.html", "--json"]
    found = read_facts(run_in_copy("predict", *KNOWN, *options))
    result = expected(coverage=0.8)
    with open("p.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert result.intervals is not None
    assert [float(row["lower"]) for row in rows] == result.intervals[:, 0].tolist()
    assert result.intervals is not None
    assert [float(row["upper"]) for row in rows] == result.intervals[:, 1].tolist()
    assert result.intervals is not None
    unknown = result.intervals[~result.is_known]
    assert [one["lower"] for one in found["predictions"]] == unknown[:, 0].tolist()
    assert ">From<" in Path("r.html").read_text("utf-8")
    shown = run_in_copy("predict", *KNOWN, "--coverage", "0.8").stdout
    assert "From" in shown


def test_options_reach_the_model(run_in_copy: Callable[..., Any]) -> None:
    options = ["--direction", "in", "--self-loops", "drop", "--unweighted", "--seed", "5"]
    found = read_facts(run_in_copy("predict", *KNOWN, *options, "--model", "m.gr", "--json"))
    model = gradraker.NodeRegressor(direction="in", random_state=5)
    again = expected(model=model, self_loops="drop", weight=False)
    unknown = again.predictions[~again.is_known]
    assert [one["prediction"] for one in found["predictions"]] == unknown.tolist()
    assert found["settings"]["direction"] == "in"
    saved = gradraker.load("m.gr").partial_fit([("new", "Pilatus", 7.0), ("new", "new", 1.0)])
    assert saved.adjacency_[[-1]].data.tolist() == [1.0]  # read like the first edges


@pytest.mark.parametrize(
    "option",
    [
        ["--sigma2", "2"],
        ["--kernel", "cauchy"],
        ["--frequencies", "10"],
        ["--learning-rate", "0.2"],
        ["--epochs", "2"],
        ["--hops", "2"],
        ["--hop-weights", "binary"],
    ],
)
def test_options_of_skg_are_refused_for_the_node_model(
    run_in_copy: Callable[..., Any], option: list[str]
) -> None:
    result = run_in_copy("predict", *KNOWN, *option)
    assert result.exit_code == 2
    assert f"{option[0]} is an option of SKG: add --method skg" in result.stderr
    assert run_in_copy("predict", *KNOWN, *option, "--method", "skg").exit_code == 0


@pytest.mark.parametrize("coverage", ["0", "1", "nan", "-1", "much"])
def test_wrong_coverage_is_refused(run_in_copy: Callable[..., Any], coverage: str) -> None:
    assert run_in_copy("predict", *KNOWN, "--coverage", coverage).exit_code == 2


def test_coverage_is_refused_for_skg(run_in_copy: Callable[..., Any]) -> None:
    result = run_in_copy("predict", *KNOWN, "--method", "skg", "--coverage", "0.9")
    assert result.exit_code == 2
    assert "--coverage is an option of --method nodes" in result.stderr
