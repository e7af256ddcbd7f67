"""Scales, several columns of values and sample weights on the command line."""

import csv
import json
from pathlib import Path
from typing import Any

import click
import networkx as nx
import numpy as np
import pytest
from click.testing import Result

from command_line import invoke, read_table
from gradraker import NodeRegressor, load
from gradraker._columns import ColumnNumber
from gradraker.cli.inputs import load_one_target
from gradraker.cli.output import StatusLine
from gradraker.io import readers


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    graph = nx.les_miserables_graph()
    between = nx.betweenness_centrality(graph)
    rng = np.random.default_rng(0)
    with Path("edges.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("source", "target"), *graph.edges()])
    with Path("values.csv").open("w", newline="") as file:
        rows: list[Any] = [("node", "between", "size", "trust")]
        for i, node in enumerate(list(graph)[::2]):
            rows.append((node, between[node], "" if i % 7 == 0 else rng.random(), 1 + i % 3))
        csv.writer(file).writerows(rows)
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    fixed = ["--edges", "edges.csv", "--undirected", "--values", "values.csv"]
    result = invoke("predict", *fixed, *arguments)
    assert result.exit_code == code, result.output
    return result


@pytest.mark.usefixtures("files")
def test_the_scale_is_printed_and_can_be_given() -> None:
    output = run("--value", "between").output
    assert "Weights add up in" in output
    assert "log(1 + value" in output
    assert "Weights add up in" not in run("--value", "between", "--transform", "none").output
    median = run("--value", "between", "--statistic", "median", "--json")
    summary = json.loads(median.stdout)
    assert summary["choice"]["statistic"] == "median"
    assert summary["settings"]["transform"] == "auto"
    run("--value", "between", "--report", "page.html", "--model", "model.gr")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Weights add up in the scale log(1 + value" in page
    explained = invoke("explain", "--model", "model.gr", "--node", "Gavroche")
    assert "Weights add up in" in explained.output


@pytest.mark.usefixtures("files")
def test_several_columns_are_predicted_together() -> None:
    result = run(
        "--value", "between,size", "--out", "out.csv", "--model", "m.gr", "--coverage", "0.8"
    )
    assert "between" in result.output
    rows = read_table("out.csv")
    assert len(rows) == 77
    columns = ["value", "prediction", "lower", "upper"]
    assert list(rows[0]) == ["node", *(f"{c}_{t}" for t in ("between", "size") for c in columns)]
    model = load("m.gr")
    assert isinstance(model, NodeRegressor)
    assert model.target_names_ == ["between", "size"]
    expected = model.predict([row["node"] for row in rows])
    found = [[float(row["prediction_between"]), float(row["prediction_size"])] for row in rows]
    np.testing.assert_allclose(found, expected)
    summary = json.loads(run("--value", "between, size", "--json").stdout)
    assert [one["known"] for one in summary["targets"]] == [39, 33]


@pytest.mark.usefixtures("files")
def test_file_of_several_columns_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened, from_disk = [], readers.open_file

    def open_file(path: Any, *arguments: Any) -> Any:
        opened.append(path)
        return from_disk(path, *arguments)

    monkeypatch.setattr(readers, "open_file", open_file)
    run("--value", "between,size", "--model", "m.gr")
    update("--values", "values.csv")
    assert opened == ["edges.csv", "values.csv", "values.csv"]
    known = Path("values.csv").read_text()
    fixed = ["predict", "--edges", "edges.csv", "--undirected", "--values", "-"]
    result = invoke(*fixed, "--value", "between,size", "--json", input=known)
    assert [one["known"] for one in json.loads(result.stdout)["targets"]] == [39, 33]


@pytest.mark.usefixtures("files")
def test_one_of_several_targets_is_explained() -> None:
    run("--value", "between,size", "--model", "m.gr")
    ask = ["explain", "--model", "m.gr", "--node", "Gavroche", "--json"]
    found = invoke(*ask, "--target", "between")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["prediction"] >= 0.0
    same = invoke(*ask, "--value", "between")
    assert same.stdout == found.stdout
    for more in ([], ["--target", "nothing"]):
        refused = invoke(*ask, *more)
        assert refused.exit_code == 2
        assert "between, size" in refused.output


def update(*arguments: str, code: int = 0) -> Result:
    result = invoke("update", "--model", "m.gr", *arguments)
    assert result.exit_code == code, result.output
    return result


@pytest.mark.usefixtures("files")
def test_several_targets_are_updated_and_forgotten() -> None:
    run("--value", "between,size", "--model", "m.gr", "--coverage", "0.8", "--lower", "0")
    first, second, third = load("m.gr").unknown_nodes_[:3]
    before = load("m.gr").predict([first])
    Path("new.csv").write_text(f"node,between,size\n{first},0.2,0.5\n{second},,0.9\n")
    facts = json.loads(update("--values", "new.csv", "--out", "out.csv", "--json").stdout)
    assert [one["known"] for one in facts["targets"]] == [40, 35]
    assert (facts["learned"], facts["passed_over"]) == (3, 0)
    assert facts["targets"][0]["rmse_before"] == pytest.approx(abs(0.2 - before[0, 0]))
    assert facts["targets"][1]["rmse_before_of_mean"] > 0.0
    rows = {row["node"]: row for row in read_table("out.csv")}
    assert (rows[first]["value_between"], rows[second]["value_size"]) == ("0.2", "0.9")
    assert float(rows[first]["lower_size"]) >= 0.0  # intervals and bounds are kept
    assert load("m.gr").values_.shape == (77, 2)
    Path("one.csv").write_text(f"node,size\n{third},0.1\n")
    assert "not a column" in update("--values", "one.csv", code=1).stderr
    facts = json.loads(update("--values", "one.csv", "--value", "size", "--json").stdout)
    assert [one["known"] for one in facts["targets"]] == [40, 36]
    told = update("--values", "new.csv").output
    assert "Model unchanged" in told
    assert "3 values, learned before" in told
    facts = json.loads(update("--forget-value", first, "--json").stdout)
    assert [one["known"] for one in facts["targets"]] == [39, 35]
    update("--report", "page.html")
    assert "<option" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_contributors_of_several_targets_are_in_the_table_and_in_json() -> None:
    found = run("--value", "between,size", "--top", "1", "--out", "out.csv", "--json")
    model = run("--value", "size", "--top", "1", "--json")
    targets = json.loads(found.stdout)["targets"]
    assert [len(one["predictions"]) for one in targets] == [38, 44]
    assert list(json.loads(model.stdout)["predictions"][0]) == list(targets[1]["predictions"][0])
    by_node = {row["node"]: row for row in read_table("out.csv")}
    for one in targets[1]["predictions"]:
        heaviest = one["contributors"][0]
        assert by_node[one["node"]]["contributor_1_size"] == heaviest["node"]
        assert float(by_node[one["node"]]["weight_1_size"]) == pytest.approx(heaviest["weight"])


@pytest.mark.usefixtures("files")
def test_a_target_of_which_few_values_are_known_has_no_error_on_the_page() -> None:
    rows = Path("values.csv").read_text().splitlines()
    few = [f"{row},{i if 0 < i < 4 else ''}" for i, row in enumerate(rows[1:])]
    Path("values.csv").write_text("\n".join([f"{rows[0]},few", *few]))
    run("--value", "between,few", "--report", "page.html", "--unit", "shares,pieces")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<td>3</td><td>74</td><td>–</td><td>–</td>" in page
    assert " shares</td>" in page
    output = run("--value", "between,few", "--unit", "a,b,c", code=2).output
    assert "--unit names 3 units for 2 columns" in output


@pytest.mark.usefixtures("files")
def test_a_service_takes_one_of_several_targets_by_its_name() -> None:
    run("--value", "between,size", "--model", "m.gr", "--sample-weight", "trust")
    with StatusLine() as status:
        found = load_one_target("m.gr", ColumnNumber("size"), status)
        assert found.target_names_ == []
        assert found.known_values_.shape == (33,)
        run("--value", "size", "--model", "one.gr", "--sample-weight", "trust")
        expected = load("one.gr")
        np.testing.assert_allclose(found.predict(), expected.predict(found.unknown_nodes_))
        for value, message in ((None, "such as --value between"), ("no", "none of them is 'no'")):
            column = None if value is None else ColumnNumber(value)
            with pytest.raises(click.UsageError, match=message):
                load_one_target("m.gr", column, status)
    for command in (["serve", "--port", "0"], ["studio", "--no-browser"]):
        refused = invoke(*command, "--model", "m.gr")
        assert refused.exit_code == 2
        assert "--value between" in refused.output


@pytest.mark.usefixtures("files")
def test_sample_weights_are_read_from_a_column() -> None:
    plain, weighed = (
        run("--value", "between", "--out", "-", *more).stdout
        for more in ([], ["--sample-weight", "trust"])
    )
    assert plain != weighed
    assert "not a column" in run("--value", "between", "--sample-weight", "no", code=1).output


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--value", "between,between"), "twice"),
        (("--value", "between,size", "--method", "skg"), "--method nodes"),
        (("--value", "between", "--method", "skg", "--transform", "log"), "--method nodes"),
        (("--value", "between", "--method", "skg", "--sample-weight", "trust"), "--method nodes"),
        (("--value", "between", "--transform", "cube"), "cube"),
    ],
)
def test_bad_options_are_refused(arguments: tuple[str, ...], message: str) -> None:
    assert message in run(*arguments, code=2).output


