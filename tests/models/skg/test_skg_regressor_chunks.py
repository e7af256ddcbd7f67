"""SKGRegressor: seeds, chunks and threads."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from gradraker import SKGRegressor
from gradraker.features import engine as threads
from gradraker.features import fourier
from gradraker.kernels.shift_invariant import KERNELS
from gradraker.linear import lms
from oracles import skg as oracle
from skg_examples import NAMES, D, M, N, assert_close, regressor, signed, values, weighted

# -- seeds -------------------------------------------------------------------------------------


def test_an_integer_seed_gives_the_same_model_again() -> None:
    X, y = weighted(), values()
    np.testing.assert_array_equal(regressor().fit(X, y).coef_, regressor().fit(X, y).coef_)
    model = regressor()
    np.testing.assert_array_equal(model.fit(X, y).coef_, model.fit(X, y).coef_)
    assert model.seed_ == 3
    assert regressor(random_state=np.int64(3)).fit(X, y).seed_ == 3


def test_other_seeds_give_other_models() -> None:
    X, y = weighted(), values()
    coefs = [regressor(random_state=seed).fit(X, y).coef_ for seed in (0, 1, 2**32 - 1)]
    assert len({tuple(coef) for coef in coefs}) == 3


def test_no_seed_gives_a_new_model_each_time() -> None:
    X, y = weighted(), values()
    seeds = {regressor(random_state=None).fit(X, y).seed_ for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_a_generator_is_drawn_from_and_the_global_one_only_for_none() -> None:
    X, y = weighted(), values()
    state = np.random.get_state(legacy=True)[1].copy()  # type: ignore[index] # noqa: NPY002
    first = regressor(random_state=np.random.RandomState(1)).fit(X, y)
    again = regressor(random_state=np.random.RandomState(1)).fit(X, y)
    regressor(random_state=5).fit(X, y)
    assert first.seed_ == again.seed_
    np.testing.assert_array_equal(first.coef_, again.coef_)
    np.testing.assert_array_equal(np.random.get_state(legacy=True)[1], state)  # type: ignore[index] # noqa: NPY002
    generator = np.random.RandomState(1)
    model = regressor(random_state=generator)
    assert model.fit(X, y).seed_ != model.fit(X, y).seed_


def test_each_epoch_has_a_new_order() -> None:
    order = oracle.orders(3, N, 3, shuffle=True).reshape(3, N)
    assert len({tuple(epoch) for epoch in order}) == 3
    X, y = weighted(), values()
    assert not np.array_equal(regressor().fit(X, y).coef_, regressor(shuffle=False).fit(X, y).coef_)


# -- partial_fit and chunks --------------------------------------------------------------------


def in_chunks(X: Any, y: NDArray[np.float64], cuts: Any, **parameters: Any) -> SKGRegressor:
    model = regressor(**parameters)
    edges = [0, *sorted(cuts), len(y)]
    for start, stop in pairwise(edges):
        if start < stop:
            model.partial_fit(X[start:stop], y[start:stop])
    return model


@given(
    cuts=st.sets(st.integers(1, N - 1)),
    target=st.sampled_from(["one", "three"]),
    kernel=st.sampled_from(list(KERNELS)),
    dtype=st.sampled_from([np.float64, np.float32]),
    rows=st.sampled_from([np.array, sparse.csr_array]),
)
@settings(deadline=None, derandomize=True)
def test_any_split_gives_the_same_coef_bit_for_bit(
    cuts: Any, target: Any, kernel: Any, dtype: Any, rows: Any
) -> None:
    X, y = rows(weighted().astype(dtype)), values(target)
    whole = regressor(kernel=kernel).partial_fit(X, y)
    model = in_chunks(X, y, cuts, kernel=kernel)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert model.n_seen_ == whole.n_seen_ == N


def test_row_by_row_equals_one_unshuffled_epoch_of_fit() -> None:
    X, y = weighted(), values("three")
    rows = in_chunks(X, y, range(1, N))
    fitted = regressor(n_epochs=1, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(rows.coef_, fitted.coef_)
    for _ in range(2):
        rows.partial_fit(X, y)
    np.testing.assert_array_equal(rows.coef_, regressor(shuffle=False).fit(X, y).coef_)
    assert rows.n_seen_ == 3 * N


def test_partial_fit_continues_what_fit_began() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y)
    theta = model.coef_.copy()
    model.partial_fit(X[:5], y[:5])
    expected = oracle.train(
        oracle.features(X[:5], model.frequencies_), y[:5], range(5), 0.2, theta=theta
    )
    assert_close(model.coef_, expected)
    assert model.n_seen_ == 3 * N + 5


def test_partial_fit_keeps_the_variance_of_the_first_chunk() -> None:
    X, y = weighted(), values()
    model = regressor(sigma2="theory").partial_fit(X[:10], y[:10])
    first = model.sigma2_
    assert model.partial_fit(10 * X[10:], y[10:]).sigma2_ == first
    assert first == regressor(sigma2="theory").fit(X[:10], y[:10]).sigma2_


def test_the_learning_rate_may_change_between_chunks() -> None:
    X, y = weighted(), values()
    model = regressor(learning_rate=0.4).partial_fit(X[:20], y[:20])
    model.set_params(learning_rate=0.05).partial_fit(X[20:], y[20:])
    Z = oracle.features(X, model.frequencies_)
    theta = oracle.train(Z, y, range(20), 0.4)
    assert_close(model.coef_, oracle.train(Z, y, range(20, N), 0.05, theta=theta))


def test_fit_forgets_earlier_training() -> None:
    X, y = weighted(), values()
    fresh = regressor().fit(X, y)
    model = regressor().fit(signed(9), values(seed=8)).partial_fit(X, y).fit(X, y)
    np.testing.assert_array_equal(model.coef_, fresh.coef_)
    assert model.n_seen_ == fresh.n_seen_


def test_refitting_on_other_columns_targets_and_names() -> None:
    X, y = weighted(), values("three")
    model = regressor().fit(pd.DataFrame(X, columns=NAMES), y)
    assert model.coef_.shape == (3, 2 * D)
    assert model.references_ == NAMES
    model.fit(X, y, references=NAMES)
    assert not hasattr(model, "feature_names_in_")
    model.fit(X[:, :5], y[:, 0])
    np.testing.assert_array_equal(model.coef_, regressor().fit(X[:, :5], y[:, 0]).coef_)
    assert model.n_features_in_ == 5
    assert not hasattr(model, "feature_names_in_")
    model.fit(pd.DataFrame(X, columns=NAMES), y, references=range(M))
    assert not hasattr(model, "feature_names_in_")
    assert list(model.references_) == list(range(M))
    model.fit(X, y, references=NAMES)
    assert model.references_ == NAMES


@pytest.mark.parametrize("n_threads", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_models_do_not_depend_on_threads(
    monkeypatch: pytest.MonkeyPatch, n_threads: int, dtype: type[Any]
) -> None:
    X, y = weighted().astype(dtype), values("three")
    monkeypatch.setattr(threads, "count_threads", lambda: 1)
    alone = regressor().fit(X, y)
    expected = alone.predict(X), alone.features(X)
    monkeypatch.setattr(threads, "count_threads", lambda: n_threads)
    # However little work there is.
    monkeypatch.setattr(
        fourier, "parallel_for", lambda loop, n, _: threads.parallel_for(loop, n, 1)
    )
    model = regressor().fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.predict(X), expected[0])
    np.testing.assert_array_equal(model.features(X), expected[1])


@pytest.mark.parametrize("n_rows", [1, 3, 39, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kept_features_and_streamed_chunks_are_the_same(
    monkeypatch: pytest.MonkeyPatch, n_rows: int, dtype: type[Any]
) -> None:
    X, y = weighted().astype(dtype), values("three")
    kept = regressor().fit(X, y)
    made = []
    monkeypatch.setattr(lms, "_KEPT_BYTES", 0)
    monkeypatch.setattr(fourier, "_CHUNK_BYTES", n_rows * 2 * D * np.dtype(dtype).itemsize)
    chunks = lms.iterate_feature_chunks  # type: ignore[attr-defined]

    def counted(*args: Any, **kwargs: Any) -> Iterator[Any]:
        for chunk, Z in chunks(*args, **kwargs):
            made.append(len(Z))
            yield chunk, Z

    monkeypatch.setattr(lms, "iterate_feature_chunks", counted)
    streamed = regressor().fit(X, y)
    assert sum(made) == 3 * N
    assert max(made) == n_rows
    np.testing.assert_array_equal(streamed.coef_, kept.coef_)
    assert streamed.n_seen_ == kept.n_seen_


def test_predictions_do_not_depend_on_other_rows() -> None:
    X, y = weighted(), values("three")
    model = regressor().fit(X, y)
    together = model.predict(X)
    for n in range(N):
        np.testing.assert_array_equal(model.predict(X[n : n + 1])[0], together[n])
    order = np.random.default_rng(0).permutation(N)
    np.testing.assert_array_equal(model.predict(X[order]), together[order])


def test_predicting_changes_nothing() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    before = model.coef_.copy()
    model.predict(X)
    model.predict(X, references=[*NAMES[1:], "new"])
    model.features(X, references=[*NAMES[1:], "newer"])
    model.predict_one(["newest", NAMES[0]])
    np.testing.assert_array_equal(model.coef_, before)
    assert model.references_ == NAMES
    assert model.n_seen_ == 3 * N


def test_input_is_not_modified() -> None:
    X, y = weighted(), values()
    for rows in (X, sparse.csr_array(X)):
        kept = rows.copy()
        regressor().fit(rows, y).predict(rows)
        if sparse.issparse(rows):
            np.testing.assert_array_equal(rows.data, kept.data)
            assert rows is not None
            np.testing.assert_array_equal(rows.indices, kept.indices)  # type: ignore[union-attr]
        else:
            np.testing.assert_array_equal(rows, kept)
    np.testing.assert_array_equal(y, values())


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_read_only_input_is_accepted(make: Callable[..., Any] | type[Any]) -> None:
    # As joblib passes it to its workers.
    X, y = make(weighted()), values()
    expected = regressor().fit(X, y)
    y.flags.writeable = False
    for array in [X] if make is np.array else [X.data, X.indices, X.indptr]:
        array.flags.writeable = False
    model = regressor().fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
