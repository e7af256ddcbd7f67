"""Files of layers and series that tests of several commands read."""

import csv
from pathlib import Path

import pytest

from gradraker import load_temperature
from gradraker.datasets import GraphDataset, load_temperature_normals


def write_edges(path: Path, data: GraphDataset) -> None:
    rows, columns = data.adjacency.nonzero()
    lines = [
        f'"{data.node_names[i]}","{data.node_names[j]}"' for i, j in zip(rows, columns, strict=True)
    ]
    path.write_text("source,target\n" + "\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def layer_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Edges of two layers, 60 known values and monthly series, in the working directory."""
    monkeypatch.chdir(tmp_path)
    data, series = load_temperature_normals(self_loops=False)
    january = load_temperature()
    write_edges(tmp_path / "altitude.csv", january)
    write_edges(tmp_path / "strict.csv", data)
    with (tmp_path / "known.csv").open("w", encoding="utf-8", newline="") as file:
        pairs = zip(january.node_names[:60], january.values[:60].tolist(), strict=True)
        csv.writer(file).writerows([("node", "value"), *pairs])
    with (tmp_path / "series.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [[month, *values.tolist()] for month, values in enumerate(series)]
        csv.writer(file).writerows([["month", *data.node_names], *rows])
    return tmp_path
