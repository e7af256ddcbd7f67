"""Kernels proposed in closed form: what the criterion and losses of known nodes prefer."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker import NodeClassifier, NodeRegressor
from gradraker.datasets import make_geometric_graph
from gradraker.features.walks import describe_walks
from gradraker.linear.ridge import compute_criterion_curve, compute_criterion_of_mean
from gradraker.models.walks.iterative import closed_form, selection
from gradraker.models.walks.iterative.closed_form import (
    KnownSample,
    list_leans,
    list_terms,
    propose_for_classes,
    propose_for_numbers,
    take_sample,
)
from gradraker.models.walks.operators.mixes import LEANS
from gradraker.models.walks.operators.operators import Operators

N = 240


def _make_ring(seed: int = 0) -> Any:
    """A ring with some chords, in which walks mix late, and random degrees."""
    rng = np.random.default_rng(seed)
    A = np.zeros((N, N))
    for i in range(N):
        for step in range(1, 2 + int(rng.integers(0, 4))):
            A[i, (i + step) % N] = A[(i + step) % N, i] = 1.0
    return A


def _take(A: Any, Y: Any, known: Any, trust: Any = None) -> tuple[Operators, KnownSample]:
    walks = describe_walks(csr_array(A), np.arange(len(A)), direction="both", seed=1)
    operators = Operators(walks, dtype=np.float64)
    predictor = selection.make_predictor(operators, known, Y, trust)
    return operators, take_sample(operators, predictor, known, Y, trust, 10**9)


def _compute_cost(sample: KnownSample, kernel: Any, alpha: float) -> float:
    Y = sample.Y - sample.Y.mean(axis=0)
    K = sample.kernels.compute_kernel(kernel, sample.known, sample.known)
    curve = compute_criterion_curve(K, Y / np.sqrt(np.mean(Y**2)), np.array([alpha]))
    return float(curve.criterion[0])


def test_proposals_for_numbers_are_in_the_order_of_the_criterion() -> None:
    A = _make_ring()
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(N) / 20) + 0.2 * np.log(A.sum(axis=1)) + 0.3 * rng.normal(size=N)
    known = rng.permutation(N)[:100]
    _, sample = _take(A, y[known, np.newaxis], known)
    proposals = propose_for_numbers(sample, is_directed=False)
    assert len(proposals) >= 4
    costs = [_compute_cost(sample, kernel, alphas[0]) for kernel, alphas in proposals]
    assert costs[0] == min(costs[:4])
    assert costs[:4] == sorted(costs[:4])
    centred = sample.Y - sample.Y.mean(axis=0)
    scaled = centred / np.sqrt(np.mean(centred**2))
    assert costs[0] < compute_criterion_of_mean(scaled) - 3.0
    # The penalty is where the criterion is smallest.
    kernel, (alpha,) = proposals[0]
    assert costs[0] <= min(_compute_cost(sample, kernel, alpha * f) for f in (0.5, 2.0))


def test_noise_is_proposed_the_mean_unless_a_penalty_is_given() -> None:
    A = _make_ring()
    rng = np.random.default_rng(3)
    known = rng.permutation(N)[:100]
    Y = rng.normal(size=(100, 1))
    _, sample = _take(A, Y, known)
    assert propose_for_numbers(sample, is_directed=False) == ()
    proposals = propose_for_numbers(sample, is_directed=False, alpha=0.7)
    assert proposals
    assert {alphas for _, alphas in proposals} == {(0.7,)}


def _make_groups(seed: int = 0) -> tuple[Any, Any]:
    """Three groups with many edges between them, so that walks mix within few steps."""
    rng = np.random.default_rng(seed)
    codes = np.arange(N) % 3
    chances = np.where(codes[:, np.newaxis] == codes, 0.08, 0.02)
    A = np.triu(rng.random((N, N)) < chances, 1).astype(float)
    return A + A.T, codes


def test_the_longest_walks_are_for_graphs_in_which_shorter_ones_have_not_mixed() -> None:
    known = np.arange(0, N, 5)
    Y = np.random.default_rng(0).normal(size=(known.size, 1))
    _, sample = _take(_make_ring(), Y, known)
    leans = list_leans(sample)
    assert "farthest" in leans
    assert "centred" not in leans
    assert ("hop999", None) in list_terms(leans)
    _, sample = _take(_make_groups()[0], Y, known)
    leans = list_leans(sample)
    assert "farthest" not in leans
    assert "centred" in leans
    assert {("centred8", None), ("centred16", None)} <= set(list_terms(leans))
    assert ("hop999", None) not in list_terms(leans)


@pytest.mark.parametrize("seed", range(6))
def test_whether_walks_have_mixed_does_not_depend_on_the_estimates_of_norms(seed: int) -> None:
    known = np.arange(0, N, 5)
    walks = describe_walks(csr_array(_make_groups()[0]), np.arange(N), direction="both", seed=seed)
    operators = Operators(walks, dtype=np.float64)
    Y = np.zeros((known.size, 1))
    predictor = selection.make_predictor(operators, known, Y, None)
    assert "centred" in list_leans(take_sample(operators, predictor, known, Y, None, 10**9))


def test_classes_of_groups_are_told_by_centred_walks_where_walks_have_mixed() -> None:
    A, codes = _make_groups()
    known = np.random.default_rng(0).permutation(N)[:90]
    _, sample = _take(A, np.eye(3)[codes[known]], known)
    kernel, _ = propose_for_classes(sample, is_directed=False)[0]
    assert sum(term.share for term in kernel if term.block.startswith("centred")) > 0.5
    few = known[:30]
    _, sample = _take(A, np.eye(3)[codes[few]], few)
    ((kernel, _),) = propose_for_numbers(sample, is_directed=False, has_few_classes=True)
    assert sum(term.share for term in kernel if term.block.startswith("centred")) >= 0.5


def test_classes_are_proposed_by_their_losses() -> None:
    A = _make_ring()
    codes = (np.arange(N) // 40) % 3
    known = np.random.default_rng(0).permutation(N)[:90]
    _, sample = _take(A, np.eye(3)[codes[known]], known)
    proposals = propose_for_classes(sample, is_directed=False)
    losses = [sample.compare(90, [kernel], alphas)[0].loss for kernel, alphas in proposals]
    assert losses == sorted(losses)
    assert losses[0] < 0.5


def test_few_classes_are_half_walks_that_reach_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_form, "_MOST_ALPHA_OF_FEW", 0.2)
    A = _make_ring()
    rng = np.random.default_rng(0)
    known = rng.permutation(N)[:16]
    codes = np.arange(N) * 4 // N  # arcs
    _, sample = _take(A, np.eye(4)[codes[known]], known)
    ((kernel, _),) = propose_for_numbers(sample, is_directed=False, has_few_classes=True)
    shares = {term.block: term.share for term in kernel}
    assert sum(shares.values()) == pytest.approx(1.0)
    assert all(0.4 * share < shares[block] for block, share in LEANS["farther"].items())
    assert shares != pytest.approx(LEANS["farther"])
    codes = rng.integers(0, 4, N)  # noise: the criterion by itself would take the mean
    _, sample = _take(A, np.eye(4)[codes[known]], known)
    ((kernel, (alpha,)),) = propose_for_numbers(sample, is_directed=False, has_few_classes=True)
    assert {term.block: term.share for term in kernel} == pytest.approx(LEANS["farther"])
    assert alpha == 0.2  # the criterion would have more
    labels = np.full(N, None, dtype=object)
    labels[known] = codes[known]
    model = NodeClassifier(solver="operators").fit(A, labels, kind="matrix")
    assert model.choice_.offset == 0.5
    assert "half walks" in model.choice_.rule


def test_sample_weights_count_in_proposals() -> None:
    A = _make_ring()
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(N) / 20)
    known = rng.permutation(N)[:100]
    values = y[known].copy()
    values[:50] += 3.0 * rng.normal(size=50)
    trust = np.where(np.arange(100) < 50, 1e-3, 1.0)
    _, sample = _take(A, values[:, np.newaxis], known, trust)
    assert propose_for_numbers(sample, is_directed=False)
    _, sample = _take(A, values[:, np.newaxis], known)
    assert propose_for_numbers(sample, is_directed=False) == ()  # noise in half of them hides all


def test_a_part_of_many_known_nodes_proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 10)
    monkeypatch.setattr(closed_form, "_MOST_SAMPLED", 60)
    A = _make_ring()
    known = np.random.default_rng(0).permutation(N)[:100]
    operators, sample = _take(A, np.ones((100, 1)), known)
    assert sample.known.size == 60
    order = np.argsort(operators.walks.rank[known])
    np.testing.assert_array_equal(sample.known, known[order[:60]])
    assert propose_for_numbers(sample, is_directed=False) == ()  # equal values
    assert propose_for_classes(sample, is_directed=False) == ()


def test_too_large_a_graph_has_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 10)
    monkeypatch.setattr(selection, "_MOST_ENTRIES", 99)
    A = _make_ring()
    wave = np.sin(np.arange(N) / 20)
    known = np.random.default_rng(0).permutation(N)[:200]
    values = np.full(N, np.nan)
    values[known] = wave[known]
    model = NodeRegressor(solver="operators").fit(A, values, kind="matrix")
    assert "a part at a time" in model.choice_.rule
    unknown = np.isnan(values)
    assert np.mean((model.predict() - wave[unknown]) ** 2) < 0.05 * wave.var()


def test_the_unit_of_values_does_not_count() -> None:
    A = _make_ring()
    known = np.random.default_rng(0).permutation(N)[:100]
    Y = np.sin(known / 20)[:, np.newaxis] + 1e-3 * (known % 7)[:, np.newaxis]
    found = []
    for unit in (1.0, 2.0**-600, 2.0**300):
        _, sample = _take(A, unit * Y, known)
        found.append(propose_for_numbers(sample, is_directed=False))
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_degrees_are_found_with_few_known_values() -> None:
    data = make_geometric_graph(400, random_state=1)
    degree = np.log1p(np.asarray(data.adjacency.sum(axis=1)))
    known = np.random.default_rng(0).permutation(400)[:30]
    values = np.full(400, np.nan)
    values[known] = degree[known]
    model = NodeRegressor(solver="operators").fit(data, values)
    assert {term.block: term.share for term in model.kernel_}["degree"] >= 0.5
    unknown = np.isnan(values)
    assert np.mean((model.predict() - degree[unknown]) ** 2) < 0.1 * degree.var()
