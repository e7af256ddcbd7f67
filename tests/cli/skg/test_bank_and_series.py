"""``gradraker bank`` and ``gradraker series``, and ``ranges`` with algorithm 2."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gradraker import GradrakerRegressor, SKGRegressor, adjacency_vectors, load_temperature
from gradraker.cli import main
from gradraker.datasets import load_temperature_normals
from gradraker.graph import filtered_signals, layer_views
from gradraker.models.sigma2 import sigma2_ranges


def invoke(*arguments: Any) -> Any:
    return CliRunner().invoke(main, arguments, prog_name="gradraker")


def write_edges(path: Any, data: Any) -> None:
    rows, columns = data.adjacency.nonzero()
    lines = [
        f'"{data.node_names[i]}","{data.node_names[j]}"' for i, j in zip(rows, columns, strict=True)
    ]
    path.write_text("source,target\n" + "\n".join(lines) + "\n", "utf-8")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
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


def read_table(path: Any) -> Any:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_bank_over_layers_and_hops_is_that_of_the_library(files: Any) -> None:
    done = invoke(
        *("bank", "--layer", "wide=altitude.csv", "--layer", "other=strict.csv"),
        *("--values", "known.csv", "--kernels", "theory,laplacian:2.5", "--hops", "2"),
        *("--hop-weights", "random_walk", "--out", "out.csv", "--json"),
    )
    assert done.exit_code == 0, done.output
    summary = json.loads(done.output)
    assert [(m["view"], m["kernel"]) for m in summary["members"][:2]] == [
        ("wide, 1 hop", "gaussian"),
        ("wide, 1 hop", "laplacian"),
    ]
    assert len(summary["members"]) == 8
    assert sum(member["member_weight"] for member in summary["members"]) == pytest.approx(1.0)
    assert summary["known"] == 60
    assert summary["held_out"]["rmse"] < summary["held_out"]["rmse_of_mean"]
    january, (normals, _) = load_temperature(), load_temperature_normals(self_loops=False)
    views = layer_views(
        {"wide": january, "other": normals}, hops=2, hop_weights="random_walk", direction="out"
    )
    order = {name: i for i, name in enumerate(views.nodes.tolist())}
    known = [order[name] for name in sorted(january.node_names[:60])]
    value_of = dict(zip(january.node_names, january.values, strict=True))
    y = np.array([value_of[views.nodes[i]] for i in known])
    model = GradrakerRegressor(
        kernels=["theory", ("laplacian", 2.5)], views=views.views, random_state=0
    ).fit(views.rows[known], y - y.mean(), references=views.references.tolist())
    expected = dict(zip(views.nodes, model.predict(views.rows) + y.mean(), strict=True))
    for row in read_table("out.csv"):
        assert float(row["prediction"]) == pytest.approx(expected[row["node"]], abs=1e-9)
        assert (row["known"] == "true") == (row["node"] in january.node_names[:60])


def test_bank_prints_the_members_that_count_most(files: Any) -> None:
    done = invoke("bank", "--layer", "altitude.csv", "--values", "known.csv")
    assert done.exit_code == 0, done.output
    assert "Members that count most" in done.output
    assert "layer 1" in done.output


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--kernels", "magic"], 2, "'magic' is neither a positive number nor one of ranges"),
        (["--kernels", "square:1"], 2, "'square' is not one of gaussian, laplacian, cauchy"),
        (["--kernels", "-1"], 2, "neither a positive number"),
        (["--layer", "wide=altitude.csv"], 2, "the name 'wide' is given twice"),
        (["--layer", "=x.csv"], 2, "is not NAME=FILE"),
        (["--layer", "b=missing.csv"], 1, "missing.csv"),
        (["--out", "known.csv"], 2, "name the same file"),
    ],
)
def test_bank_refuses_wrong_options(files: Any, options: Any, code: Any, message: Any) -> None:
    done = invoke("bank", "--layer", "wide=altitude.csv", "--values", "known.csv", *options)
    assert done.exit_code == code
    assert message in " ".join(done.output.split())


def test_series_are_those_of_the_library(files: Any) -> None:
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
def test_series_refuses_wrong_options(files: Any, options: Any, code: Any, message: Any) -> None:
    (files / "text.csv").write_text("a,b\n1,x\n", "utf-8")
    done = invoke("series", "--edges", "strict.csv", "--series", "series.csv", *options)
    assert done.exit_code == code, done.output
    assert message in " ".join(done.output.split())


def test_ranges_take_closeness_and_measure_on_unknown_nodes(files: Any) -> None:
    common = ["ranges", "--edges", "altitude.csv", "--values", "known.csv", "--json"]
    plain = json.loads(invoke(*common).output)
    near = json.loads(invoke(*common, "--closeness", "0.3").output)
    assert near["disturbing_averaging"] == pytest.approx(
        plain["disturbing_averaging"] * np.log(0.9) / np.log(0.7)
    )
    data = load_temperature()
    vectors = adjacency_vectors(data)
    known = np.isin(vectors.nodes, data.node_names[:60])
    for noise in ("refined", "minimum"):
        found = json.loads(invoke(*common, "--noise", noise).output)
        assert found["noise"] == noise
        expected = sigma2_ranges(
            vectors.rows[known], noise=noise, tested=vectors.rows[~known], random_state=0
        )
        assert found["noise_ratio"] == pytest.approx(expected.noise_ratio, rel=0.6)
        held_out = sigma2_ranges(vectors.rows[known], noise=noise, random_state=0)
        assert found["noise_ratio"] != held_out.noise_ratio
    for wrong in ("0.5", "0", "nan"):
        done = invoke(*common, "--closeness", wrong)
        assert done.exit_code == 2
        assert "is not between 0 and 0.5" in done.output
