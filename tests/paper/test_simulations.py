"""The results file, and the data sets of the paper."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker.paper import DATA, read_results, run_paper
from gradraker.paper.figures.fig1 import SWEEPS
from gradraker.paper.figures.fig2 import WEIGHTS
from gradraker.paper.simulations import PaperResults, compute_checksum, describe_source, load_data


def test_results_are_read_back(tmp_path: Path, no_data: None) -> None:
    results = run_paper(["fig7", "fig8"], fast=True)
    path = results.save(tmp_path / "results.jsonl")
    again = read_results(path)
    assert again.header == results.header
    assert again.simulations == results.simulations
    assert "email" not in again.header["datasets"]  # not asked for
    assert "fetch cora" in again.header["datasets"]["cora"]["missing"]
    assert not again.has("pairs-cora")
    assert set(again.header["versions"]) >= {"gradraker", "numpy", "numba", "python"}


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b"[1]\n", b'{"format": "other"}\n', b"no JSON\n", b"\xff\xfe"]
)
def test_read_results_refuses_other_files(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"results\.jsonl' is not a results file"):
        read_results(file)


def test_results_of_a_simulation_are_parsed_once(results: PaperResults) -> None:
    for simulation in (WEIGHTS, SWEEPS["temperature"]):
        assert results.get(simulation) is results.get(simulation)  # type: ignore[misc]


def test_different_data_have_different_checksums(small: Any) -> None:
    whole = compute_checksum(small.adjacency, small.values)
    assert whole == compute_checksum(small.adjacency.astype(np.float32), small.values)
    assert whole != compute_checksum(small.adjacency, None)
    assert whole != compute_checksum(small.adjacency.T.tocsr(), small.values)
    assert whole != compute_checksum(small.adjacency, small.values + 1.0)


def test_missing_data_are_described_with_how_to_get_them(no_data: None) -> None:
    for key in ("cora", "email", "wikipedia"):
        assert load_data(key, download=False) is None
        text = describe_source(key)
        assert f"gradraker data fetch {DATA[key].info.name}" in text
        assert "https://" in text
        assert "GRADRAKER_DATA" in text
