"""SKGRegressor: equations (1) to (4), references, chunks and threads."""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from gradraker import SKGRegressor
from gradraker.features import fourier
from gradraker.features import parallel as threads
from gradraker.kernels.shift_invariant import KERNELS
from gradraker.linear import lms
from oracles import skg as oracle

N, M, D = 40, 12, 16
NAMES = [f"node {m}" for m in range(M)]

FORMATS = {
    "dense": np.array,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "bsr": sparse.bsr_array,
    "dia": sparse.dia_array,
    "pandas": pd.DataFrame,
    "pandas sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X)),
    "polars": pl.DataFrame,
}


def unweighted(seed: int = 0) -> NDArray[np.float64]:
    return (np.random.default_rng(seed).random((N, M)) < 0.3).astype(float)


def weighted(seed: Any = 0) -> NDArray[np.float64]:
    return unweighted(seed) * np.random.default_rng(seed + 1).random((N, M))


def signed(seed: int = 0) -> NDArray[np.float64]:
    return unweighted(seed) * np.random.default_rng(seed + 1).normal(size=(N, M))


GRAPHS = {"unweighted": unweighted, "weighted": weighted, "signed": signed}
TARGETS = {
    "one": lambda rng: rng.normal(size=N),
    "column": lambda rng: rng.normal(size=(N, 1)),
    "three": lambda rng: rng.normal(size=(N, 3)),
    "integers": lambda rng: rng.integers(0, 5, N),
}


def values(kind: str = "one", seed: int = 5) -> Any:
    return TARGETS[kind](np.random.default_rng(seed))


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(
        **{"sigma2": 1.5, "n_frequencies": D, "learning_rate": 0.2, "random_state": 3, **parameters}
    )


def expected_fit(model: SKGRegressor, X: NDArray[Any], y: NDArray[Any]) -> tuple[Any, ...]:
    """``coef_`` and predictions by the oracle, from the frequencies of a fitted model."""
    Z = oracle.features(X, model.frequencies_)
    order = oracle.orders(model.seed_, len(X), model.n_epochs, shuffle=model.shuffle)
    theta = oracle.train(Z, y, order, model.learning_rate)
    return theta, oracle.predict(Z, theta)


def assert_close(
    found: NDArray[np.float64], expected: NDArray[np.float64], rtol: float = 1e-10
) -> None:
    """Equal shapes, and equal to ``rtol`` relative to the largest entry."""
    assert np.shape(found) == np.shape(expected)
    assert np.max(np.abs(found - expected)) <= rtol * np.max(np.abs(expected))


# -- the equations -----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("target", TARGETS)
def test_fit_and_predict_equal_the_equations(
    kernel: str, shuffle: bool, graph: str, target: str
) -> None:
    X, y = GRAPHS[graph](), values(target)
    model = regressor(kernel=kernel, shuffle=shuffle).fit(X, y)
    coef, predictions = expected_fit(model, X, y)
    assert_close(model.coef_, coef)
    assert_close(model.predict(X), predictions)
    assert model.n_seen_ == 3 * N


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_of_rows_equals_the_equations(kind: str) -> None:
    X, y = weighted(), values()
    model = regressor().fit(FORMATS[kind](X), y)
    if hasattr(model, "feature_names_in_"):
        assert kind == "polars"  # its columns have names; the others have numbers or none
    coef, predictions = expected_fit(model, X, y)
    assert_close(model.coef_, coef)
    assert_close(model.predict(FORMATS[kind](X)), predictions)


@pytest.mark.parametrize("kind", [k for k in FORMATS if k != "polars"])
def test_every_format_of_rows_is_the_same_bit_for_bit(kind: str) -> None:
    X, y = weighted(), values()
    expected = regressor().fit(X, y)
    model = regressor().fit(FORMATS[kind](X), y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(FORMATS[kind](X)), expected.predict(X))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8, np.float16, object])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
