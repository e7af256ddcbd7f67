"""Attributes of nodes on the command line: predict, update, explain."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from command_line import invoke
from gradraker import load

N = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Edges of a ring, attributes, and known values that depend on them."""
    sizes = np.random.default_rng(0).normal(size=N)
    lines = {
        "edges.csv": ["source,target", *(f"{i},{(i + 1) % N}" for i in range(N))],
        "values.csv": [
            "node,value",
            *(f"{i},{3.0 * sizes[i] + 0.1 * (i % 7)}" for i in range(0, N, 2)),
        ],
        "attributes.csv": [
            "page,size,is_old",
            *(f"{i},{x},{i % 3 == 0}" for i, x in enumerate(sizes)),
        ],
    }
    for name, listed in lines.items():
        (tmp_path / name).write_text("\n".join(listed) + "\n")
    return tmp_path


def _run(folder: Path, command: str, *arguments: str) -> Result:
    given = [str(folder / one) if "." in one else one for one in arguments]
    return invoke(command, *given)


def _predict(folder: Path, *more: str) -> Result:
    files = ("--edges", "edges.csv", "--values", "values.csv", "--attributes", "attributes.csv")
    return _run(folder, "predict", *files, "--undirected", *more)


def test_predict_takes_a_file_of_attributes(folder: Path) -> None:
    found = _predict(folder, "--json", "--model", "model.gr")
    assert found.exit_code == 0, found.output
    facts = json.loads(found.stdout)
    assert facts["attributes"]["kinds"] == {"number": 2}
    assert facts["attributes"]["coefficients"][0]["attribute"] == "size"
    assert facts["held_out"]["rmse"] < 0.2 * facts["held_out"]["rmse_of_mean"]
    assert facts["inputs"]["attributes"].endswith("attributes.csv")
    assert "attributes.csv: 2 numbers per node (number: 2)" in found.stderr
    told = _predict(folder)
    assert "Count most" in told.stdout
    assert "size (+" in told.stdout


def test_update_learns_attributes_and_explain_shows_their_part(folder: Path) -> None:
    assert _predict(folder, "--model", "model.gr").exit_code == 0
    (folder / "more.csv").write_text("page,size,is_old\n1,9.0,True\n")
    found = _run(folder, "update", "--model", "model.gr", "--attributes", "more.csv")
    assert found.exit_code == 0, found.output
    assert load(folder / "model.gr").predict(["1"])[0] > 15.0
    (folder / "new.csv").write_text("page,size,is_old\nnew,-9.0,True\n")
    refused = _run(folder, "update", "--model", "model.gr", "--attributes", "new.csv")
    assert refused.exit_code == 1
    assert "--attributes names nodes without edges: 'new'; pass --unknown-nodes" in refused.stderr
    told = _run(folder, "explain", "--model", "model.gr", "--node", "1")
    assert "attributes" in told.stdout


def test_explain_and_the_page_list_the_attributes_that_count(folder: Path) -> None:
    files = ("--model", "model.gr", "--report", "page.html", "--json")
    facts = json.loads(_predict(folder, *files).stdout)
    first = facts["attributes"]["coefficients"][0]
    assert (first["attribute"], first["whose"]) == ("size", "of the node")
    assert "target" not in first
    page = (folder / "page.html").read_text()
    assert "<h2>Attributes</h2>" in page
    assert "attributes <small>(linear, " in page
    assert "(none, " not in page
    assert "when an attribute is larger by one standard deviation" in page
    question = ("explain", "--model", "model.gr", "--node", "1")
    told = json.loads(_run(folder, *question, "--json").stdout)
    assert told["attributes"][0] == first
    table = _run(folder, *question).stdout
    assert "Attributes: gain of the prediction per standard deviation" in table
    without = ("--edges", "edges.csv", "--values", "values.csv", "--undirected")
    _run(folder, "predict", *without, "--model", "model.gr")
    assert json.loads(_run(folder, *question, "--json").stdout)["attributes"] == []


def test_attributes_of_classes_and_of_several_targets_name_them(folder: Path) -> None:
    lines = (folder / "values.csv").read_text().splitlines()[1:]
    rows = [(node, float(value)) for node, value in (line.split(",") for line in lines)]
    classes = [f"{node},{'large' if value > 0 else 'small'}" for node, value in rows]
    (folder / "classes.csv").write_text("\n".join(["node,class", *classes]))
    fixed = ("--edges", "edges.csv", "--undirected", "--attributes", "attributes.csv")
    found = _run(folder, "predict", *fixed, "--values", "classes.csv", "--model", "model.gr")
    assert "for large)" in found.stdout.replace("\n", " ")
    told = json.loads(
        _run(folder, "explain", "--model", "model.gr", "--node", "1", "--json").stdout
    )
    assert told["attributes"][0]["attribute"] == "size"
    assert (told["attributes"][0]["coefficient"] > 0) == (told["prediction"] == "large")
    targets = [f"{node},{v},{10 * v if i else ''}" for i, (node, v) in enumerate(rows)]
    (folder / "targets.csv").write_text("\n".join(["node,a,b", *targets]))
    files = ("--values", "targets.csv", "--value", "a,b", "--model", "model.gr")
    assert _run(folder, "predict", *fixed, *files).exit_code == 0
    found = _run(
        folder, *("explain", "--model", "model.gr", "--node", "1", "--target", "b", "--json")
    )
    assert json.loads(found.stdout)["attributes"][0]["coefficient"] > 10.0


def test_predict_warns_of_attributes_that_leak(folder: Path) -> None:
    (folder / "attributes.csv").write_text((folder / "values.csv").read_text())
    found = _predict(folder, "--json")
    assert "warning: attribute 'value' tells the value of every known node" in found.stderr
    assert "AttributeWarning" not in found.stderr
    assert json.loads(found.stdout)["attributes"]["n_nodes_without"] == N // 2


def test_bad_files_of_attributes_are_refused(folder: Path) -> None:
    for content, said in (
        ("", "the file is empty"),
        ("page\n1\n", "need a header, a row per node, and two columns"),
        ("page,size\n,1\n", "row 1 has no name of a node"),
        ("%%MatrixMarket matrix\n", "not from matrix-market"),
        ("page,size\n1,2\n1,3\n", "two rows for node '1'"),
    ):
        (folder / "attributes.csv").write_text(content)
        found = _predict(folder)
        assert found.exit_code == 1
        assert said in found.stderr
    (folder / "attributes.csv").write_bytes(b"page,size\n\xff\xfe,1\n")
    assert _predict(folder).exit_code == 1
    skg = _predict(folder, "--method", "skg")
    assert skg.exit_code == 2
    assert "--attributes is an option of --method nodes" in skg.stderr
