"""Explanations are exact for any history of training, and snapshots of it."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from gradraker import load
from gradraker.kernels.shift_invariant import KERNELS
from gradraker.linear import lms as weights_module
from oracles import skg as skg_oracle
from small_skg import M, N, assert_same, fitted, graph, regressor, values

# -- exactness, whatever the history -----------------------------------------------------------


class History:
    """A model, and plain lists of everything that it learned."""

    def __init__(
        self,
        rng: np.random.Generator,
        kernel: str,
        data: str,
        dtype: type[Any],
        n_targets: int,
        sigma2: float,
        n_frequencies: int,
    ) -> None:
        self.rng, self.data, self.dtype = rng, data, dtype
        self.targets = () if n_targets == 0 else (n_targets,)
        self.model = regressor(
            kernel=kernel,
            sigma2=sigma2,
            n_frequencies=n_frequencies,
            n_epochs=int(rng.integers(1, 4)),
            shuffle=bool(rng.random() < 0.7),
        )
        self.names: list[Any] = list(range(int(rng.integers(1, 6))))
        self.forget()

    def forget(self) -> None:
        # Of each known node.
        self.rows: list[Any] = []
        self.values: list[Any] = []
        self.single: list[Any] = []
        # Of each training step.
        self.order: list[Any] = []
        self.rates: list[Any] = []

    def matrix(self, n: int) -> NDArray[Any]:
        X = (self.rng.random((n, len(self.names))) < 0.5).astype(float)
        if self.data == "weighted":
            X *= self.rng.random(X.shape)
        elif self.data == "signed":
            X *= self.rng.normal(size=X.shape)
        X[self.rng.random(n) < 0.2] = 0.0  # nodes without neighbours
        X[self.rng.random(n) < 0.3] = X[0]  # nodes with the same neighbours
        return X.astype(self.dtype)

    def given(self, X: NDArray[Any]) -> Any:
        """X as the caller has it: dense, sparse, or sparse with entries that add up."""
        kind = self.rng.integers(3)
        if kind == 0:
            return X
        if kind == 1:
            return sparse.csr_array(X)
        coo = sparse.coo_array(X)
        twice = [np.concatenate([part, part]) for part in (*coo.coords, coo.data / 2)]
        return sparse.coo_array((twice[2], (twice[0], twice[1])), shape=X.shape)

    def note(
        self, X: NDArray[Any], y: NDArray[np.float64], names: list[Any], order: Any, *, single: bool
    ) -> None:
        first = len(self.rows)
        self.rows += [dict(zip(names, row.tolist(), strict=True)) for row in X]
        self.values += list(y)
        self.single += [single] * len(X)
        self.order += [first + int(i) for i in order]
        self.rates += [self.model.learning_rate] * len(order)

    def learn(self, action: str) -> None:
        n = int(self.rng.integers(1, 6))
        X, y = self.matrix(n), 10.0 * self.rng.normal(size=(n, *self.targets))
        model, names, single = self.model, self.names, self.dtype == np.float32
        if action == "rate":
            model.set_params(learning_rate=float(self.rng.uniform(0.01, 0.95)))
        elif action == "one":
            row = {name: float(w) for name, w in zip(names, X[0], strict=True) if w != 0.0}
            model.learn_one(row, y[0] if self.targets else float(y[0]))
            self.note(X[:1], y[:1], names, [0], single=False)
        elif action == "fit":
            self.forget()
            model.fit(self.given(X), y, references=names)
            order = skg_oracle.orders(model.seed_, n, model.n_epochs, shuffle=model.shuffle)
            self.note(X, y, names, order, single=single)
        elif action == "columns" and getattr(model, "n_features_in_", None) == len(names):
            # Without references, columns are the first nodes that the model came to know.
            model.partial_fit(self.given(X), y)
            self.note(X, y, list(model.references_)[: len(names)], range(n), single=single)
        else:  # rows whose columns have names, in any order
            if action == "grow":
                names.append(f"new {len(names)}")
                X = self.matrix(n)
            self.rng.shuffle(names)
            model.partial_fit(self.given(X), y, references=names)
            self.note(X, y, names, range(n), single=single)

    def dense(self, rows: list[Any], names: list[Any]) -> NDArray[np.float64]:
        return np.array([[row.get(name, 0.0) for name in names] for row in rows])


def literal_weights(
    Z: NDArray[np.float64], order: list[int], rates: list[float], z_star: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The recursion (fijdef) with B_{i,j} = 2ηᵢ zᵢᵀzⱼ: the step at time i has its own rate."""
    seen = [*(Z[i] for i in order), z_star]
    last = len(order)
    F = np.zeros(last)
    for i in range(last - 1, -1, -1):
        F[i] = 2 * rates[i] * np.dot(seen[i], seen[last])
        for k in range(i + 1, last):
            F[i] -= 2 * rates[i] * np.dot(seen[i], seen[k]) * F[k]
    return F


