"""The commands on the node model, which is the default: predict, explain, update."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import gradraker
from gradraker.cli import main
from gradraker.workflow.node_predictions import NodePredictions


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="gradraker")


def facts(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    are_notes = [": read as: " in line or "directed" in line for line in result.stderr.splitlines()]
    assert all(are_notes)
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Edges and values of the stations, 60 known ones, 10 new ones, and a model of the known."""
    folder = tmp_path_factory.mktemp("made")
    fetched = ["--edges", str(folder / "edges.csv"), "--values", str(folder / "values.csv")]
    assert invoke("data", "fetch", "temperature", *fetched).exit_code == 0
    head, *rows = (folder / "values.csv").read_text("utf-8").splitlines(keepends=True)
    (folder / "known.csv").write_text("".join([head, *rows[:60]]), "utf-8")
    (folder / "new.csv").write_text("".join([head, *rows[60:70]]), "utf-8")
    known = ["--edges", str(folder / "edges.csv"), "--values", str(folder / "known.csv")]
    assert invoke("predict", *known, "--model", str(folder / "model.gr")).exit_code == 0
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return invoke


KNOWN = ("--edges", "edges.csv", "--values", "known.csv")
UPDATE = ("update", "--model", "model.gr", "--edges", "edges.csv")


def expected(**options: Any) -> NodePredictions:
    return gradraker.predict_nodes(
        gradraker.read_edges("edges.csv"), gradraker.read_values("known.csv"), **options
    )


def test_intervals_in_every_output(run: Callable[..., Any]) -> None:
    options = ["--coverage", "0.8", "--out", "p.csv", "--report", "r.html", "--json"]
    found = facts(run("predict", *KNOWN, *options))
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
    shown = run("predict", *KNOWN, "--coverage", "0.8").stdout
    assert "From" in shown


def test_options_reach_the_model(run: Callable[..., Any]) -> None:
    options = ["--direction", "in", "--self-loops", "drop", "--unweighted", "--seed", "5"]
    found = facts(run("predict", *KNOWN, *options, "--model", "m.gr", "--json"))
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
    run: Callable[..., Any], option: list[str]
) -> None:
    result = run("predict", *KNOWN, *option)
    assert result.exit_code == 2
    assert f"{option[0]} is an option of SKG: add --method skg" in result.stderr
    assert run("predict", *KNOWN, *option, "--method", "skg").exit_code == 0


@pytest.mark.parametrize("coverage", ["0", "1", "nan", "-1", "much"])
def test_wrong_coverage_is_refused(run: Callable[..., Any], coverage: str) -> None:
    assert run("predict", *KNOWN, "--coverage", coverage).exit_code == 2


def test_coverage_is_refused_for_skg(run: Callable[..., Any]) -> None:
    result = run("predict", *KNOWN, "--method", "skg", "--coverage", "0.9")
    assert result.exit_code == 2
    assert "--coverage is an option of --method nodes" in result.stderr


def test_explanation_adds_up(run: Callable[..., Any]) -> None:
    found = facts(
        run("explain", "--model", "model.gr", "--node", "Pilatus", "--top", "99", "--json")
    )
    predicted = facts(run("predict", *KNOWN, "--json"))["predictions"]
    (prediction,) = [one["prediction"] for one in predicted if one["node"] == "Pilatus"]
    assert found["prediction"] == pytest.approx(prediction, rel=1e-12)
    assert len(found["contributors"]) == found["observed"] == 60
    values = gradraker.read_values("known.csv")
    assert found["mean"] == pytest.approx(np.mean(list(values.values())))
    total = sum(one["contribution"] for one in found["contributors"])
    assert found["mean"] + total == pytest.approx(prediction, rel=1e-9)
    assert found["sum_of_weights"] == pytest.approx(1.0)
    assert all(one["value"] == values[one["node"]] for one in found["contributors"])
    table = run("explain", "--model", "model.gr", "--node", "Pilatus").stdout
    assert "Squared distance" not in table


def test_explain_refuses_unknown_nodes_and_edges(run: Callable[..., Any]) -> None:
    result = run("explain", "--model", "model.gr", "--node", "Atlantis")
    assert result.exit_code == 1
    assert "'Atlantis' is not in the graph that the model has learned" in result.stderr
    result = run("explain", "--model", "model.gr", "--edges", "edges.csv", "--node", "Pilatus")
    assert result.exit_code == 2


def test_explain_of_skg_needs_no_edges(run: Callable[..., Any]) -> None:
    assert run("predict", *KNOWN, "--method", "skg", "--model", "m.skg").exit_code == 0
    assert run("explain", "--model", "m.skg", "--node", "Pilatus").exit_code == 0


def test_update_needs_no_edges(run: Callable[..., Any]) -> None:
    found = facts(run("update", "--model", "model.gr", "--values", "new.csv", "--json"))
    assert (found["learned"], found["graph_changed"]) == (10, False)


def test_update_learns_only_new_values(run: Callable[..., Any]) -> None:
    found = facts(run(*UPDATE, "--values", "new.csv", "--json"))
    assert (found["learned"], found["passed_over"], found["known"]) == (10, 0, 70)
    values = gradraker.read_values("new.csv")
    before = expected()
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


def test_the_same_update_twice_changes_nothing(run: Callable[..., Any]) -> None:
    facts(run(*UPDATE, "--values", "new.csv", "--json"))
    once = Path("model.gr").read_bytes()
    found = facts(run(*UPDATE, "--values", "new.csv", "--json"))
    assert (found["learned"], found["passed_over"]) == (0, 10)
    assert not found["graph_changed"]
    assert Path("model.gr").read_bytes() == once
    assert "Model unchanged" in run(*UPDATE).stdout


def test_update_adds_edges_and_nodes_to_the_graph(run: Callable[..., Any]) -> None:
    Path("e.csv").write_text("Mars,Pilatus\nMars,Titlis\n")
    A = gradraker.load("model.gr").adjacency_
    n_edges = (A.nnz + np.count_nonzero(A.diagonal())) // 2  # each of them is listed both ways
    found = facts(run("update", "--model", "model.gr", "--edges", "e.csv", "--json"))
    assert found["graph_changed"]
    assert found["nodes"] == 91  # Titlis is new as well
    assert found["edges"] == n_edges + 2  # of the whole graph
    predicted = {one["node"]: one["prediction"] for one in found["predictions"]}
    assert {"Mars", "Titlis"} <= set(predicted)
    saved = gradraker.load("model.gr")
    assert saved.predict(["Mars"])[0] == pytest.approx(predicted["Mars"], abs=1e-10)
    shown = facts(run("explain", "--model", "model.gr", "--node", "Mars", "--json"))
    assert shown["prediction"] == pytest.approx(predicted["Mars"], abs=1e-10)


def test_update_refuses_wrong_options_and_data(run: Callable[..., Any]) -> None:
    old = Path("model.gr").read_bytes()
    result = run(*UPDATE, "--values", "new.csv", "--again")
    assert result.exit_code == 2
    assert "--again is for models of SKG" in result.stderr
    Path("v.csv").write_text("Atlantis,1\n")
    result = run(*UPDATE, "--values", "v.csv")
    assert result.exit_code == 1
    assert "'Atlantis'" in result.stderr
    assert "--unknown-nodes ignore" in result.stderr
    assert Path("model.gr").read_bytes() == old