def test_other_number_types_become_float64(
    dtype: type[Any], make: Callable[..., Any] | type[Any]
) -> None:
    if make is sparse.csr_array and dtype in (object, np.float16):
        pytest.skip("SciPy has no such sparse arrays")
    X, y = unweighted(), values()
    model = regressor().fit(make(X.astype(dtype)), y)
    np.testing.assert_array_equal(model.coef_, regressor().fit(X, y).coef_)
    assert model.features(make(X.astype(dtype))).dtype == np.float64


@pytest.mark.parametrize(
    "make_y", [list, tuple, pd.Series, pl.Series, np.asfortranarray, lambda y: np.repeat(y, 2)[::2]]
)
def test_every_format_of_y(make_y: Callable[..., Any] | type[Any]) -> None:
    X, y = weighted(), values()
    coef = regressor().fit(X, y).coef_
    np.testing.assert_array_equal(regressor().fit(X, make_y(y)).coef_, coef)


def test_data_frames_of_values() -> None:
    X, y = weighted(), values("three")
    coef = regressor().fit(X, y).coef_
    for frame in (pd.DataFrame(y), pl.DataFrame(y), np.asfortranarray(y), y.tolist()):
        np.testing.assert_array_equal(regressor().fit(X, frame).coef_, coef)


@pytest.mark.parametrize("kernel", KERNELS)
def test_float32_rows(kernel: str) -> None:
    X, y = signed().astype(np.float32), values("three")
    model = regressor(kernel=kernel).fit(X, y)
    coef, predictions = expected_fit(model, X, y)
    assert model.features(X).dtype == np.float32
    assert model.coef_.dtype == model.predict(X).dtype == np.float64
    # A feature is rounded to 2⁻²⁴ ≈ 6e-8 of itself; the update contracts, so 120 steps add up to
    # a few of these errors. Projections and sums are float64, or Cauchy draws would do worse.
    assert_close(model.coef_, coef, rtol=1e-6)
    assert_close(model.predict(X), predictions, rtol=1e-6)


def test_float32_sparse_and_dense_are_the_same() -> None:
    X, y = signed().astype(np.float32), values()
    dense, rows = regressor().fit(X, y), regressor().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(rows.coef_, dense.coef_)
    assert rows.features(sparse.csr_array(X)).dtype == np.float32


@pytest.mark.parametrize("kernel", KERNELS)
def test_angles_beyond_a_million_equal_the_equations(kernel: str) -> None:
    # One neighbour a row, with a weight that is a power of 2: angles are exact on both sides,
    # and sines of angles up to 2⁴⁰ are a matter of the reduction alone.
    rng = np.random.default_rng(0)
    X = np.zeros((N, M))
    X[np.arange(N), rng.integers(0, M, N)] = np.ldexp(1.0, rng.integers(0, 40, N))
    y = values()
    model = regressor(kernel=kernel, sigma2=4.0).fit(X, y)
    assert np.abs(X @ model.frequencies_).max() > 1e9
    coef, predictions = expected_fit(model, X, y)
    assert_close(model.coef_, coef)
    assert_close(model.predict(X), predictions)


