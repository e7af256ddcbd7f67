"""Predictions of all nodes, for a state."""

from typing import Any

import numpy as np

from gradraker import NodeRegressor
from gradraker.live.learning.live_model import (
    LiveModel,
)
from gradraker.live.learning.predicted import make_table
from gradraker.live.learning.states import open_state_file, read_state, write_state
from gradraker.models.walks.operators.operators import Operators


def test_state_holds_what_new_nodes_need(monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 60, (200, 2))
    model = NodeRegressor(solver="operators", blocks=["hop1"], alpha=0.1)
    model.fit(edges, {i: float(i % 7) for i in range(30)})
    live = LiveModel(model, is_directed=True, has_integer_names=True)
    table = make_table(live, seq=1, batch=1, learned=[])
    file = open_state_file()
    write_state(file, table, model)
    expected = model.predict_new({100: [1, 2]}, return_interval=True)
    monkeypatch.setattr(Operators, "list_remainders", None)  # as many products as a whole solve
    found = read_state(file.fileno()).model.predict_new({100: [1, 2]}, return_interval=True)
    file.close()
    assert found == expected
