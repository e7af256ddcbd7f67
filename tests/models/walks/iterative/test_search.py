"""The search for a mix of operators: what it finds."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor
from gradraker.datasets import make_block_graph, make_geometric_graph
from operator_problems import fit_operators


def _shares(model: Any) -> Any:
    shares: dict[str, float] = {}
    for term in model.kernel_:
        kind = "walks" if term.block.startswith("hop") else term.block.rstrip("0123456789")
        shares[kind] = shares.get(kind, 0.0) + term.share
    return shares


def test_degrees_are_chosen_where_values_are_degrees() -> None:
    data = make_geometric_graph(300, random_state=1)
    degree = np.asarray(data.adjacency.sum(axis=1))
    model, ratio = fit_operators(data, degree / degree.max())
    assert _shares(model)["degree"] >= 0.5
    assert ratio < 0.1


def test_communities_are_chosen_where_groups_have_a_level_each() -> None:
    n, n_groups = 2000, 20
    rng = np.random.default_rng(1)
    group = np.arange(n) % n_groups
    chances = np.where(group[:, np.newaxis] == group, 8.0 * n_groups, 2.0) / n
    A = np.triu(rng.random((n, n)) < chances, 1).astype(float)
    y = rng.normal(size=n_groups)[group] + 0.5 * rng.normal(size=n)
    values = np.where(rng.random(n) < 0.1, y, np.nan)
    model = NodeRegressor(solver="operators", random_state=0).fit(A, values, kind="matrix")
    assert _shares(model)["community"] >= 0.3
    unknown = np.isnan(values)
    # Noise alone is 0.25 of the squared error; walks of all lengths come to 0.346, and those of
    # one length to 0.320.
    assert np.mean((model.predict() - y[unknown]) ** 2) < 0.315


@pytest.mark.parametrize(
    ("n", "part", "n_waves", "noise"),
    [(1500, 0.3, 5, 1.0), (3000, 0.015, 2, 0.5), (9000, 0.2, 5, 1.0)],
    ids=["many", "few", "parts"],
)
def test_long_walks_are_chosen_where_values_vary_slowly(
    n: int, part: float, n_waves: int, noise: float
) -> None:
    rng = np.random.default_rng(0)
    ring = [(i, (i + step) % n) for i in range(n) for step in (1, 2)]
    wave = np.sin(np.arange(n) * n_waves * 2.0 * np.pi / n)
    values = {i: wave[i] + noise * rng.normal() for i in range(n) if rng.random() < part}
    unknown = [i for i in range(n) if i not in values]
    errors = []
    for blocks in ("auto", ["hop1", "hop4", "hop16", "hop64"]):
        model = NodeRegressor(solver="operators", random_state=0, blocks=blocks).fit(ring, values)
        errors.append(np.mean((model.predict(unknown) - wave[unknown]) ** 2))
        if blocks == "auto":
            shares = {term.block: term.share for term in model.kernel_}
            assert shares.get("hop256", 0.0) + shares.get("hop999", 0.0) > 0.5
    assert errors[0] < 0.7 * errors[1]


def test_alternating_walks_are_chosen_where_neighbours_differ() -> None:
    data = make_block_graph(300, n_blocks=2, p_in=0.0, p_out=0.03, random_state=0)
    _, ratio = fit_operators(data, data.scale_values())
    assert ratio < 0.2  # walks of an even number of steps do as well as alternating ones
    labels = np.where(data.values > data.values.mean(), "high", "low")
    known = dict(zip(data.node_names[::2], labels[::2], strict=True))
    model = NodeClassifier(solver="operators").fit(data, known)
    assert np.mean(model.predict(data.node_names[1::2]) == labels[1::2]) > 0.9


def test_alternating_walks_are_chosen_where_they_are_better() -> None:
    # Each node of a tree differs from its parent: all but walks with signs see noise.
    n = 600
    rng = np.random.default_rng(0)
    edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]
    edges += [(int(i), int(j)) for i, j in rng.integers(0, n, (n, 2)) if i != j]
    sign = np.ones(n)
    neighbours: dict[int, list[int]] = {i: [] for i in range(n)}
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    for i in range(1, n):
        sign[i] = -np.sign(sum(sign[j] for j in neighbours[i] if j < i) or 1.0)
    known = {i: sign[i] + 0.1 * rng.normal() for i in range(0, n, 2)}
    model = NodeRegressor(solver="operators", random_state=0).fit(edges, known)
    assert _shares(model).get("alternating", 0.0) >= 0.2


@pytest.mark.parametrize("part", [0.3, 0.6], ids=["closed form", "parts"])
def test_lazy_walks_are_chosen_where_neighbours_have_no_neighbours_in_common(part: float) -> None:
    # Each edge of a grid has a value, and a node the sum of its edges': neighbours share one.
    side = 50
    rng = np.random.default_rng(0)
    places = np.arange(side * side).reshape(side, side)
    pairs = [(places[:, :-1], places[:, 1:]), (places[:-1], places[1:])]
    edges = np.vstack([np.column_stack([a.ravel(), b.ravel()]) for a, b in pairs])
    y = np.bincount(edges.ravel(), np.repeat(rng.normal(size=len(edges)), 2))
    is_known = rng.random(y.size) < part
    values = {i: float(y[i]) for i in np.flatnonzero(is_known).tolist()}
    unknown = np.flatnonzero(~is_known)
    errors = []
    for blocks in ("auto", ["hop1", "hop4"]):
        model = NodeRegressor(solver="operators", random_state=0, blocks=blocks).fit(
            edges.tolist(), values
        )
        errors.append(np.mean((model.predict(unknown.tolist()) - y[unknown]) ** 2))
        assert ("lazy1" in model.blocks_) == (blocks == "auto")
    assert errors[0] < errors[1]


def _make_citations(n_groups: Any = 7, size: Any = 40, seed: Any = 0) -> Any:
    """Papers of each group cite papers of the next group: neighbours are of other groups."""
    rng = np.random.default_rng(seed)
    edges = []
    for paper in range(n_groups * size):
        first = (paper // size + 1) % n_groups * size
        edges += [(paper, first + int(j)) for j in rng.choice(size, 5, replace=False)]
    return edges, np.arange(n_groups * size) // size


def test_direction_and_groups_are_chosen_where_nodes_link_to_the_same_targets() -> None:
    edges, group = _make_citations()
    rng = np.random.default_rng(0)
    of_group = rng.normal(size=7)
    known = np.flatnonzero(rng.random(280) < 0.5)
    values = {int(i): float(of_group[group[i]] + 0.1 * rng.normal()) for i in known}
    model = NodeRegressor(solver="operators").fit(edges, values)
    shares = _shares(model)
    # Where edges lead or come from tells the group of a paper, and so do groups of walks.
    shares = {kind: shares.get(kind, 0.0) for kind in ("same_targets", "same_sources", "community")}
    assert sum(shares.values()) > 0.5
    unknown = [i for i in range(280) if i not in values]
    errors = model.predict(unknown) - of_group[group[unknown]]
    assert np.mean(errors**2) < 0.1 * of_group.var()


@pytest.mark.parametrize("n_groups", [6, 7])
def test_penalties_stay_in_their_range(n_groups: Any) -> None:
    edges, group = _make_citations(n_groups)
    of_group = np.random.default_rng(0).normal(size=n_groups)
    values = {i: float(of_group[group[i]]) for i in range(0, 40 * n_groups, 2)}
    model = NodeRegressor(solver="operators").fit(edges, values)
    assert model.kernel_
    assert 0.01 <= model.alpha_ <= 60.0


def test_noise_gets_the_mean() -> None:
    data = make_geometric_graph(300, random_state=0)
    rng = np.random.default_rng(0)
    found = [fit_operators(data, rng.random(300), seed) for seed in range(6)]
    # The best of some kernels by left-out errors is better than the mean by chance at times.
    assert np.mean([ratio for _, ratio in found]) < 1.03
    assert sum(model.kernel_ == () for model, _ in found) >= 2
    assert all(model.alpha_ > 1.0 for model, _ in found)


def test_classes_of_unequal_size_have_an_offset() -> None:
    data = make_block_graph(300, n_blocks=2, random_state=0)
    y = np.where(np.arange(300) % 9 == 0, "rare", "common")
    known = np.random.default_rng(0).permutation(300)[:150]
    model = NodeClassifier(solver="operators").fit(
        data, {data.node_names[i]: str(y[i]) for i in known}
    )
    assert 0.0 <= model.choice_.offset <= 1.0
    np.testing.assert_allclose(model.explain().prediction.sum(axis=1), 1.0, atol=1e-5)


def test_few_classes_are_never_given_the_mean() -> None:
    n, n_groups = 600, 6
    rng = np.random.default_rng(0)
    group = np.arange(n) % n_groups
    chances = np.where(group[:, np.newaxis] == group, 8.0 * n_groups, 2.0) / n
    A = np.triu(rng.random((n, n)) < chances, 1).astype(float)
    labels = np.full(n, None, dtype=object)
    labels[: 2 * n_groups] = group[: 2 * n_groups]
    model = NodeClassifier(solver="operators", random_state=0).fit(A, labels, kind="matrix")
    assert model.kernel_
    assert np.mean(model.predict() == group[2 * n_groups :]) > 0.6


def test_mixes_that_reach_farther_are_chosen_where_values_drift_along_a_tree() -> None:
    n = 2000
    rng = np.random.default_rng(0)
    tree = [(i, max(0, i - int(rng.integers(1, 5)))) for i in range(1, n)]
    y = np.zeros(n)
    for node, parent in tree:
        y[node] = y[parent] + rng.normal()
    values = {i: float(y[i]) for i in range(n) if rng.random() < 0.1}
    unknown = [i for i in range(n) if i not in values]
    errors = []
    for blocks in ("auto", ["hop1", "hop4", "hop16", "hop64"]):
        model = NodeRegressor(solver="operators", random_state=0, blocks=blocks).fit(tree, values)
        errors.append(np.mean((model.predict(unknown) - y[unknown]) ** 2))
        assert ("hop999" in model.blocks_) == (blocks == "auto")
    assert errors[0] < 0.3 * errors[1]
