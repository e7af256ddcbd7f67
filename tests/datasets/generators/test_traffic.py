"""Series of generated traffic against their recursion."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gradraker.datasets import make_traffic_series
from gradraker.datasets.dataset import GraphDataset


def test_the_seed_decides_the_traffic() -> None:
    data, series = make_traffic_series(30, n_times=50, random_state=3)
    again, same = make_traffic_series(30, n_times=50, random_state=np.random.default_rng(3))
    assert np.array_equal(series, same)
    assert (data.adjacency != again.adjacency).nnz == 0
    assert np.allclose(data.values, series.mean(axis=0))
    assert not np.array_equal(series, make_traffic_series(30, n_times=50, random_state=4)[1])


@pytest.mark.parametrize("n_nodes", [2, 3, 4, 40])
def test_roads_join_places_with_no_other_in_the_circle_between(n_nodes: int) -> None:
    data, _ = make_traffic_series(n_nodes, n_times=1, one_way=False, random_state=0)
    points = data.positions
    expected = np.zeros((n_nodes, n_nodes))
    for i, j in combinations(range(n_nodes), 2):
        assert points is not None
        centre, radius = (points[i] + points[j]) / 2, np.linalg.norm(points[i] - points[j]) / 2
        others = np.delete(points, [i, j], axis=0)
        if (np.linalg.norm(others - centre, axis=1) > radius).all():
            expected[i, j] = expected[j, i] = 1.0
    assert np.array_equal(data.adjacency.toarray(), expected)
    assert connected_components(data.adjacency)[0] == 1


def test_one_way_roads_lead_to_the_centre() -> None:
    data, _ = make_traffic_series(40, n_times=1, random_state=0)
    both_ways, _ = make_traffic_series(40, n_times=1, one_way=False, random_state=0)
    assert np.array_equal(
        (data.adjacency + data.adjacency.T).toarray(), both_ways.adjacency.toarray()
    )
    source, target = data.adjacency.nonzero()
    away = np.linalg.norm(data.positions - 0.5, axis=1)  # type: ignore[operator]
    assert (away[source] > away[target]).all()


def added_congestion(
    data: GraphDataset, series: NDArray[np.float64], *, spread: float, decay: float
) -> Any:
    """Congestion that each step added, by the documented recursion; the series has no noise."""
    congestion = -np.log(series)
    degree = np.maximum(data.adjacency.sum(axis=1), 1.0)
    ahead = sp.diags_array(1.0 / degree) @ data.adjacency
    spreading = (1.0 - spread) * congestion[:-1] + spread * (ahead @ congestion[:-1].T).T
    return congestion[1:] - decay * spreading


def test_congestion_moves_to_where_its_traffic_comes_from() -> None:
    law: dict[str, Any] = {"spread": 0.7, "decay": 0.9}
    data, series = make_traffic_series(40, n_times=200, noise=0.0, random_state=1, **law)
    added = added_congestion(data, series, **law)
    assert added.min() > -1e-12  # demand or an incident: never negative
    # Demand adds at most 2 · 0.08; more is an incident, which 1 % of the places have in a step.
    # 7960 draws, of which exp(−0.16/0.5) = 73 % are that large: 58 ± 7.6, five deviations.
    assert 20 <= (added > 0.16).sum() <= 97


def test_without_incidents_only_rush_hours_add_congestion() -> None:
    law: dict[str, Any] = {"spread": 0.7, "decay": 0.9}
    arguments: dict[str, Any] = {"n_times": 193, "incidents": 0.0, "noise": 0.0, "random_state": 1}
    added = added_congestion(*make_traffic_series(40, **arguments, **law), **law)
    np.testing.assert_allclose(added[:96], added[96:], atol=1e-12)  # the same every day
    assert added[:12].max() < 1e-3  # until three o'clock
    assert added[30:34].max() > 0.05  # around eight


def test_added_congestion_does_not_depend_on_spread_and_decay() -> None:
    found = []
    for law in ({"spread": 0.7, "decay": 0.9}, {"spread": 0.2, "decay": 0.5}):
        made = make_traffic_series(40, n_times=100, noise=0.0, random_state=1, **law)  # type: ignore[arg-type]
        found.append(added_congestion(*made, **law))  # type: ignore[arg-type]
    np.testing.assert_allclose(*found, atol=1e-12)  # type: ignore[call-overload]


def test_days_are_equal_without_noise_and_incidents() -> None:
    _, series = make_traffic_series(
        20, n_times=144, times_per_day=48, incidents=0.0, noise=0.0, random_state=2
    )
    np.testing.assert_allclose(series[48:96], series[96:144], rtol=1e-2)
    # Half past seven to nine, and at night, on the third day.
    rush, night = series[96 + 15 : 96 + 19].mean(), series[96 + 2 : 96 + 6].mean()
    assert rush < 0.9 < night


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_nodes": 1}, ValueError, "n_nodes must be an integer of at least 2"),
        ({"n_times": 0}, ValueError, "n_times must be an integer of at least 1"),
        ({"times_per_day": 1}, ValueError, "times_per_day must be an integer of at least 2"),
        ({"spread": 1.5}, ValueError, "spread must be a finite number of at least 0 and at most 1"),
        ({"decay": -0.1}, ValueError, "decay must be"),
        ({"incidents": 2}, ValueError, "incidents must be"),
        ({"noise": np.nan}, ValueError, "noise must be"),
        ({"n_times": 2.5}, TypeError, "n_times must be an integer"),
        ({"random_state": "x"}, TypeError, "random_state must be"),
    ],
)
def test_wrong_arguments_are_named(
    arguments: dict[Any, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make_traffic_series(**arguments)
