"""Sample weights: a weight of 2 counts like two values."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor, load, predict_nodes
from gradraker.datasets import make_geometric_graph
from gradraker.models import cross_validate_nodes

N = 120
DATA = make_geometric_graph(n_nodes=N, random_state=0)
NAMES = [str(i) for i in range(N)]
_Z = (DATA.values - DATA.values.mean()) / DATA.values.std()
_RNG = np.random.default_rng(0)
WEIGHTS = _RNG.integers(1, 5, size=N).astype(float)
VALUES = _Z + _RNG.normal(size=N) / np.sqrt(WEIGHTS)
SHOWN = np.where(np.arange(N) % 2 == 0, VALUES, np.nan)
FIXED: dict[str, Any] = {
    "blocks": ("hop1", "hop2"),
    "width": 1.0,
    "alpha": 0.3,
    "transform": "none",
    "tol": 1e-10,
}
SOLVERS = ["exact", "operators"]


def compute_duplicated(model: NodeRegressor, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Kernel ridge in which a value of weight w occurs w times, from the equations."""
    known = model._list_known()
    description: Any = model._description
    repeated = np.repeat(np.arange(known.size), WEIGHTS[known].astype(int))
    K = description.compute_kernel(model.kernel_, known, known)[np.ix_(repeated, repeated)]
    inverse = np.linalg.inv(K + model.alpha_ * np.eye(repeated.size))
    h = inverse.sum(axis=0)
    y = SHOWN[known][repeated]
    Q = inverse - np.outer(h, h) / h.sum()
    k = description.compute_kernel(model.kernel_, rows, known)[:, repeated]
    return np.asarray(k @ (Q @ y) + h @ y / h.sum())


def test_weights_count_like_repeated_values() -> None:
    model = NodeRegressor(**FIXED, solver="exact").fit(DATA, SHOWN, sample_weight=WEIGHTS)
    expected = compute_duplicated(model, np.arange(1, N, 2))
    np.testing.assert_allclose(model.predict(), expected, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_operators_solve_with_the_noise_of_each_value(solver: str) -> None:
    """Predictions solve (K + α/w) c = y − μ, with the weighted mean for operators."""
    model = NodeRegressor(**FIXED, solver=solver).fit(DATA, SHOWN, sample_weight=WEIGHTS)
    found = model.explain(NAMES[1:9])
    np.testing.assert_allclose(found.weights @ found.values, found.prediction, atol=1e-8)
    np.testing.assert_allclose(found.sum_of_weights, 1.0, atol=1e-10)
    left_out = model.predict_left_out()
    for position in (0, 7, 31):
        rest = SHOWN.copy()
        rest[2 * position] = np.nan
        alone = NodeRegressor(**FIXED, solver=solver).fit(DATA, rest, sample_weight=WEIGHTS)
        expected = alone.predict([NAMES[2 * position]])[0]
        assert left_out.predictions[position] == pytest.approx(expected, abs=1e-8)
        explained = model.explain([NAMES[2 * position]], left_out=True)
        assert explained.prediction[0] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_weights_change_nothing(solver: str) -> None:
    for weight in (1.0, 50.0):
        model = NodeRegressor(solver=solver).fit(DATA, SHOWN, sample_weight=np.full(N, weight))
        np.testing.assert_allclose(
            model.predict(), NodeRegressor(solver=solver).fit(DATA, SHOWN).predict(), atol=1e-6
        )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["numbers", "skewed", "several"])
def test_values_of_tiny_weight_hardly_count(solver: str, kind: str) -> None:
    """Wrong values of tiny weight hardly change choice and predictions."""
    clean = SHOWN if kind != "skewed" else np.exp(2.0 * SHOWN)
    if kind == "several":
        clean = np.column_stack([SHOWN, -SHOWN])
    spoilt, weights = clean.copy(), np.ones(N)
    spoilt[1:20:2] = 40.0
    weights[1:20:2] = 1e-7
    settings: dict[str, Any] = {"tol": 1e-8} | ({} if kind == "numbers" else FIXED)
    truth = VALUES if kind == "numbers" else None
    model = NodeRegressor(**settings, solver=solver).fit(DATA, spoilt, sample_weight=weights)
    fresh = NodeRegressor(**settings, solver=solver).fit(DATA, clean)
    names = NAMES[21::2]
    if truth is None:
        expected = fresh.predict(names)
        np.testing.assert_allclose(model.predict(names), expected, atol=1e-4 * np.ptp(expected))
    else:
        errors = [np.mean((m.predict(names) - truth[21::2]) ** 2) for m in (model, fresh)]
        assert errors[0] < 1.15 * errors[1]


@pytest.mark.slow
@pytest.mark.statistical
def test_correct_weights_reduce_errors() -> None:
    # 20 draws of noise with variance 1/w, w from 0.05 to 20; paired differences, 3 errors.
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = np.exp(rng.uniform(-3.0, 3.0, size=N))
        shown = np.where(np.arange(N) % 2 == 0, _Z + rng.normal(size=N) / np.sqrt(weights), np.nan)
        errors = [
            np.mean((NodeRegressor().fit(DATA, shown, sample_weight=w).predict() - _Z[1::2]) ** 2)
            for w in (None, weights)
        ]
        gains.append(np.log(errors[0] / errors[1]))
    assert np.mean(gains) > 3.0 * np.std(gains) / np.sqrt(len(gains))