@pytest.mark.usefixtures("files")
def test_a_model_of_several_targets_takes_new_edges_and_keeps_a_value_of_each() -> None:
    Path("few.csv").write_text("node,a,b\nValjean,1,\nGavroche,2,3\nCosette,4,\n")
    fixed = ["--edges", "edges.csv", "--undirected", "--values", "few.csv"]
    fitted = invoke("predict", *fixed, "--value", "a,b", "--model", "m.gr")
    assert fitted.exit_code == 0, fitted.output
    Path("more.csv").write_text("source,target\nGavroche,Newcomer\n")
    update("--edges", "more.csv", "--out", "out.csv")
    assert read_table("out.csv")[-1]["node"] == "Newcomer"
    error = update("--forget-value", "Gavroche", code=1).stderr
    assert "no node has a known value of the target 'b'" in error
    assert "'x'" in update("--forget-node", "x", code=1).stderr
    assert "not known" in update("--forget-value", "Newcomer", code=1).stderr


@pytest.mark.usefixtures("files")
def test_errors_of_few_values_are_stated_as_for_one_target() -> None:
    lines = Path("values.csv").read_text(encoding="utf-8").splitlines()
    Path("values.csv").write_text("\n".join(lines[:6]), encoding="utf-8")
    targets = json.loads(run("--value", "between,size", "--json").stdout)["targets"]
    alone = json.loads(run("--value", "between", "--json").stdout)
    assert alone["held_out"] is None
    assert [(one["target"], one["rmse"]) for one in targets] == [("between", None), ("size", None)]