def test_a_heavy_tailed_draw() -> None:
    # Of 2 million Cauchy draws some exceed 10⁵; a row that meets them is as exact as others.
    model = regressor(kernel="laplacian", n_frequencies=200, sigma2=1.0)
    model.partial_fit(np.zeros((1, 10_000)), [0.0])
    xi = model.frequencies_
    heavy = np.argsort(np.abs(xi).max(axis=1))[-5:]
    assert np.abs(xi[heavy]).max() > 1e5
    X = np.zeros((5, 10_000))
    X[np.arange(5), heavy] = 1.0
    expected = oracle.features(X[:, heavy], xi[heavy])
    np.testing.assert_allclose(model.features(X), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("n_frequencies", [1, 2, 3, 127, 128, 129])
@pytest.mark.parametrize("learning_rate", [1e-3, 0.5, 0.999])
def test_other_sizes_and_rates_equal_the_equations(
    n_frequencies: int, learning_rate: float
) -> None:
    X, y = weighted(), values()
    model = regressor(n_frequencies=n_frequencies, learning_rate=learning_rate, n_epochs=2)
    model.fit(X, y)
    coef, predictions = expected_fit(model, X, y)
    assert model.coef_.shape == (2 * n_frequencies,)
    assert_close(model.coef_, coef)
    assert_close(model.predict(X), predictions)


def test_the_first_step_by_hand() -> None:
    # θ₁ = 2η y z, so the first prediction is 2η y zᵀz = 2η y, as ‖z‖ = 1.
    X = weighted()[:1]
    model = regressor(learning_rate=0.3).partial_fit(X, [5.0])
    assert model.predict(X)[0] == pytest.approx(2 * 0.3 * 5.0, rel=1e-14)
    np.testing.assert_allclose(model.coef_, 0.6 * 5.0 * model.features(X)[0], rtol=1e-14)
    # The second leaves (1 − 2η)² of the error.
    model.partial_fit(X, [5.0])
    assert model.predict(X)[0] == pytest.approx(5.0 * (1 - 0.4**2), rel=1e-13)


def test_claim_3_predictions_are_weighted_sums_of_values() -> None:
    # F by the recursion of the paper; doubling one value moves the prediction by F times it.
    X, y = weighted()[:8], values()[:8]
    model = regressor(n_epochs=1, shuffle=False).fit(X[:7], y[:7])
    Z = model.features(X)
    B = 2 * model.learning_rate * Z @ Z.T
    F = np.zeros(7)
    for i in range(6, -1, -1):
        F[i] = B[i, 7] - B[i, i + 1 : 7] @ F[i + 1 :]
    assert model.predict(X[7:])[0] == pytest.approx(F @ y[:7], rel=1e-12)


def test_targets_are_learned_independently() -> None:
    X, y = weighted(), values("three")
    together = regressor().fit(X, y)
    for k in range(3):
        alone = regressor().fit(X, y[:, k])
        np.testing.assert_array_equal(together.coef_[k], alone.coef_)
        np.testing.assert_array_equal(together.predict(X)[:, k], alone.predict(X))


@pytest.mark.parametrize(
    ("target", "shape", "predicted"),
    [("one", (2 * D,), (N,)), ("column", (1, 2 * D), (N, 1)), ("three", (3, 2 * D), (N, 3))],
)
def test_shapes(target: str, shape: tuple[Any, ...], predicted: tuple[Any, ...]) -> None:
    model = regressor().fit(weighted(), values(target))
    assert model.coef_.shape == shape
    assert model.predict(weighted()).shape == predicted
    assert model.predict(weighted()[:1]).shape == (1, *predicted[1:])
    assert model.features(weighted()).shape == (N, 2 * D)
    assert model.frequencies_.shape == (M, D)
    assert model.n_features_in_ == M
    assert list(model.references_) == list(range(M))
    assert model.sigma2_ == 1.5
    assert isinstance(model.sigma2_, float)


def test_score_is_r_squared() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y)
    residual = np.sum((y - model.predict(X)) ** 2)
    assert model.score(X, y) == pytest.approx(1 - residual / np.sum((y - y.mean()) ** 2))


def test_theory_is_the_largest_squared_distance_over_log_2d() -> None:
    X, y = weighted(), values()
    largest = max(np.sum((a - b) ** 2) for a in X for b in X)
    model = regressor(sigma2="theory").fit(X, y)
    assert model.sigma2_ == pytest.approx(largest / math.log(2 * D), rel=1e-12)
    np.testing.assert_allclose(
        model.coef_, regressor(sigma2=model.sigma2_).fit(X, y).coef_, rtol=1e-12
    )


