"""Data of the interactive page: nodes with panels, and limits that keep it small."""

import base64
import json
from typing import Any

import numpy as np
import pytest

import gradraker
from gradraker.exceptions import UnknownNodesError
from gradraker.report import build_explorer
from gradraker.report import explorer as module


@pytest.fixture(scope="module")
def result() -> Any:
    n = 900
    rng = np.random.default_rng(1)
    edges = [(f"n{i}", f"n{(i + k) % n}") for i in range(n) for k in (1, 2, 5)]
    known = {f"n{i}": float(np.sin(i / 40.0) + 0.1 * rng.normal()) for i in range(0, n, 9)}
    return gradraker.predict_nodes(edges, known, coverage=0.9)


def test_panels_hold_the_remarkable_nodes(result: Any) -> None:
    found = build_explorer(result, explain_nodes=["n450"])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    names = found["names"]
    explained = {names[panel["i"]] for panel in found["panels"]}
    assert len(explained) == len(found["panels"]) >= 500
    unknown = np.flatnonzero(~result.is_known)
    by_value = unknown[np.argsort(result.predictions[unknown])]
    widths = np.subtract(*result.intervals[unknown].T[::-1])
    uncertain = unknown[np.argsort(-widths)]
    errors = np.abs(result.left_out.predictions - result.left_out.values)
    surprising = result.left_out.rows[np.argsort(-errors)]
    for rows in (by_value[:50], by_value[-50:], uncertain[:50], surprising[:50]):
        assert set(result.nodes[rows].tolist()) <= explained
    assert "n450" in explained


def test_panels_of_known_nodes_leave_their_own_value_out(result: Any) -> None:
    found = build_explorer(result)
    known = [panel for panel in found["panels"] if panel["left_out"]]
    assert known
    for panel in known:
        assert panel["i"] not in [i for i, _ in panel["weights"]]
    name = found["names"][known[0]["i"]]
    weights = result.model.explain([name], left_out=True).weights[0]
    assert known[0]["weights"][0][1] == pytest.approx(weights[np.abs(weights).argmax()], rel=1e-3)


def test_unknown_names_are_refused(result: Any) -> None:
    with pytest.raises(UnknownNodesError, match="'nobody'"):
        build_explorer(result, explain_nodes=["nobody"])


def test_long_names_are_cut_and_nodes_dropped_if_the_page_gets_large(
    result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, n_cut = module._cut_names(["x" * 10_000, "short"] * 5, 10_000)
    assert n_cut == 5
    assert max(map(len, names)) < 400
    assert names[0].endswith("(10000 characters)")
    many, _ = module._cut_names([f"{i:06d}" + "y" * 200 for i in range(1000)], 20_000)
    assert len(json.dumps(many)) < 26_000
    monkeypatch.setattr(module, "_MAX_NODES", 700)
    found = build_explorer(result)
    assert found["n"] == 700
    assert found["left_out"] == ["200 nodes are left out, so that the page stays small"]


def test_unclipped_sums_are_kept() -> None:
    edges = [(f"n{i}", f"n{(i + k) % 40}") for i in range(40) for k in (1, 2)]
    known = {f"n{i}": float(i % 2) for i in range(30)}
    result = gradraker.predict_nodes(edges, known, lower=0.1, upper=0.45)
    panels = build_explorer(result)["panels"]
    assert any("unclipped" in panel for panel in panels)


def test_neighbours_get_the_space_that_names_leave() -> None:
    # As crowded as a page of 50,000 nodes and two targets.
    n, n_targets = 5000, 20
    rng = np.random.default_rng(0)
    edges = rng.integers(0, n, size=(5 * n, 2))
    known = dict(zip(range(0, n, 100), rng.normal(size=n // 100).tolist(), strict=True))
    model = gradraker.NodeRegressor(blocks=["degree"], width=1.0, alpha=1.0)
    result = gradraker.predict_nodes(edges, known, model=model, nodes=range(n))
    explorer = build_explorer(result, n_targets=n_targets)
    starts = np.frombuffer(base64.b64decode(explorer["neighbours"]["starts"]), "<u4")
    assert np.diff(starts).max() > 1
