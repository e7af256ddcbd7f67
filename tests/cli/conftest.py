"""Files that tests of several commands read."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradraker
from command_line import invoke
from gradraker.datasets import load_temperature_normals


@pytest.fixture(scope="session")
def stations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with edges of all stations and values of the first 60; not to be changed."""
    folder = tmp_path_factory.mktemp("stations")
    data = gradraker.load_temperature()
    entries = data.adjacency.tocoo()
    names = data.node_names
    edges = [(names[i], names[j]) for i, j in zip(*entries.coords, strict=True)]
    known = list(zip(names[:60], data.values[:60].tolist(), strict=True))
    tables = {"edges": [("source", "target"), *edges], "known": [("node", "value"), *known]}
    for name, rows in tables.items():
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with edges, values, known (60), new (10 others) and series as CSV, and models."""
    folder = tmp_path_factory.mktemp("made")
    files = {name: str(folder / f"{name}.csv") for name in ("edges", "values", "known", "new")}
    done = invoke(
        "data", "fetch", "temperature", "--edges", files["edges"], "--values", files["values"]
    )
    assert done.exit_code == 0, done.output
    head, *rows = Path(files["values"]).read_text("utf-8").splitlines(keepends=True)
    Path(files["known"]).write_text("".join([head, *rows[:60]]), "utf-8")
    Path(files["new"]).write_text("".join([head, *rows[60:70]]), "utf-8")
    data, series = load_temperature_normals()
    table = pd.DataFrame(series, columns=data.node_names)
    table.to_csv(folder / "series.csv", index=False)
    known = ["--edges", files["edges"], "--values", files["known"]]
    for name, method in (("model.gr", "nodes"), ("model.skg", "skg")):
        model = ["--method", method, "--model", str(folder / name)]
        done = invoke("predict", *known, *model)
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def run_in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return invoke


@pytest.fixture
def run_in_copy(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command in a copy of the folder ``made``, which it may change."""
    monkeypatch.chdir(tmp_path)
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return invoke
