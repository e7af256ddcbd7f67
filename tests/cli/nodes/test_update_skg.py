"""``gradraker update`` of models of SKG."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from command_line import read_facts

UPDATE = ("update", "--model", "model.skg", "--edges", "edges.csv")


def test_update_learns_as_the_library_does(run_in_copy: Callable[..., Any]) -> None:
    loaded = gradraker.load("model.skg")
    model, mean = loaded.skg_, loaded.offset_
    found = read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--json"))
    assert found["learned"] == 10
    assert found["steps"] == 3 * 60 + 10
    data = gradraker.load_temperature()
    vectors = gradraker.adjacency_vectors(gradraker.read_edges("edges.csv"))
    values = gradraker.read_values("new.csv")
    rows = [i for i, name in enumerate(vectors.nodes) if name in values]
    known = np.array([values[vectors.nodes[i]] for i in rows])
    references = vectors.references.tolist()
    before = model.predict(vectors.rows[rows], references=references) + mean
    assert found["rmse_before"] == pytest.approx(np.sqrt(np.mean((before - known) ** 2)))
    model.partial_fit(vectors.rows[rows], known - mean, references=references)
    again = gradraker.load("model.skg")
    np.testing.assert_array_equal(again.skg_.coef_, model.coef_)
    assert again.offset_ == mean
    assert len(found["predictions"]) == data.n_nodes - 70


def test_update_twice_changes_nothing_unless_again(run_in_copy: Callable[..., Any]) -> None:
    read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--json"))
    once = Path("model.skg").read_bytes()
    found = read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--json"))
    assert (found["learned"], found["passed_over"]) == (0, 10)
    assert found["rmse_before"] is None
    assert Path("model.skg").read_bytes() == once
    found = read_facts(run_in_copy(*UPDATE, "--values", "new.csv", "--again", "--json"))
    assert (found["learned"], found["passed_over"]) == (10, 0)
    assert Path("model.skg").read_bytes() != once


def test_a_changed_value_is_learned(run_in_copy: Callable[..., Any]) -> None:
    head, first, *_ = Path("known.csv").read_text("utf-8").splitlines()
    Path("changed.csv").write_text(f"{head}\n{first.rpartition(',')[0]},5.5\n", "utf-8")
    assert read_facts(run_in_copy(*UPDATE, "--values", "changed.csv", "--json"))["learned"] == 1


def test_update_saves_elsewhere_and_predicts(run_in_copy: Callable[..., Any]) -> None:
    old = Path("model.skg").read_bytes()
    arguments = ["--values", "new.csv", "--save-as", "other.skg", "--out", "p.csv", "--top", "1"]
    result = run_in_copy(*UPDATE, *arguments)
    assert result.exit_code == 0, result.output
    assert "Model: other.skg" in result.stdout
    assert Path("model.skg").read_bytes() == old
    assert Path("other.skg").read_bytes() != old
    rows = Path("p.csv").read_text("utf-8").splitlines()
    assert rows[0] == "node,known,value,prediction,contributor_1,weight_1"
    assert sum(",true," in row for row in rows) == 70
    values = gradraker.read_values("values.csv")
    for row in rows[1:]:
        name, known, value, *_ = row.rsplit(",", 5)
        if known == "true":
            assert float(value) == values[name.strip('"')]


def test_update_without_values_only_predicts(run_in_copy: Callable[..., Any]) -> None:
    old = Path("model.skg").read_bytes()
    result = run_in_copy(*UPDATE, "--out", "-")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 90
    assert "Model unchanged" in result.stderr
    assert Path("model.skg").read_bytes() == old


def test_update_with_new_nodes_and_a_name_of_another_kind(run_in_copy: Callable[..., Any]) -> None:
    Path("e.csv").write_text("7,Basel / Binningen\n7,Pilatus\n8x,Pilatus\n8x,7\n")
    Path("v.csv").write_text("7,1.5\n")
    found = read_facts(
        run_in_copy(
            "update", "--model", "model.skg", "--edges", "e.csv", "--values", "v.csv", "--json"
        )
    )
    assert found["learned"] == 1
    # The model holds its graph: all of its nodes are predicted, and 8x as well.
    assert found["nodes"] == 91
    assert {"8x", "Pilatus"} <= {one["node"] for one in found["predictions"]}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--values", "none.csv"], 1),
        (["--out", "model.skg"], 2),
        (["--save-as", "edges.csv"], 2),
        (["--save-as", "-"], 2),
        (["--out", "-", "--json"], 2),
        (["--out", "none/p.csv"], 1),
    ],
)
def test_update_refuses_and_changes_nothing(
    run_in_copy: Callable[..., Any], arguments: list[str], code: int
) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    result = run_in_copy(*UPDATE, *arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.stderr
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_update_refuses_or_ignores_values_of_missing_nodes(run_in_copy: Callable[..., Any]) -> None:
    Path("v.csv").write_text("Atlantis,1\n")
    result = run_in_copy(*UPDATE, "--values", "v.csv")
    assert result.exit_code == 1
    assert "--unknown-nodes ignore" in result.stderr
    assert run_in_copy(*UPDATE, "--values", "v.csv", "--unknown-nodes", "ignore").exit_code == 0


def test_a_damaged_model_is_refused(run_in_copy: Callable[..., Any]) -> None:
    content = Path("model.skg").read_bytes()
    Path("model.skg").write_bytes(content[: len(content) // 2])
    result = run_in_copy(*UPDATE, "--values", "new.csv")
    assert result.exit_code == 1
    assert "model.skg" in result.stderr
    assert result.stderr.count("\n") == 1
