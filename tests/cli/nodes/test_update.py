"""``gradraker update``: concurrent updates, full disks, forgetting, refused options."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

import gradraker
from command_line import invoke
from forked_process import start_python

PROGRAM = "from gradraker.cli import main; main(prog_name='gradraker')"


@pytest.fixture
def files(tmp_path: Any, monkeypatch: Any) -> Any:
    monkeypatch.chdir(tmp_path)
    data = gradraker.load_temperature()
    fetched = invoke("data", "fetch", "temperature", "--edges", "e.csv")
    assert fetched.exit_code == 0, fetched.output
    rows = [f'"{n}",{v}\n' for n, v in zip(data.node_names, data.values, strict=True)]
    Path("known.csv").write_text("node,value\n" + "".join(rows[:40]), "utf-8")
    for i, name in enumerate("ab"):
        Path(f"{name}.csv").write_text(
            "node,value\n" + "".join(rows[40 + 5 * i : 45 + 5 * i]), "utf-8"
        )
    done = invoke("predict", "--edges", "e.csv", "--values", "known.csv", "--model", "m.gr")
    assert done.exit_code == 0, done.output
    return tmp_path


@pytest.mark.process
def test_two_updates_at_once_are_both_learned(files: Any) -> None:
    words = ("update", "--model", "m.gr", "--edges", "e.csv", "--values")
    updates = [
        start_python(PROGRAM, *words, f"{name}.csv", stdout=subprocess.DEVNULL) for name in "ab"
    ]
    assert [update.wait(120) for update in updates] == [0] * 2
    assert len(gradraker.load("m.gr").known_nodes_) == 50
    hidden = [path.name for path in files.iterdir() if path.name.startswith(".")]
    assert hidden == []


def test_full_disk_leaves_model_and_table_as_they_were(files: Any, monkeypatch: Any) -> None:
    Path("out.csv").write_text("old")
    model = Path("m.gr").read_bytes()

    def write(file: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gradraker.cli.output.make_csv", lambda rows: write)
    arguments = ["update", "--model", "m.gr", "--values", "a.csv", "--out", "out.csv"]
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert "out.csv: No space left on device" in result.output
    assert Path("m.gr").read_bytes() == model
    assert Path("out.csv").read_text() == "old"


def test_values_nodes_and_edges_can_be_forgotten(files: Any) -> None:
    model = gradraker.load("m.gr")
    lost, gone = model.known_nodes_.tolist()[:2]
    row, column = (int(ends[0]) for ends in model.adjacency_.nonzero())
    source, target = model.nodes_[row], model.nodes_[column]
    if gone in (source, target):
        gone = next(n for n in model.known_nodes_.tolist() if n not in (lost, source, target))
    arguments = ["update", "--model", "m.gr", "--forget-value", lost, "--forget-node", gone]
    done = invoke(*arguments, "--forget-edge", source, target, "--json")
    assert done.exit_code == 0, done.output
    again = gradraker.load("m.gr")
    assert again.known_nodes_.tolist() == [
        node for node in model.known_nodes_.tolist() if node not in (lost, gone)
    ]
    assert gone not in again.nodes_.tolist()
    expected = model.forget(values=[lost], nodes=[gone], edges=[(source, target)])
    assert again.adjacency_.nnz == expected.adjacency_.nnz


def test_forgetting_a_node_leaves_the_model_that_never_saw_its_text(files: Any) -> None:
    n = 30
    gone = "n3"

    def write(name: str, heading: str, rows: list[str]) -> None:
        Path(name).write_text("\n".join([heading, *rows]) + "\n")

    edges = [f"n{i},n{(7 * i + 1) % n}" for i in range(n)] + [
        f"n{i},n{i + 1}" for i in range(n - 1)
    ]
    values = [f"n{i},{i % 5 + 0.1 * i}" for i in range(n) if i % 4]
    texts = [f"n{i},{'dark' if i % 5 > 2 else 'light'} place {i % 5}" for i in range(n)]
    texts[3] = "n3,zebra"
    predict = ["predict", "--edges", "e.csv", "--values", "v.csv", "--attributes", "a.csv"]
    for model, is_whole in (("forgets.gr", True), ("fresh.gr", False)):
        for name, heading, rows in (
            ("e.csv", "source,target", edges),
            ("v.csv", "node,value", values),
            ("a.csv", "node,text", texts),
        ):
            write(name, heading, [r for r in rows if is_whole or gone not in r.split(",")])
        done = invoke(*predict, "--model", model)
        assert done.exit_code == 0, done.output
    done = invoke("update", "--model", "forgets.gr", "--forget-node", gone)
    assert done.exit_code == 0, done.output
    found, fresh = gradraker.load("forgets.gr"), gradraker.load("fresh.gr")
    assert found.attributes_.names == fresh.attributes_.names
    nodes = fresh.nodes_.tolist()
    assert found.predict(nodes) == pytest.approx(fresh.predict(nodes), rel=1e-9)
    assert fresh.blocks_
    assert b"zebra" not in Path("forgets.gr").read_bytes()


def test_forgetting_missing_nodes_and_values_is_refused_and_changes_nothing(files: Any) -> None:
    before = Path("m.gr").read_bytes()
    for option in (["--forget-value", "nobody"], ["--forget-node", "nobody"]):
        done = invoke("update", "--model", "m.gr", *option)
        assert done.exit_code == 1, done.output
        assert "nobody" in done.output
    assert Path("m.gr").read_bytes() == before


def test_update_refuses_options_that_classes_do_not_have(tmp_path: Path) -> None:
    model = gradraker.NodeClassifier().fit([("a", "b"), ("b", "c")], {"a": "x", "c": "y"})
    path = model.save(tmp_path / "model.gr")
    for option, given in (("--coverage", "0.9"), ("--lower", "0"), ("--upper", "1")):
        result = invoke("update", "--model", str(path), option, given)
        assert result.exit_code == 2
        assert f"classes, which have probabilities: leave {option} out" in result.output
    result = invoke("update", "--model", str(path), "--value", "p,q")
    assert "this command takes one" in " ".join(result.output.split())
    result = invoke("explain", "--model", str(path), "--node", "b", "--value", "p")
    assert "leave it out" in result.output
