"""``gradraker series``: the next values of series, as the library predicts them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import invoke, read_table
from gradraker import SKGRegressor, adjacency_vectors
from gradraker.datasets import load_temperature_normals
from gradraker.graph import filtered_signals


def test_series_are_those_of_the_library(layer_files: Path) -> None:
    done = invoke(
        *("series", "--edges", "strict.csv", "--series", "series.csv", "--time-column", "month"),
        *("--shift", "mean", "--taps", "2", "--epochs", "5", "--out", "next.csv", "--json"),
    )
    assert done.exit_code == 0, done.output
    summary = json.loads(done.output)
    assert summary["times"] == 12
    assert summary["held_out"]["gnmse"] < 0.5
    data, series = load_temperature_normals(self_loops=False)
    means = adjacency_vectors(data, hop_weights="random_walk")
    signals = filtered_signals(means, series, taps=2, unit_norm=False)
    X, y = signals.make_pairs()
    found = {row["node"]: float(row["prediction"]) for row in read_table("next.csv")}
    # The file names nodes, and the order of rows decides the order of training: only the level
    # can be the same.
    model = SKGRegressor(n_epochs=5, random_state=0)
    model.fit(X, y - y.mean(), references=signals.references)
    expected = model.predict(signals.rows[-89:]) + y.mean()
    ours = np.array([found[name] for name in data.node_names])
    assert np.corrcoef(ours, expected)[0, 1] > 0.9
    assert np.abs(ours - expected).mean() < 1.5
    last = {row["node"]: float(row["last"]) for row in read_table("next.csv")}
    assert [last[name] for name in data.node_names] == series[-1].tolist()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 1, "not nodes of the graph"),
        (["--time-column", "year"], 1, "there is no column 'year' to leave out"),
        (["--time-column", "month", "--horizon", "12"], 1, "horizon=12 leaves no pair"),
        (["--time-column", "month", "--taps", "0"], 2, "--taps"),
        (["--series", "-"], 2, "--series cannot be '-'"),
        (["--series", "missing.csv"], 1, "missing.csv"),
        (["--series", "text.csv"], 1, "column 'b' holds no numbers"),
    ],
)
def test_series_refuses_wrong_options(
    layer_files: Path, options: Any, code: Any, message: Any
) -> None:
    (layer_files / "text.csv").write_text("a,b\n1,x\n", "utf-8")
    done = invoke("series", "--edges", "strict.csv", "--series", "series.csv", *options)
    assert done.exit_code == code, done.output
    assert message in " ".join(done.output.split())
