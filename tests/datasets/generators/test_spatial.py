"""Graphs of close nodes against all pairs."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gradraker.datasets import make_arriving_graph, make_geometric_graph, make_threshold_graph


def gaps(points: NDArray[np.float64]) -> Any:
    return np.sqrt(((points[:, np.newaxis] - points) ** 2).sum(axis=-1))


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_threshold_graph_equals_brute_force(weighted: bool, self_loops: bool) -> None:
    data = make_threshold_graph(
        80, threshold=0.1, weighted=weighted, self_loops=self_loops, random_state=1
    )
    gap = gaps(data.positions)  # type: ignore[arg-type]
    expected = np.where(gap < 0.1, np.exp(-gap / 0.1) if weighted else 1.0, 0.0)
    np.fill_diagonal(expected, float(self_loops))
    np.testing.assert_allclose(data.adjacency.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_geometric_graph_equals_brute_force(weighted: bool, self_loops: bool) -> None:
    data = make_geometric_graph(
        80, radius=0.2, weighted=weighted, self_loops=self_loops, random_state=1
    )
    gap = gaps(data.positions)  # type: ignore[arg-type]
    expected = np.where(gap <= 0.2, np.exp(-gap / 0.2) if weighted else 1.0, 0.0)
    np.fill_diagonal(expected, float(self_loops))
    np.testing.assert_allclose(data.adjacency.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("lifetime", [None, 0.3])
def test_arriving_graph_equals_brute_force(
    lifetime: float | None, weighted: bool, directed: bool
) -> None:
    data = make_arriving_graph(
        80, radius=0.3, lifetime=lifetime, weighted=weighted, directed=directed, random_state=1
    )
    assert data.positions is not None
    time = data.positions[:, 0]
    assert np.all(np.diff(time) > 0)
    assert time[0] > 0
    assert time[-1] < 1
    assert data.positions is not None
    gap = gaps(data.positions[:, 1:])
    age = time[:, np.newaxis] - time
    link = (gap <= 0.3) & (age > 0) & (age <= (lifetime or 1.0))
    expected = np.where(link, np.exp(-gap / 0.3) if weighted else 1.0, 0.0)
    expected = expected if directed else expected + expected.T
    np.testing.assert_allclose(data.adjacency.toarray(), expected, rtol=1e-12)
