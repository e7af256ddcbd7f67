"""Training of a bank: its equations, and that chunks, memory and threads change nothing."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bank_examples import KERNEL_LIST, RNG, Y3, D, N, X, Y, assert_equal_models, bank
from gradraker._compiled.fourier_lms import run_member_pass
from gradraker.features import engine as threads
from gradraker.models.bank import training as bank_training
from oracles import bank as oracle
from oracles import skg


@pytest.mark.parametrize("y", [Y, Y3, 1e6 * Y, 1e-6 * Y], ids=["one", "three", "large", "small"])
@pytest.mark.parametrize("weight_step", ["auto", 0.05])
@pytest.mark.parametrize("regularization", [0.0, 0.3])
def test_training_follows_the_equations(y: Any, weight_step: Any, regularization: float) -> None:
    if weight_step != "auto":
        weight_step /= np.mean(y**2)
    model = bank(weight_step=weight_step, regularization=regularization).fit(X, y)
    features = [skg.features(X, model.compute_frequencies(p)) for p in range(len(KERNEL_LIST))]
    theta, losses, loss, history = oracle.train(
        features,
        y,
        skg.orders(3, N, 3, shuffle=True),
        0.2,
        weight_step=weight_step,
        regularization=regularization,
    )
    np.testing.assert_allclose(model.coef_, theta, rtol=1e-9, atol=1e-11 * abs(theta).max())
    np.testing.assert_allclose(model.member_losses_, losses, rtol=1e-9)
    np.testing.assert_allclose(model.loss_, loss, rtol=1e-9)
    np.testing.assert_allclose(model.weights_history_, history, rtol=1e-8)


@given(cuts=st.sets(st.integers(1, N - 1), max_size=6), y=st.sampled_from([Y, Y3]))
@settings(max_examples=20, deadline=None)
def test_any_split_into_chunks_gives_the_same_model(cuts: Any, y: Any) -> None:
    kernels = [0.1, 1.5, ("laplacian", 2.0)]
    whole = bank(kernels=kernels, regularization=0.1).partial_fit(X, y)
    parts = bank(kernels=kernels, regularization=0.1)
    for start, stop in pairwise([0, *sorted(cuts), N]):
        parts.partial_fit(X[start:stop], y[start:stop])
    assert_equal_models(whole, parts)


@pytest.mark.parametrize("order", ["C", "sparse"])
def test_memory_limits_and_threads_do_not_change_the_model(
    monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    rows = sparse.csr_array(X) if order == "sparse" else X
    expected = bank().fit(rows, Y)
    predictions = expected.predict(rows)
    for name, value in {"_KEPT_FEATURES": 0, "_KEPT_PROJECTIONS": 0, "_CHUNK_BYTES": 1000}.items():
        monkeypatch.setattr(bank_training, name, value)
        assert_equal_models(expected, bank().fit(rows, Y))
        np.testing.assert_array_equal(expected.predict(rows), predictions)
    monkeypatch.setattr(bank_training, "_FEATURES_PER_THREAD", 0)
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(threads, "count_threads", lambda n=n_threads: n)
        assert_equal_models(expected, bank().fit(rows, Y))
        np.testing.assert_array_equal(expected.predict(rows), predictions)


def test_members_that_run_at_once_have_memory_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = {}

    def one_within_the_other(loop: Any, n_members: Any, _: Any) -> None:
        run.append(loop)
        loop(0, 1)
        loop(1, n_members - 1)

    def note(bank: Any, chunk: Any, theta: Any) -> Any:
        def work(m: Any, P: Any, Z: Any) -> None:
            spaces[m] = Z
            if m == 1:
                run[0](2, 3)

        bank_training._run_members(bank, chunk, work)
        return np.zeros((theta.shape[0], chunk.numbers.size, theta.shape[1]))

    model = bank(kernels=[0.1, 1.0, 10.0]).fit(X, Y)
    run: list[Any] = []
    monkeypatch.setattr(bank_training, "parallel_for", one_within_the_other)
    monkeypatch.setattr(bank_training, "_predict_member", note)
    model.predict(X)
    assert np.shares_memory(spaces[0], spaces[1])  # one after the other
    assert not np.shares_memory(spaces[1], spaces[2])


def test_features_that_are_kept_are_those_that_are_computed_again() -> None:
    P, y = RNG.normal(size=(7, D)), RNG.normal(size=(7, 1))
    rows = np.concatenate([RNG.permutation(7) for _ in range(3)])
    found = []
    for n_kept in (1, 7):
        theta, Z = np.zeros((1, 2 * D)), np.empty((n_kept, 2 * D))
        out, norms = np.empty((21, 1)), np.empty(21)
        run_member_pass(P, rows, 0.7, y, 0.4, 0.9, theta, Z, out, norms)
        found.append(np.concatenate([theta.ravel(), out.ravel(), norms]))
    np.testing.assert_array_equal(found[0], found[1])