def test_learning_works() -> None:
    # A value that is a smooth function of the neighbours is learned far better than its mean.
    rng = np.random.default_rng(0)
    X = (rng.random((600, 30)) < 0.2).astype(float)
    y = X @ rng.random(30)
    model = SKGRegressor(sigma2=30.0, n_epochs=20, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.8


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
@settings(deadline=None, derandomize=True, max_examples=60)
def test_any_cut_gives_the_same_coef_bit_for_bit(
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


def test_fit_forgets() -> None:
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
def test_threads_do_not_matter(
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


def test_predictions_do_not_depend_on_company() -> None:
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
def test_read_only_input(make: Callable[..., Any] | type[Any]) -> None:
    # What joblib hands to its workers.
    X, y = make(weighted()), values()
    expected = regressor().fit(X, y)
    y.flags.writeable = False
    for array in [X] if make is np.array else [X.data, X.indices, X.indptr]:
        array.flags.writeable = False
    model = regressor().fit(X, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


# -- referencing nodes -------------------------------------------------------------------------


def test_frequencies_depend_on_seed_and_name_only() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    part = regressor().fit(X[:, 3:7], y, references=NAMES[3:7])
    np.testing.assert_array_equal(part.frequencies_, model.frequencies_[3:7])
    numbered = regressor().fit(X, y)
    named = regressor().fit(X[:, ::-1], y, references=range(M)[::-1])
    np.testing.assert_array_equal(named.frequencies_[::-1], numbered.frequencies_)
    assert not np.isin(model.frequencies_, numbered.frequencies_).any()


@given(order=st.permutations(range(M)))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_permuting_columns_with_their_names_permutes_nothing(order: Any) -> None:
    X, y = signed(), values("three")
    names = [NAMES[m] for m in order]
    model = regressor().fit(X, y, references=NAMES)
    permuted = regressor().fit(X[:, order], y, references=names)
    # The same nodes, added up in another order: rounding differs, nothing else.
    assert_close(permuted.coef_, model.coef_, rtol=1e-13)
    assert_close(model.predict(X[:, order], references=names), model.predict(X), rtol=1e-13)
    np.testing.assert_array_equal(permuted.frequencies_, model.frequencies_[list(order)])


def test_permuting_rows_permutes_the_order_of_training_only() -> None:
    X, y = signed(), values("three")
    order = np.random.default_rng(1).permutation(N)
    model = regressor(shuffle=False, n_epochs=1).fit(X[order], y[order])
    Z = oracle.features(X, model.frequencies_)
    assert_close(model.coef_, oracle.train(Z, y, order, 0.2))


def test_a_growing_reference_set_leaves_earlier_behaviour_unchanged() -> None:
    X, y = weighted(), values()
    model = regressor().partial_fit(X[:20, :8], y[:20], references=NAMES[:8])
    theta, before = model.coef_.copy(), model.predict(X[:, :8])
    xi = model.frequencies_
    # Rows that do not touch the new nodes learn as if these were not there.
    padded = np.hstack([X[20:, :8], np.zeros((20, 4))])
    grown = regressor().partial_fit(X[:20, :8], y[:20], references=NAMES[:8])
    grown.partial_fit(padded, y[20:], references=NAMES)
    model.partial_fit(X[20:, :8], y[20:])
    np.testing.assert_array_equal(grown.coef_, model.coef_)
    assert grown.references_ == NAMES
    np.testing.assert_array_equal(grown.frequencies_[:8], xi)
    # Columns without names are still the first eight.
    np.testing.assert_array_equal(grown.predict(X[:, :8]), model.predict(X[:, :8]))
    grown.coef_ = theta
    np.testing.assert_array_equal(grown.predict(X[:, :8]), before)
    np.testing.assert_array_equal(grown.predict(X[:, :8], references=NAMES[:8]), before)


def test_nodes_may_appear_in_any_order() -> None:
    X, y = weighted(), values()
    at_once = regressor().partial_fit(X, y, references=NAMES)
    model = regressor()
    for n in range(N):
        # Each row names its own neighbours only, so nodes appear one by one.
        columns = np.flatnonzero(X[n])
        if columns.size == 0:
            columns = np.array([0])
        model.partial_fit(
            X[n : n + 1, columns], y[n : n + 1], references=[NAMES[m] for m in columns]
        )
    np.testing.assert_array_equal(model.coef_, at_once.coef_)
    assert sorted(model.references_) == sorted(NAMES)  # type: ignore[type-var]
    np.testing.assert_array_equal(
        model.predict(X, references=NAMES), at_once.predict(X, references=NAMES)
    )


def test_numbers_name_the_columns_of_arrays_without_names() -> None:
    X, y = weighted(), values()
    unnamed = regressor().partial_fit(X, y)
    for references in (
        range(M),
        np.arange(M),
        np.arange(M, dtype=float),
        [np.int8(m) for m in range(M)],
    ):
        named = regressor().partial_fit(X, y, references=references)
        np.testing.assert_array_equal(named.coef_, unnamed.coef_)
        np.testing.assert_array_equal(unnamed.predict(X, references=references), unnamed.predict(X))
    more = regressor().partial_fit(X, y).partial_fit(X[:, :3], y, references=[2, M, "new"])
    assert list(more.references_) == [*range(M), M, "new"]


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array])
def test_new_names_in_predict_get_the_frequencies_they_will_have(
    make: Callable[..., Any] | type[Any],
) -> None:
    X, y = weighted(), values()
    model = regressor().fit(X[:, :8], y, references=NAMES[:8])
    expected = oracle.predict(
        oracle.features(X, regressor().fit(X, y, references=NAMES).frequencies_), model.coef_
    )
    assert_close(model.predict(make(X), references=NAMES), expected)
    assert model.references_ == NAMES[:8]
    assert model.frequencies_.shape == (8, D)


def test_a_new_node_without_edges_changes_no_prediction() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    padded = np.hstack([X, np.zeros((N, 1))])
    np.testing.assert_array_equal(
        model.predict(padded, references=[*NAMES, "new"]), model.predict(X)
    )


def test_a_few_columns_suffice_to_predict_by_name() -> None:
    X, y = weighted(), values()
    model = regressor().fit(X, y, references=NAMES)
    few = X.copy()
    few[:, 3:] = 0
    np.testing.assert_array_equal(model.predict(X[:, :3], references=NAMES[:3]), model.predict(few))


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)]
)
def test_names_of_data_frames_are_names_of_nodes(frame: Callable[..., Any] | type[Any]) -> None:
    X, y = weighted(), values()
    model = regressor().fit(frame(X, columns=NAMES), y)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.references_ == NAMES
    np.testing.assert_array_equal(model.coef_, regressor().fit(X, y, references=NAMES).coef_)
    # scikit-learn's rule: the same names in the same order.
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(X[:, ::-1], columns=NAMES[::-1]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(frame(X, columns=[*NAMES[1:], "new"]), y)
    # With references they may come in any order.
    assert_close(
        model.predict(frame(X[:, ::-1], columns=NAMES[::-1]), references=NAMES[::-1]),
        model.predict(frame(X, columns=NAMES)),
        rtol=1e-13,
    )


def test_an_array_where_a_data_frame_was_is_warned_of() -> None:
    X, y = weighted(), values()
    model = regressor().fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        predictions = model.predict(X)
    np.testing.assert_array_equal(predictions, model.predict(pd.DataFrame(X, columns=NAMES)))


def test_data_frames_with_numbered_columns_have_no_names() -> None:
    model = regressor().fit(pd.DataFrame(weighted()), values())
    assert not hasattr(model, "feature_names_in_")
    assert list(model.references_) == list(range(M))


def test_frequencies_of_an_array_that_grew_by_name() -> None:
    model = regressor().fit(weighted(), values())
    before = model.frequencies_
    model.partial_fit([[1.0]], [0.5], references=["new"])
    assert model.frequencies_.shape == (M + 1, D)
    np.testing.assert_array_equal(model.frequencies_[:M], before)
    assert model.n_features_in_ == M
