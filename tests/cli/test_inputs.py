"""Files with other columns, and classes: what the commands print, refuse and write."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from command_line import read_table


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two groups of pages that link among themselves, and files of several makes."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pages = [f"page {i:02d}" for i in range(60)]
    ends = [(i, j + 30 * (i >= 30)) for i in range(60) for j in rng.choice(30, size=4).tolist()]
    links = sorted({(pages[i], pages[j]) for i, j in ends if i < j})
    write("links.csv", [("id_1", "id_2"), *links])
    kinds = ["government" if i < 30 else "tv show" for i in range(60)]
    rows = [(pages[i], 1000 + i, kinds[i], 10.0 * (i < 30) + i / 60) for i in range(0, 60, 2)]
    write("pages.csv", [("page_name", "facebook_id", "page_type", "visits"), *rows])
    write("rest.csv", [("node", "value"), *((pages[i], kinds[i]) for i in range(1, 20, 2))])
    return tmp_path


def write(name: Any, rows: Any) -> None:
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows(rows)


FILES = ["--edges", "links.csv", "--values", "pages.csv"]
CLASSES = [*FILES, "--node", "page_name", "--value", "page_type"]


def test_more_than_one_column_is_refused_with_the_options(run: Any) -> None:
    result = run("predict", *FILES)
    assert result.exit_code == 1
    assert "'page_name', 'facebook_id', 'page_type', 'visits'" in result.stderr
    assert "--value" in result.stderr
    assert result.stdout == ""


def test_the_columns_that_were_read_are_named_on_standard_error(run: Any) -> None:
    result = run("predict", *CLASSES, "--json")
    assert result.exit_code == 0, result.stderr
    notes = result.stderr.splitlines()
    assert notes[0] == "links.csv: read as: source = id_1, target = id_2; 1 header line"
    assert "no edge has its reverse, so the graph is taken as directed" in notes[1]
    assert notes[2].startswith("pages.csv: read as: node = page_name, value = page_type; 1 header")
    assert json.loads(result.stdout)["readings"]["edges"] == notes[0].removeprefix("links.csv: ")


def test_an_ambiguous_first_line_is_refused_without_a_header_option(run: Any) -> None:
    write("friends.csv", [("person", "friend"), ("Ann", "Bob"), ("Carl", "Dora")])
    write("ages.csv", [("node", "value"), ("Ann", 1), ("Dora", 2)])
    files = ["--edges", "friends.csv", "--values", "ages.csv", "--json"]
    result = run("predict", *files)
    assert result.exit_code == 1
    assert "pass --header or --no-header" in result.stderr
    assert json.loads(run("predict", *files, "--header").stdout)["graph"]["nodes"] == 4
    both = json.loads(run("predict", *files, "--no-header", "--values-header").stdout)
    assert both["graph"]["nodes"] == 6


def test_columns_can_be_given_by_number(run: Any) -> None:
    options = ["--source", "1", "--target", "2", "--node", "1", "--value", "4", "--undirected"]
    facts = json.loads(run("predict", *FILES, *options, "--json").stdout)
    assert facts["task"] == "values"
    assert not facts["graph"]["directed"]
    assert facts["graph"]["nodes_without_neighbours"] == 0
    assert facts["graph"]["entries"] == 2 * facts["graph"]["edges"]


def test_degrees_count_the_edges_that_the_model_uses(run: Any) -> None:
    facts = json.loads(run("predict", *CLASSES, "--json").stdout)
    assert facts["graph"]["directed"]
    # Edges lead one way, but walks take them both ways: no node is without neighbours.
    assert facts["graph"]["nodes_without_neighbours"] == 0


def test_classes_in_every_output(run: Any) -> None:
    result = run(
        "predict", *CLASSES, "--out", "p.csv", "--model", "m.gr", "--report", "r.html", "--json"
    )
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert facts["task"] == "classes"
    assert facts["held_out"]["accuracy"] > 0.9
    assert np.sum(facts["held_out"]["confusion"]["counts"]) == 30
    rows = read_table("p.csv")
    assert set(rows[0]) == {
        *("node", "known", "value", "prediction", "probability"),
        *("runner_up_1", "probability_1"),
    }
    for row in rows:
        assert row["prediction"] in ("government", "tv show")
        total = float(row["probability"]) + float(row["probability_1"])
        assert total == pytest.approx(1.0)
        assert float(row["probability"]) >= float(row["probability_1"]) - 1e-12
    page = Path("r.html").read_text("utf-8")
    for expected in ("Confusion matrix", "Calibration", "The least certain", "government"):
        assert expected in page
    shown = run("predict", *CLASSES).stdout
    assert "Accuracy" in shown
    assert "Runners-up" in shown


def test_explain_names_classes(run: Any) -> None:
    run("predict", *CLASSES, "--model", "m.gr")
    facts = json.loads(run("explain", "--model", "m.gr", "--node", "page 01", "--json").stdout)
    assert facts["prediction"] == "government"
    assert {one["value"] for one in facts["contributors"]} <= {"government", "tv show"}
    assert facts["classes"][0]["class"] == "government"
    text = run("explain", "--model", "m.gr", "--node", "page 01").stdout
    assert "government" in text
    assert "value_0" not in text


def test_update_learns_classes_without_edges(run: Any) -> None:
    run("predict", *CLASSES, "--model", "m.gr")
    result = run(
        "update", "--model", "m.gr", "--values", "rest.csv", "--report", "u.html", "--json"
    )
    facts = json.loads(result.stdout)
    assert facts["learned"] == 10
    assert facts["accuracy_before"] >= 0.9
    assert facts["known"] == 40
    assert "Predicted node classes" in Path("u.html").read_text("utf-8")


def test_update_keeps_intervals_and_bounds(run: Any) -> None:
    values = [*FILES, "--node", "page_name", "--value", "visits"]
    shape = ["--coverage", "0.8", "--lower", "0", "--upper", "9"]
    run("predict", *values, *shape, "--model", "m.gr")
    first = json.loads(run("update", "--model", "m.gr", "--json").stdout)
    assert first["coverage"] == 0.8
    assert first["bounds"] == {"lower": 0.0, "upper": 9.0}
    for one in first["predictions"]:
        assert 0.0 <= one["lower"] <= one["prediction"] <= one["upper"] <= 9.0
    other = json.loads(run("update", "--model", "m.gr", "--coverage", "0.5", "--json").stdout)
    assert other["coverage"] == 0.5


def test_numbers_can_be_labels_of_classes(run: Any) -> None:
    write("groups.csv", [("node", "group"), *((f"page {i:02d}", i // 30) for i in range(0, 60, 2))])
    files = ["--edges", "links.csv", "--values", "groups.csv", "--json"]
    assert json.loads(run("predict", *files).stdout)["task"] == "values"
    facts = json.loads(run("predict", *files, "--task", "classes").stdout)
    assert [one["class"] for one in facts["values"]["classes"]] == ["0", "1"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "skg"], "SKG predicts numbers"),
        (["--coverage", "0.9"], "leave --coverage out"),
        (["--lower", "0"], "leave --lower out"),
        (["--weight", "id_1", "--unweighted"], "--weight and --unweighted exclude each other"),
        (["--source", ""], "'' is not a column"),
    ],
)
def test_options_that_do_not_fit_classes_or_columns_are_refused(
    run: Any, options: Any, words: Any
) -> None:
    result = run("predict", *CLASSES, *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_missing_column_is_refused(run: Any) -> None:
    result = run("predict", *CLASSES, "--source", "nobody")
    assert result.exit_code == 1
    assert "'nobody' is not a column: the table has columns 'id_1', 'id_2'" in result.stderr


def test_predict_nodes_takes_classes_and_bounds() -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    result = gradraker.predict_nodes(edges, {"a": "red", "b": "red", "c": "blue"})
    assert result.task == "classes"
    assert result.to_frame().columns.tolist()[:5] == [
        *("node", "known", "value", "prediction", "probability")
    ]
    clipped = gradraker.predict_nodes(edges, {"a": 0.0, "b": 1.0}, lower=0.4, upper=0.6)
    assert clipped.predictions.min() >= 0.4
    assert clipped.predictions.max() <= 0.6
    assert clipped.explain(["a"]).prediction[0] < 0.5
    with pytest.raises(ValueError, match="lower must be below upper"):
        gradraker.predict_nodes(edges, {"a": 0.0}, lower=1.0, upper=0.0)
    with pytest.raises(ValueError, match="coverage must be None for classes"):
        gradraker.predict_nodes(edges, {"a": "x", "b": "y"}, coverage=0.9)
    with pytest.raises(ValueError, match="predicts numbers"):
        gradraker.predict_nodes(edges, {"a": "x"}, model=gradraker.NodeRegressor())


def test_a_saved_model_knows_that_its_graph_is_undirected(run: Any) -> None:
    run("predict", *CLASSES, "--undirected", "--model", "m.gr")
    saved = gradraker.load("m.gr")
    assert not saved.is_directed_
    n_edges = saved.adjacency_.nnz
    saved.partial_fit([("page 00", "new")])
    assert saved.adjacency_.nnz == n_edges + 2  # both ways
