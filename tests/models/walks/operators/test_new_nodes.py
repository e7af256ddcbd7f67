"""Nodes that are not in the graph, predicted as in the dense extended graph."""

from typing import Any

import numpy as np
import pytest

from dense_operators import N, get_probes, make_matrix
from gradraker import NodeRegressor
from oracles import nodes as oracle


def _extend(A: Any, out: Any, into: Any, block: Any, direction: Any, probes: Any) -> Any:
    """Kernel (N,) between a new node, which no walk comes back to, and the graph."""
    if block in ("same_targets", "same_sources"):
        own = {"same_targets": "out", "same_sources": "in"}[block]
        E, new = oracle.links(A, own), out if own == "out" else into
        T, columns, m = oracle.meeting_walk(A, own), E.sum(axis=0), 1
    else:
        sign = -1.0 if block.startswith("alternating") else 1.0
        new = sign * {"both": out + into, "out": out, "in": into}[direction]
        is_lazy = block.startswith("lazy")
        T = oracle.operator_walk(A, direction, sign=sign, is_lazy=is_lazy)
        E = oracle.links(A, direction)
        columns = E.sum(axis=0) + (np.where(E.any(axis=1), E.sum(axis=1), 1.0) if is_lazy else 1.0)
        m = int(block.lstrip("abcdefghijklmnopqrstuvwxyz"))
    extended = np.zeros((len(A) + 1, len(A) + 1))
    extended[:-1, :-1] = T
    extended[-1, :-1] = oracle.divide_by_roots(new[np.newaxis], [abs(new).sum()], columns)[0]
    if block.startswith("centred"):
        u, v = oracle.measure_common(A, direction)
        extended[:, :-1] -= np.outer(np.append(u, extended[-1, :-1] @ v), v)
    rows = np.linalg.matrix_power(extended, m)
    products = rows[-1] @ rows[:-1].T
    norms = oracle.chain_norms(rows[:-1, :-1], m, probes)
    # The norm of a new row is estimated from probes for one step as well.
    own_norm = np.mean((rows[-1, :-1] @ probes) ** 2)
    return oracle.divide_by_roots(products[np.newaxis], [own_norm], norms)[0]


@pytest.mark.parametrize(
    "block",
    [
        *("hop1", "hop3", "hop8", "lazy1", "lazy4", "alternating1", "alternating4"),
        *("centred1", "centred4", "same_targets", "same_sources"),
    ],
)
@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_predict_new_equals_the_dense_extended_graph(block: Any, direction: Any) -> None:
    A = make_matrix(4)
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(N)[:14])
    values = np.full(N, np.nan)
    values[known] = rng.normal(size=14)
    model = NodeRegressor(
        blocks=block, width=1.0, alpha=0.1, solver="operators", direction=direction, tol=1e-12
    ).fit(A, values, kind="matrix")
    out, into = np.zeros(N), np.zeros(N)
    out[[3, 5]], into[[5, 8]] = (2.0, 1.0), (0.5, 1.5)
    edges = [("new", 3, -2.0), ("new", 5, 1.0), (5, "new", 0.5), (8, "new", 1.5)]
    predicted = model.predict_new([*edges, ("other", 9, 1.0)])
    operators = model._description
    probes = get_probes(operators)
    K = oracle.operator_kernel(A, block, direction, probes=probes)[np.ix_(known, known)]
    k = _extend(A, out, into, block, direction, probes)[known]
    expected = oracle.fixed_mean_ridge(K, k[np.newaxis], values[known], 0.1)[0]
    assert predicted["new"] == pytest.approx(expected, abs=1e-7)
    assert model.predict_new(edges)["new"] == pytest.approx(predicted["new"], abs=1e-12)
    assert len(model.nodes_) == N


@pytest.mark.parametrize("direction", ["both", "out"])
def test_predict_new_by_communities_equals_the_dense_features(direction: Any) -> None:
    A = make_matrix(6)
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(N)[:14])
    values = np.full(N, np.nan)
    values[known] = rng.normal(size=14)
    model = NodeRegressor(
        blocks="community", width=0.5, alpha=0.1, solver="operators", direction=direction, tol=1e-12
    ).fit(A, values, kind="matrix")
    predicted = model.predict_new([("new", 5, -2.0), ("new", 8, 1.0)])["new"]
    new = np.zeros((1, N))
    new[0, [5, 8]] = 2.0, 1.0
    columns = oracle.links(A, direction).sum(axis=0) + 1.0
    step = oracle.divide_by_roots(new, [3.0], columns)
    T, probes = oracle.operator_walk(A, direction), get_probes(model._description)
    rows = oracle.community_rows(T, probes)
    own = step @ np.linalg.matrix_power(T, 15) @ probes
    own /= np.linalg.norm(own)
    d2 = oracle.squared_distances(rows)
    scale = 1.0 / (2.0 * 0.5 * oracle.median(d2))
    eigenvalues, vectors = np.linalg.eigh(np.exp(-scale * d2))
    kept = eigenvalues > 1e-6 * eigenvalues[-1]
    to_features = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    z = np.exp(-scale * ((own - rows) ** 2).sum(axis=1)) @ to_features
    Z = np.exp(-scale * d2) @ to_features
    k = oracle.divide_by_roots((Z @ z)[np.newaxis], [z @ z], (Z**2).sum(axis=1))[:, known]
    K = oracle.low_rank_kernel(rows, 0.5)[np.ix_(known, known)]
    expected = oracle.fixed_mean_ridge(K, k, values[known], 0.1)[0]
    assert predicted == pytest.approx(expected, abs=1e-6)


def test_predict_new_by_degrees_equals_the_dense_features() -> None:
    A = abs(make_matrix(5))
    rng = np.random.default_rng(0)
    known = np.sort(rng.permutation(N)[:14])
    values = np.full(N, np.nan)
    values[known] = rng.normal(size=14)
    model = NodeRegressor(blocks="degree", width=4.0, alpha=0.1, solver="operators", tol=1e-12)
    model.fit(A, values, kind="matrix")
    twin = 7  # a copy of a node, which the other nodes do not see
    edges: list[Any] = [("twin", int(j), A[twin, j]) for j in np.flatnonzero(A[twin])]
    edges += [(int(j), "twin", A[j, twin]) for j in np.flatnonzero(A[:, twin])]
    assert model.predict_new(edges)["twin"] == pytest.approx(model.predict([twin])[0], abs=1e-9)


@pytest.mark.parametrize("blocks", [("hop1", "hop4", "hop64"), ("degree",), ("same_targets",)])
def test_predict_new_without_links_is_finite(blocks: Any) -> None:
    A = make_matrix(4)
    values = np.where(np.arange(N) % 2, np.arange(N) * 1.0, np.nan)
    model = NodeRegressor(blocks=blocks, width=1.0, alpha=0.1, solver="operators")
    model.fit(A, values, kind="matrix")
    found = model.predict_new({"new": []}, return_interval=True)["new"]
    assert np.isfinite(found).all()
    if "degree" not in blocks:
        assert found[0] == pytest.approx(np.nanmean(values), abs=1e-6)
