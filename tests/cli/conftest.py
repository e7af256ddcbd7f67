"""Files that tests of several commands read."""

import csv
from pathlib import Path

import pytest

import gradraker


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
