"""Known nodes predicted without their own values, against refits."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker.features.walks import describe_walks
from gradraker.models.walks.iterative import left_out_predictors, selection
from gradraker.models.walks.iterative.left_out_predictors import HeldOut, KnownKernels, LeaveOneOut
from gradraker.models.walks.operators.mixes import Mix
from gradraker.models.walks.operators.operators import Operators
from oracles import nodes as oracle

N = 60
KERNEL = Mix(degrees=0.2, direction=0.2).to_kernel()
ALPHAS = (0.05, 0.5, 5.0)


def _problem(n_known: Any = 37, n_targets: Any = 2) -> Any:
    rng = np.random.default_rng(0)
    A = (rng.random((N, N)) < 0.06) * rng.uniform(0.2, 3.0, (N, N))
    walks = describe_walks(csr_array(A), np.arange(N), direction="both", seed=1)
    operators = Operators(walks, dtype=np.float64)
    known = rng.permutation(N)[:n_known]
    Y = 5.0 + rng.normal(size=(n_known, n_targets))
    K: Any = sum(t.share * operators.compute_rows(known, t, known) for t in KERNEL)
    return operators, 0.5 * (K + K.T), known, Y


def test_leave_one_out_equals_refits() -> None:
    operators, K, known, Y = _problem()
    predictor = LeaveOneOut(operators, known, Y)
    found = predictor.predict(KERNEL, ALPHAS)
    assert len(found) == 3
    for alpha, predictions in zip(ALPHAS, found, strict=True):
        expected = oracle.fixed_mean_left_out(K, Y, alpha)
        np.testing.assert_allclose(predictions, expected, atol=1e-9)
    np.testing.assert_array_equal(predictor.positions, np.arange(37))


def test_many_penalties_by_one_decomposition_equal_an_inverse_for_each() -> None:
    operators, _, known, Y = _problem()
    trust = np.random.default_rng(1).uniform(0.5, 2.0, known.size)
    predictor = LeaveOneOut(operators, known, Y, trust)
    alphas = (0.01, 0.05, 0.5, 5.0, 60.0)
    assert len(alphas) > left_out_predictors._FEW_PENALTIES
    for alpha, found in zip(alphas, predictor.predict(KERNEL, alphas), strict=True):
        np.testing.assert_allclose(found, predictor.predict(KERNEL, (alpha,))[0], atol=1e-9)


def test_kernels_of_some_known_nodes_are_parts_of_those_of_all() -> None:
    operators, K, known, _ = _problem()
    kernels = KnownKernels(operators, known)
    np.testing.assert_allclose(kernels.compute_kernel(KERNEL, known, known), K, atol=1e-12)
    some, others = known[[5, 2, 9]], known[10:14]
    found = kernels.compute_kernel(KERNEL, some, others)
    np.testing.assert_allclose(found, K[np.ix_([5, 2, 9], range(10, 14))], atol=1e-12)


@pytest.mark.parametrize("enough", [1000, 10])
def test_held_out_parts_equal_refits(monkeypatch: pytest.MonkeyPatch, enough: Any) -> None:
    monkeypatch.setattr(left_out_predictors, "_LOOSE", 1e-12)
    monkeypatch.setattr(left_out_predictors, "_MOST_PRODUCTS", 500)
    monkeypatch.setattr(left_out_predictors, "_ENOUGH", enough)
    operators, K, known, Y = _problem()
    predictor = HeldOut(operators, known, Y)
    positions = predictor.positions
    assert len(set(positions.tolist())) == positions.size == (37 if enough == 1000 else 16)
    # Fifths of the known nodes, 8 in each but the last, in the random order of all nodes.
    order = np.argsort(operators.walks.rank[known])
    parts = [order[start : start + 8] for start in range(0, 37, 8)]
    np.testing.assert_array_equal(positions, np.concatenate(parts)[: positions.size])
    for alpha, predictions in zip(ALPHAS, predictor.predict(KERNEL, ALPHAS), strict=True):
        for number, part in enumerate(parts[: -(-positions.size // 8)]):
            rest = np.setdiff1d(np.arange(37), part)
            expected = oracle.fixed_mean_ridge(
                K[np.ix_(rest, rest)], K[np.ix_(part, rest)], Y[rest], alpha
            )
            found = predictions[8 * number : 8 * number + part.size]
            np.testing.assert_allclose(found, expected, atol=1e-8)


def test_held_out_parts_are_loose_but_near() -> None:
    operators, _, known, Y = _problem()
    loose = HeldOut(operators, known, Y).predict(KERNEL, (0.5,))[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(left_out_predictors, "_LOOSE", 1e-10)
        patch.setattr(left_out_predictors, "_MOST_PRODUCTS", 500)
        fine = HeldOut(operators, known, Y).predict(KERNEL, (0.5,))[0]
    # A residual of 2 % of the values, amplified by ‖K‖/α at most.
    assert np.sqrt(np.mean((loose - fine) ** 2)) < 0.05 * Y.std()


def test_many_known_nodes_are_held_out_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    operators, _, known, Y = _problem()
    assert isinstance(selection.make_predictor(operators, known, Y), LeaveOneOut)
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 36)
    assert isinstance(selection.make_predictor(operators, known, Y), HeldOut)
    monkeypatch.setattr(selection, "_MOST_LEFT_OUT", 37)
    monkeypatch.setattr(selection, "_MOST_ENTRIES", 10)
    assert isinstance(selection.make_predictor(operators, known, Y), HeldOut)