@pytest.mark.parametrize("solver", SOLVERS)
def test_partial_fit_takes_sample_weights(solver: str, tmp_path: Path) -> None:
    whole = NodeRegressor(**FIXED, solver=solver).fit(DATA, SHOWN, sample_weight=WEIGHTS)
    model = NodeRegressor(**FIXED, solver=solver).partial_fit(DATA)
    for i in range(0, N, 2):
        model.partial_fit(values={NAMES[i]: SHOWN[i]}, sample_weight={NAMES[i]: WEIGHTS[i]})
    np.testing.assert_allclose(model.predict(), whole.predict(), atol=1e-8)
    model.partial_fit(sample_weight={"0": 100.0})
    assert np.abs(model.predict() - whole.predict()).max() > 1e-4
    model.partial_fit(values={"0": SHOWN[0]}, sample_weight={"0": WEIGHTS[0]})
    model.partial_fit([("new", "1")], {"new": 9.0}, sample_weight={"new": 3.0})
    model.forget(nodes=["new"])
    np.testing.assert_allclose(model.predict(), whole.predict(), atol=1e-8)
    model.partial_fit(values={"1": 9.0}, sample_weight={"1": 3.0}).forget(values=["1"])
    np.testing.assert_allclose(model.predict(), whole.predict(), atol=1e-8)
    again = load(model.save(tmp_path / "model.gr"))
    np.testing.assert_allclose(again.predict(), model.predict(), atol=1e-9)
    again.partial_fit(values={"1": 2.0}, sample_weight={"1": 2.0})


def test_weights_of_every_form_give_the_same_model() -> None:
    expected = NodeRegressor(**FIXED).fit(DATA, SHOWN, sample_weight=WEIGHTS).predict()
    frame = pd.DataFrame({"node": NAMES, "value": SHOWN, "trust": WEIGHTS})
    for values, weights in (
        (SHOWN, dict(zip(NAMES, WEIGHTS, strict=True))),
        (SHOWN, pd.Series(WEIGHTS, index=NAMES)),
        (frame, "trust"),
    ):
        options = {"value": "value"} if weights is not None and isinstance(weights, str) else {}
        model = NodeRegressor(**FIXED).fit(DATA, values, sample_weight=weights, **options)
        np.testing.assert_allclose(model.predict(), expected)
    result = predict_nodes(
        DATA, frame, value="value", sample_weight="trust", model=NodeRegressor(**FIXED)
    )
    np.testing.assert_allclose(result.predictions[1::2], expected)


@pytest.mark.parametrize("solver", SOLVERS)
def test_classes_take_weights(solver: str) -> None:
    labels = {NAMES[i]: "ab"[int(_Z[i] > 0.0)] for i in range(0, N, 2)}
    wrong = {NAMES[i]: "b" for i in range(0, 20, 2)}
    weights = dict.fromkeys(wrong, 1e-06)
    model = NodeClassifier(solver=solver).fit(DATA, labels | wrong, sample_weight=weights)
    truth = ["ab"[int(z > 0.0)] for z in _Z[1::2]]
    rest = {name: label for name, label in labels.items() if name not in wrong}
    fresh = NodeClassifier(solver=solver).fit(DATA, rest).score(NAMES[1::2], truth)
    assert model.score(NAMES[1::2], truth) > fresh - 0.1


def test_cross_validation_uses_sample_weights() -> None:
    scores = cross_validate_nodes(
        NodeRegressor(**FIXED), DATA, SHOWN, cv=3, fit_options={"sample_weight": WEIGHTS}
    )
    assert np.isfinite(scores["test_score"]).all()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"0": 0.0}, "holds 0 for node '0'"),
        ({"0": -1.0}, "holds -1 for node"),
        ({"0": np.inf}, "must be finite"),
        ({"0": 1e12}, "must be from"),
        ({"nobody": 1.0}, "sample_weight: .*'nobody'"),
        ([1.0, 2.0], "there are 120 nodes"),
        ("trust", "names a column of a table"),
    ],
)
def test_bad_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NodeRegressor().fit(DATA, SHOWN, sample_weight=weights)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        SKGNodeRegressor().fit(DATA, SHOWN, sample_weight=WEIGHTS)


def test_forged_weights_are_refused() -> None:
    model = NodeRegressor(**FIXED).fit(DATA, SHOWN, sample_weight=WEIGHTS)
    for wrong in (np.zeros(N), np.ones(3), np.full(N, np.nan)):
        state, arrays = model.dump_state()
        with pytest.raises(ValueError, match="sample_weight"):
            NodeRegressor.from_state(model.get_params(), state, arrays | {"sample_weight": wrong})