ACTIONS = ("fit", "chunk", "grow", "columns", "one", "rate")


@settings(deadline=None, max_examples=6 * settings().max_examples // 5)
@given(
    seed=st.integers(0, 2**32 - 1),
    kernel=st.sampled_from(list(KERNELS)),
    data=st.sampled_from(["unweighted", "weighted", "signed"]),
    dtype=st.sampled_from([np.float64, np.float32]),
    n_targets=st.integers(0, 3),
    sigma2=st.floats(0.05, 100.0),
    n_frequencies=st.integers(1, 9),
    actions=st.lists(st.sampled_from(ACTIONS), max_size=5),
)
@example(0, "gaussian", "weighted", np.float32, 0, 1.0, 5, list(ACTIONS))
@example(1, "gaussian", "signed", np.float64, 2, 1.0, 5, ["one", "rate", "grow", "one", "rate"])
def test_explanations_are_exact_for_any_history(
    seed: Any,
    kernel: Any,
    data: Any,
    dtype: Any,
    n_targets: Any,
    sigma2: Any,
    n_frequencies: Any,
    actions: Any,
) -> None:
    rng = np.random.default_rng(seed)
    history = History(rng, kernel, data, dtype, n_targets, sigma2, n_frequencies)
    for action in (str(rng.choice(["fit", "chunk", "one"])), *actions):
        history.learn(action)
    model = history.model
    # Explained nodes refer to new nodes as well.
    history.names += ["never seen", "nor this"]
    X = history.matrix(int(rng.integers(1, 5)))
    explanation = model.explain(history.given(X), references=history.names)

    # Known nodes are in the order in which they were learned.
    np.testing.assert_array_equal(explanation.values, np.array(history.values))
    np.testing.assert_array_equal(explanation.order, history.order)

    # Claim 3: to 1e-10 of the largest value.
    prediction = model.predict(history.given(X), references=history.names)
    scale = np.max(np.abs(explanation.values))
    assert explanation.prediction.shape == prediction.shape == (len(X), *history.targets)
    np.testing.assert_allclose(
        explanation.weights @ explanation.values, prediction, rtol=0, atol=1e-10 * scale
    )
    np.testing.assert_allclose(explanation.prediction, prediction, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(
        explanation.contributions.sum(axis=1), prediction, rtol=0, atol=1e-10 * scale
    )

    # The literal recursion, on features by the definition.
    universe = list(dict.fromkeys([*model.references_, *history.names]))
    known_rows = history.dense(history.rows, universe)
    explained_rows = history.dense(
        [dict(zip(history.names, row.tolist(), strict=True)) for row in X], universe
    )
    unknown = regressor(kernel=kernel, sigma2=sigma2, n_frequencies=n_frequencies)
    frequencies = unknown.fit(
        known_rows, np.zeros(len(known_rows)), references=universe
    ).frequencies_
    Z, stars = (skg_oracle.features(part, frequencies) for part in (known_rows, explained_rows))
    Z[history.single] = Z[history.single].astype(np.float32)
    if dtype == np.float32:
        stars = stars.astype(np.float32).astype(float)
    expected = np.array([literal_weights(Z, history.order, history.rates, star) for star in stars])
    # |F| <= 2 and about thirty steps; angles are some hundred at most, known to 1e-14.
    np.testing.assert_allclose(explanation.by_time, expected, rtol=0, atol=1e-11)

    # Weights of a node are those of its times.
    by_node = np.zeros((len(X), len(known_rows)))
    for t, i in enumerate(history.order):
        by_node[:, i] += explanation.by_time[:, t]
    np.testing.assert_allclose(explanation.weights, by_node, rtol=0, atol=1e-12)
    np.testing.assert_allclose(explanation.sum_of_weights, by_node.sum(axis=1), rtol=0, atol=1e-12)

    # B, and distances one by one.
    np.testing.assert_allclose(
        explanation.similarities, 2 * model.learning_rate * stars @ Z.T, rtol=0, atol=1e-11
    )
    distances = [[np.sum((a - b) ** 2) for b in known_rows] for a in explained_rows]
    np.testing.assert_allclose(explanation.squared_distances, distances, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_targets", [0, 1, 3])
def test_rows_cut_into_calls_are_explained_the_same(n_targets: int) -> None:
    X, y = graph(), values(shape=(N,) if n_targets == 0 else (N, n_targets))
    whole = regressor().partial_fit(X, y).explain(X)
    cut = regressor().partial_fit(X[:5], y[:5])
    cut.partial_fit(X[5:7], y[5:7]).partial_fit(X[7:], y[7:])
    assert_same(cut.explain(X), whole)
    single = regressor()
    for row, value in zip(X, y, strict=True):
        single.learn_one(np.flatnonzero(row).tolist(), value)
    found = single.explain(X, references=range(M))
    np.testing.assert_allclose(found.by_time, whole.by_time, rtol=0, atol=1e-14)


def test_a_neighbour_named_twice_counts_twice() -> None:
    model = regressor()
    model.learn_one(["a", "a", "b"], 1.0)
    model.learn_one([], 2.0)
    explanation = model.explain([[2.0, 1.0], [0.0, 0.0], [1.0, 0.0]], references=["a", "b"])
    np.testing.assert_array_equal(explanation.squared_distances, [[0, 5], [5, 0], [2, 1]])
    # Equal rows: B = 2η.
    np.testing.assert_allclose(explanation.similarities[[0, 1], [0, 1]], 0.4, rtol=1e-14)


def test_fit_forgets_earlier_known_nodes() -> None:
    X, y = graph(), values()
    model = regressor().partial_fit(X, y)
    model.fit(X[:4], y[:4])
    assert_same(model.explain(X), regressor().fit(X[:4], y[:4]).explain(X))


def test_a_refused_call_leaves_the_record_as_it_was() -> None:
    X, y = graph(), values()
    model = regressor().fit(X, y)
    before = model.explain(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.full(N, np.nan))
    with pytest.raises(ValueError, match="range of float64"):
        model.partial_fit(np.full((1, M), 1e308), [1.0])
    with pytest.raises(ValueError, match="value"):
        model.learn_one([0, "new"], np.inf)
    assert_same(model.explain(X), before)


def test_batches_of_explained_nodes_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    X = graph(seed=5, n=7)
    model = fitted()
    whole = model.explain(X)
    assert whole.by_time.shape == (7, 3 * N)
    monkeypatch.setattr(weights_module, "_BATCH_BYTES", 3 * 8 * 3 * N)  # three nodes
    parts = model.explain(X)
    np.testing.assert_allclose(parts.weights, whole.weights, rtol=0, atol=1e-14)
    np.testing.assert_allclose(parts.by_time, whole.by_time, rtol=0, atol=1e-14)


# -- a snapshot --------------------------------------------------------------------------------


def test_further_training_does_not_change_an_explanation() -> None:
    X, y = graph(), values()
    model = regressor().fit(X[:8], y[:8])
    expected = model.explain(X)
    expected_by_time = expected.by_time.copy()
    expected_weights = expected.weights.copy()
    lazy = model.explain(X)  # its weights by time are not yet made
    model.partial_fit(X[8:], y[8:])
    model.learn_one([0, "new"], 3.0)
    model.set_params(learning_rate=0.9).fit(X, -y)
    assert_same(lazy, expected)
    np.testing.assert_array_equal(lazy.by_time, expected_by_time)
    np.testing.assert_array_equal(lazy.weights, expected_weights)


@pytest.mark.parametrize("as_given", [np.array, sparse.csr_array, np.asfortranarray])
def test_rows_that_change_after_training_change_nothing(
    as_given: Callable[..., Any] | type[Any],
) -> None:
    X, y = graph(), values(shape=(N, 2))
    model = regressor().partial_fit(X, y)
    expected = model.explain(X)
    given_X, given_y = as_given(X), y.copy()
    other = regressor().partial_fit(given_X, given_y)
    stored = given_X.data if sparse.issparse(given_X) else given_X
    stored[:] = 7.0
    given_y[:] = 7.0
    assert_same(other.explain(X), expected)


def test_values_of_one_node_that_change_after_learning_change_nothing() -> None:
    model, value, weights = regressor(), np.array([1.0, 2.0]), {"a": 1.0}
    model.learn_one(weights, value)
    value[:] = weights["a"] = 7.0
    explanation = model.explain([[1.0]], references=["a"])
    np.testing.assert_array_equal(explanation.values, [[1.0, 2.0]])
    np.testing.assert_array_equal(explanation.squared_distances, [[0.0]])


def test_a_model_cannot_be_changed_through_an_explanation() -> None:
    model = fitted()
    explanation = model.explain(graph())
    with pytest.raises(ValueError, match="read-only"):
        explanation.values[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        explanation.order[0] = 5
    with pytest.raises(FrozenInstanceError):
        explanation.weights = None  # type: ignore[assignment, misc]
    explanation.weights[:] = 0.0
    explanation.prediction[:] = 0.0
    assert_same(model.explain(graph()), fitted().explain(graph()))


def test_files_pickles_and_copies_keep_explanations(tmp_path: Path) -> None:
    X, y = graph(), values(shape=(N, 2))
    frame = pd.DataFrame(X, index=[f"node {i}" for i in range(N)])
    model = regressor().fit(frame, y)
    model.set_params(learning_rate=0.3).partial_fit(X[:3].astype(np.float32), y[:3])
    model.learn_one([1, "later"], [0.5, 2.0])
    expected = model.explain(X)
    model.save(tmp_path / "model.gradraker")
    copies = [
        load(tmp_path / "model.gradraker"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    for other in copies:
        assert_same(other.explain(X), expected)
        assert other.explain(X).known_names[:2] == ("node 0", "node 1")
        # They go on by themselves.
        other.learn_one([2], [1.0, 1.0])
        assert other.explain(X).values.shape == (N + 5, 2)
    assert_same(model.explain(X), expected)


def test_an_explanation_can_be_pickled() -> None:
    explanation = fitted().explain(graph())
    assert_same(pickle.loads(pickle.dumps(explanation)), explanation)


# -- without a record --------------------------------------------------------------------------


def test_without_a_record_there_is_no_explanation() -> None:
    model = fitted(keep_known=False)
    with pytest.raises(ValueError, match=r"keep_known.*fit again"):
        model.explain(graph())
    model.partial_fit(graph(), values())
    model.learn_one([0], 1.0)
    with pytest.raises(ValueError, match="keep_known"):
        model.explain(graph())


def test_without_a_record_nothing_of_the_rows_is_kept() -> None:
    sizes = {}
    for keep in (False, True):
        model = regressor(keep_known=keep).partial_fit(graph(), values())
        model.learn_one([0], 1.0)
        small = len(pickle.dumps(model))
        for _ in range(50):
            model.partial_fit(graph(), values())
            model.learn_one([0], 1.0)
        sizes[keep] = len(pickle.dumps(model)) - small
    assert sizes[False] < 10  # a counter may take a byte more
    assert sizes[True] > 50 * N * 33
