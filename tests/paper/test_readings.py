"""Readings that the text leaves open: self loops, direction of edges, scaling."""

from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, load_temperature
from gradraker.paper.numbers.readings import (
    simulate_directions,
    simulate_scalings,
    simulate_self_loops,
)
from gradraker.paper.simulations import RunOptions


def find_largest(rows: Any) -> Any:
    return max(float(np.sum((a - b) ** 2)) for a in rows for b in rows)


def test_self_loops_change_the_largest_distance(temperature: Any) -> None:
    found = simulate_self_loops(temperature, {"n_sampled": 33, "n_repeats": 2}, RunOptions(4))
    for repeat in range(2):
        drawn = np.random.default_rng([4, repeat]).permutation(89)[:33]
        graphs: dict[str, dict[str, Any]] = {
            "unweighted-with": {},
            "unweighted-no": {"self_loops": False},
            "weighted-with": {"weighted": True},
            "weighted-no": {"weighted": True, "self_loops": False},
        }
        for name, options in graphs.items():
            A = load_temperature(**options).adjacency.toarray()[np.ix_(drawn, drawn)]
            assert found["largest"][name][repeat] == pytest.approx(find_largest(A), rel=1e-12)


def test_directions_are_rows_and_columns(small: Any, draw_dense_split: Any) -> None:
    found = simulate_directions(small, {"fraction": 0.4, "n_repeats": 2}, RunOptions(3))
    for repeat in range(2):
        split, X = draw_dense_split(small, repeat)
        assert found["out"][repeat] == find_largest(X[split.known])
        assert found["in"][repeat] == find_largest(X[split.known].T)


def test_scalings_use_the_extremes_of_all_or_of_known_nodes(
    temperature: Any, draw_dense_split: Any
) -> None:
    settings = {
        "fraction": 0.4,
        "sigma2": 8.0,
        "n_repeats": 1,
        "n_frequencies": 30,
        "learning_rate": 0.1,
        "n_epochs": 2,
    }
    found = simulate_scalings(temperature, settings, RunOptions(3))
    split, X = draw_dense_split(temperature, 0)
    values = temperature.dataset.values
    for name, of in (("all", values), ("known", values[split.known])):
        y = (values - of.min()) / (of.max() - of.min())
        model = SKGRegressor(sigma2=8.0, n_frequencies=30, n_epochs=2, random_state=split.seed)
        model.fit(X[split.known], y[split.known])
        expected = gnmse(y[split.unknown], model.predict(X[split.unknown]))
        assert found[name] == pytest.approx([expected], rel=1e-10)


def test_verdicts_follow_the_distances(changed: Any, compare: Any) -> None:
    largest = changed.simulations["self-loops"]["results"]["largest"]
    largest["weighted-with"] = [12.0, 13.0]
    largest["unweighted-with"] = [20.0, 21.0]
    errors = changed.simulations["scalings"]["results"]
    errors["known"] = [0.04, 0.05]
    found = compare(changed)
    assert found["self-loops-weighted"].verdict == "agrees"
    assert "instead of 12.5" in found["self-loops-weighted"].reason
    assert found["self-loops-unweighted"].verdict == "differs"
    assert found["scaling"].verdict == "agrees"


@pytest.mark.data
@pytest.mark.slow
def test_both_directions_of_email_are_at_the_edge(downloaded_results: Any, compare: Any) -> None:
    found = compare(downloaded_results)
    if found["direction-email"].verdict == "cannot be checked":
        pytest.skip("Email-Eu-core is not in GRADRAKER_DATA")
    assert found["direction-email"].verdict == "at the edge"
    assert found["direction-cora"].verdict in ("agrees", "cannot be checked")
