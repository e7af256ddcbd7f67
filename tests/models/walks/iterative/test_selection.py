"""From parameters to a choice: given parameters stay, and tried kernels are listed."""

from typing import Any

import numpy as np
import pytest

from examples import random_graph
from gradraker import NodeRegressor
from gradraker.datasets import make_geometric_graph
from gradraker.models.walks.iterative import selection
from operator_problems import fit_operators


def test_undirected_graphs_are_not_tried_for_direction() -> None:
    data = make_geometric_graph(100, random_state=1)
    model, _ = fit_operators(data, data.scale_values())
    blocks = {term.block for tried in model.choice_.tried for term in tried.kernel}
    assert not blocks & {"same_targets", "same_sources"}


def test_a_given_kernel_has_its_penalty_chosen() -> None:
    A, values, _ = random_graph(4)
    model = NodeRegressor(blocks=("hop2", "far"), solver="operators").fit(A, values, kind="matrix")
    assert set(model.blocks_) in ({"hop2", "hop64"}, set())
    model = NodeRegressor(alpha=0.2, solver="operators").fit(A, values, kind="matrix")
    assert model.alpha_ == 0.2
    options: dict[str, Any] = {
        "blocks": "degree",
        "width": 3.0,
        "alpha": 0.3,
        "solver": "operators",
    }
    model = NodeRegressor(**options).fit(A, values, kind="matrix")
    assert [tuple(term) for term in model.kernel_] == [("degree", 3.0, 1.0)]


def test_tried_kernels_are_listed_with_nats_of_left_out_errors() -> None:
    data = make_geometric_graph(150, random_state=2)
    model, _ = fit_operators(data, data.scale_values())
    tried = model.choice_.tried
    assert [t.nats for t in tried] == sorted(t.nats for t in tried)
    assert tried[0].nats < 0.0
    y = model.known_values_
    # Without the refinement of its penalty, the chosen kernel is among the tried ones.
    own = next(t for t in tried if t.kernel == model.kernel_)
    left_out = model.predict_left_out()
    of_mean = np.mean((y - y.mean()) ** 2)
    best = 0.5 * y.size * np.log(np.mean((left_out.values - left_out.predictions) ** 2) / of_mean)
    assert best <= own.nats + 1e-6
    assert best == pytest.approx(own.nats, abs=0.05 * abs(own.nats))


def test_a_choice_by_held_out_parts_agrees_with_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = make_geometric_graph(300, random_state=3)
    model, ratio = fit_operators(data, data.scale_values())
    assert "one at a time" in model.choice_.rule
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 10)
    by_parts, of_parts = fit_operators(data, data.scale_values())
    assert "a part at a time" in by_parts.choice_.rule
    assert not by_parts.predict_left_out().one_at_a_time
    assert of_parts < 1.2 * ratio
