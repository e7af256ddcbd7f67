"""``gradraker predict``: what it prints and writes, and what it refuses."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import gradraker
from gradraker.cli.options import HOP_WEIGHTS, KERNELS, SIGMA2_RULES
from gradraker.cli.output import make_printable
from gradraker.workflow.node_predictions import NodePredictions


def write_rows(path: Path | str, rows: list[Any]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def read_rows(text: str) -> list[Any]:
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def expected(stations: Path) -> NodePredictions:
    return gradraker.predict_nodes(
        gradraker.read_edges(stations / "edges.csv"), gradraker.read_values(stations / "known.csv")
    )


def test_predict_prints_a_table(predict: Callable[..., Any], expected: Any) -> None:
    result = predict()
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    text = " ".join(result.stdout.split())
    assert "Graph 89 nodes, 1 302 undirected edges" in text
    assert "Values 60 known, 29 to predict" in text
    assert "Compared by " in text
    assert all(block in text for block in expected.model.blocks_)
    assert "60 of the known nodes, one at a time" in text
    held_out = expected.left_out.error
    assert f"RMSE {held_out.rmse:.4g} ({held_out.rmse_of_mean:.4g} by the mean)" in text
    assert f"GNMSE {held_out.gnmse:.4g} ({held_out.gnmse_of_mean:.4g} by the mean)" in text
    assert "Predictions, 5 of 29" in text
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_csv_holds_exactly_what_the_library_predicts(
    predict: Callable[..., Any], expected: NodePredictions
) -> None:
    assert predict("--out", "p.csv").exit_code == 0
    rows = read_rows(Path("p.csv").read_text("utf-8"))
    assert [row["node"] for row in rows] == expected.nodes.tolist()
    assert [float(row["prediction"]) for row in rows] == expected.predictions.tolist()
    assert [row["known"] == "true" for row in rows] == expected.is_known.tolist()
    for row, value in zip(rows, expected.values.tolist(), strict=True):
        assert row["value"] == ("" if np.isnan(value) else repr(value))
    assert list(rows[0]) == ["node", "known", "value", "prediction"]


def test_csv_lists_contributors_and_their_weights(
    predict: Callable[..., Any], expected: NodePredictions
) -> None:
    assert predict("--out", "p.csv", "--top", "2").exit_code == 0
    rows = read_rows(Path("p.csv").read_text("utf-8"))
    frame = expected.to_frame(n_contributors=2)
    for column in ("contributor_1", "contributor_2"):
        assert [row[column] for row in rows] == frame[column].tolist()
    for column in ("weight_1", "weight_2"):
        assert [float(row[column]) for row in rows] == frame[column].tolist()


def test_json_is_one_object(predict: Callable[..., Any], expected: Any) -> None:
    result = predict("--json", "--top", "1", "--out", "p.csv", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    facts = json.loads(result.stdout)
    assert facts["held_out"]["rmse"] == expected.left_out.error.rmse
    assert len(facts["predictions"]) == 29
    assert len(facts["predictions"][0]["contributors"]) == 1
    assert facts["settings"]["direction"] == "both"
    assert {term["block"] for term in facts["choice"]["kernel"]} == set(expected.model.blocks_)
    assert facts["inputs"] == {"edges": "edges.csv", "values": "known.csv"}
    # The same dict makes the report.
    from gradraker.report import build_explorer, render_predictions

    page = render_predictions(facts, explorer=build_explorer(expected))
    assert Path("r.html").read_text("utf-8") == page


def test_standard_output_gets_the_csv_alone(
    predict: Callable[..., Any], expected: NodePredictions
) -> None:
    result = predict("--out", "-")
    assert result.exit_code == 0
    rows = read_rows(result.stdout)
    assert [float(row["prediction"]) for row in rows] == expected.predictions.tolist()
    assert "89 nodes" in result.stderr


@pytest.mark.parametrize("which", ["edges", "values"])
def test_edges_or_values_may_come_from_standard_input(
    predict: Callable[..., Any], which: str
) -> None:
    assert predict("--out", "p.csv").exit_code == 0
    file = {"edges": "edges.csv", "values": "known.csv"}[which]
    result = predict("--out", "q.csv", **{which: "-"}, input=Path(file).read_bytes())
    assert result.exit_code == 0, result.output
    assert Path("q.csv").read_bytes() == Path("p.csv").read_bytes()


def test_options_reach_the_library(predict: Callable[..., Any], expected: NodePredictions) -> None:
    options = ["--direction", "in", "--self-loops", "drop", "--unweighted", "--hops", "2"]
    options += ["--hop-weights", "random_walk"]
    learner = ["--sigma2", "7.5", "--kernel", "cauchy", "--frequencies", "50"]
    training = ["--learning-rate", "0.2", "--epochs", "2", "--seed", "5"]
    result = predict("--method", "skg", *options, *learner, *training, "--json", "--model", "m.skg")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    again = gradraker.predict_nodes(
        gradraker.read_edges("edges.csv"),
        gradraker.read_values("known.csv"),
        self_loops="drop",
        weight=False,
        model=gradraker.SKGNodeRegressor(
            direction="in",
            hops=2,
            hop_weights="random_walk",
            sigma2=7.5,
            kernel="cauchy",
            n_frequencies=50,
            learning_rate=0.2,
            n_epochs=2,
            random_state=5,
        ),
    )
    unknown = again.predictions[~again.is_known]
    assert [one["prediction"] for one in facts["predictions"]] == unknown.tolist()
    assert facts["sigma2"]["rule"] == "given"
    saved = gradraker.load("m.skg")
    assert saved.offset_ == again.model.offset_
    assert saved.get_params() == again.model.get_params()
    np.testing.assert_array_equal(saved.skg_.coef_, again.model.skg_.coef_)
    # Edges that come later are read like those of the first fit.
    saved.partial_fit([("new", "Pilatus", 7.0), ("new", "new", 1.0)])
    assert saved.adjacency_[[-1]].data.tolist() == [1.0]


def test_choices_of_options_equal_those_of_the_library() -> None:
    from gradraker.graph import hops
    from gradraker.kernels import shift_invariant as kernels
    from gradraker.models import sigma2

    assert set(SIGMA2_RULES) == set(sigma2.SIGMA2_RULES)
    assert set(KERNELS) == set(kernels.KERNELS)
    assert HOP_WEIGHTS == hops.HOP_WEIGHTS


def test_names_are_text_in_every_file(run_here: Callable[..., Any]) -> None:
    write_rows("e.csv", [(i, (i + k) % 12) for i in range(12) for k in (1, 2, 5)])
    # Because of 7x this column is text, while the other file has integers.
    write_rows("v.csv", [*((i, i / 2) for i in range(8)), ("7x", 1.0)])
    result = run_here(
        "predict", "--edges", "e.csv", "--values", "v.csv", "--unknown-nodes", "ignore", "--json"
    )
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["values"]["known"] == 8
    # Whole numbers keep their order.
    assert [one["node"] for one in facts["predictions"]] == ["8", "9", "10", "11"]


def test_files_with_unicode_crlf_and_bom_are_read(run_here: Callable[..., Any]) -> None:
    names = ["Zürich", "東京", "naïve, with comma", 'quote "x"', "🎉", "e\u0301", "a", "b"]
    rows = [(names[i], names[(i + k) % 8]) for i in range(8) for k in (1, 3)]
    write_rows("e.csv", [("source", "target"), *rows])
    text = Path("e.csv").read_text("utf-8").replace("\n", "\r\n")
    Path("e.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    write_rows("v.csv", [("node", "value"), *((name, i) for i, name in enumerate(names[:5]))])
    result = run_here(
        "predict", "--edges", "e.csv", "--values", "v.csv", "--out", "p.csv", "--top", "1"
    )
    assert result.exit_code == 0, result.output
    rows = read_rows(Path("p.csv").read_text("utf-8"))
    assert {row["node"] for row in rows} == set(names)  # type: ignore[call-overload]
    assert Path("p.csv").read_bytes().count(b"\r") == 0


def test_too_few_known_nodes_have_no_estimate(run_here: Callable[..., Any]) -> None:
    write_rows("e.csv", [("a", "x"), ("b", "y"), ("c", "x")])
    write_rows("v.csv", [("a", 1), ("b", 2)])
    result = run_here("predict", "--edges", "e.csv", "--values", "v.csv", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert "too few known nodes" in result.stdout
    assert "no estimate of the error" in Path("r.html").read_text("utf-8")


def test_graph_whose_nodes_are_all_known_is_reported(run_here: Callable[..., Any]) -> None:
    write_rows("e.csv", [("a", "b"), ("b", "a")])
    write_rows("v.csv", [("a", 1), ("b", 2)])
    result = run_here(
        "predict", "--edges", "e.csv", "--values", "v.csv", "--top", "3", "--report", "r.html"
    )
    assert result.exit_code == 0, result.output
    assert "2 known, 0 to predict" in result.stdout


# -- names that do harm --------------------------------------------------------


def test_names_like_formulas_are_escaped_in_the_output(run_here: Callable[..., Any]) -> None:
    names = ["=1+1", "-5", "@x", "safe", "other", "last"]
    write_rows("e.csv", [(a, b) for a in names for b in names if a < b])
    write_rows("v.csv", [("node", "value"), ("=1+1", -1.5), ("-5", 2), ("@x", 3)])
    files = ["--edges", "e.csv", "--values", "v.csv", "--out", "p.csv", "--top", "3"]
    assert run_here("predict", *files).exit_code == 0
    rows = read_rows(Path("p.csv").read_text("utf-8"))
    assert {row["node"] for row in rows} == {"'=1+1", "-5", "'@x", "safe", "other", "last"}
    counted = {row[f"contributor_{k}"] for row in rows for k in (1, 2, 3)}
    assert counted == {"'=1+1", "-5", "'@x"}
    assert "-1.5" in {row["value"] for row in rows}  # a number stays one
    assert run_here("predict", *files, "--raw-names").exit_code == 0
    rows = read_rows(Path("p.csv").read_text("utf-8"))
    assert {row["node"] for row in rows} == set(names)


def test_formula_behind_a_carriage_return_from_parquet(run_here: Callable[..., Any]) -> None:
    names = ["x\r=cmd|calc", "\u00a0=1+1", "\ufeff=1+1", "y\n@x", "a;=1+1", "#x", " b ", "c"]
    pairs = [(a, b) for a in names for b in names if a < b]
    frame = {"source": [a for a, _ in pairs], "target": [b for _, b in pairs]}
    pl.DataFrame(frame).write_parquet("e.parquet")
    pl.DataFrame({"node": names[:3], "value": [1.0, 2.0, 3.0]}).write_parquet("v.parquet")
    files = ["--edges", "e.parquet", "--values", "v.parquet", "--out", "p.csv", "--top", "2"]
    result = run_here("predict", *files)
    assert result.exit_code == 0, result.output
    with open("p.csv", encoding="utf-8") as file:  # with universal newlines
        text = file.read()
    for line in text.splitlines():
        for cell in re.split("[,;\t]", line):
            assert not cell.lstrip('" \u00a0\ufeff').startswith(("=", "@", "+")), cell
    found = gradraker.read_values("p.csv", node="node", value="prediction")
    assert set(found) == set(names)


def test_control_characters_of_names_do_not_reach_the_terminal(
    run_here: Callable[..., Any],
) -> None:
    bad = "x\x1b[2J[bold]y"
    assert make_printable(bad) == "x\\x1b[2J[bold]y"
    write_rows("e.csv", [("a", "c"), ("b", "d"), (bad, "c")])
    write_rows("v.csv", [("a", 1), ("b", 2)])
    result = run_here("predict", "--edges", "e.csv", "--values", "v.csv")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "x\\x1b[2J[bold]y" in result.stdout
