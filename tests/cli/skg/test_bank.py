"""``gradraker bank``: predictions by a bank of kernels, as the library makes them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import invoke, read_table
from gradraker import GradrakerRegressor, load_temperature
from gradraker.datasets import load_temperature_normals
from gradraker.graph import layer_views


def test_bank_over_layers_and_hops_is_that_of_the_library(layer_files: Path) -> None:
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


def test_bank_prints_the_members_that_count_most(layer_files: Path) -> None:
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
def test_bank_refuses_wrong_options(
    layer_files: Path, options: Any, code: Any, message: Any
) -> None:
    done = invoke("bank", "--layer", "wide=altitude.csv", "--values", "known.csv", *options)
    assert done.exit_code == code
    assert message in " ".join(done.output.split())
