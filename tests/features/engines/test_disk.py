"""Models that stream over a graph on disk."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from disk_edges import N_NODES, make_edges
from gradraker import NodeRegressor, read_edges
from gradraker.graph import open_disk_graph


@pytest.mark.parametrize("blocks", [("hop1", "hop4"), ("hop64", "alternating"), ("hop1", "degree")])
def test_model_from_disk_predicts_as_from_memory(tmp_path: Path, blocks: tuple[str, ...]) -> None:
    source, target, _ = make_edges()
    # Both ways, so that degrees of both directions are equal in memory too.
    source, target = np.append(source, target), np.append(target, source)
    pl.DataFrame({"source": source, "target": target}).write_parquet(tmp_path / "edges.parquet")
    graph = read_edges(tmp_path / "edges.parquet", on_disk=tmp_path / "graph")
    values = {node: float(np.sin(node / 20)) for node in range(0, N_NODES, 3)}
    settings: dict[str, Any] = {"blocks": blocks, "width": 4.0, "alpha": 0.5, "tol": 1e-6}
    edges = np.column_stack([source, target])
    memory = NodeRegressor(solver="operators", **settings).fit(edges, values, kind="edges")
    disk = NodeRegressor(**settings).fit(graph, values)
    assert disk.solver_ == "operators"
    nodes = list(range(N_NODES))
    np.testing.assert_allclose(disk.predict(nodes), memory.predict(nodes), atol=1e-4)
    np.testing.assert_allclose(
        disk.explain([1]).weights, memory.explain([1]).weights[:, :], atol=1e-4
    )
    again = NodeRegressor(**settings).fit(open_disk_graph(tmp_path / "graph"), values)
    np.testing.assert_array_equal(again.predict(nodes), disk.predict(nodes))


def test_model_on_disk_refuses_what_needs_memory(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("1,2\n2,3\n3,4\n")
    graph = read_edges(tmp_path / "edges.csv", on_disk=tmp_path / "graph")
    values = {1: 0.0, 2: 1.0, 3: 2.0}
    for wrong in ({"direction": "out"}, {"neighbours": "known"}, {"solver": "exact"}):
        with pytest.raises(ValueError, match="a graph on disk needs"):
            NodeRegressor(**wrong).fit(graph, values)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="takes no options"):
        NodeRegressor().fit(graph, values, directed=False)
    model = NodeRegressor(blocks=("hop1",), alpha=0.5, width=1.0).fit(graph, values)
    with pytest.raises(ValueError, match="cannot grow"):
        model.partial_fit([(4, 5)])
    model.partial_fit(values={4: 3.0})
    assert np.isfinite(model.predict([1])).all()
