"""Nodes that send features instead of links, and files without known nodes."""

import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from gradraker import GradrakerRegressor, SKGRegressor, load

N, M, D = 12, 6, 8
X = (np.random.default_rng(0).random((N, M)) < 0.4).astype(float)
Y = np.random.default_rng(1).normal(size=N)
SECRET = 4711


def make_node(**options: Any) -> Any:
    return SKGRegressor(**{"sigma2": 1.5, "n_frequencies": D, "random_state": SECRET} | options)


def test_features_of_a_node_are_those_of_a_fitted_model() -> None:
    fitted = make_node().fit(X, Y)
    np.testing.assert_array_equal(make_node().features(X), fitted.features(X))
    names = list("abcdef")
    named = make_node().fit(X, Y, references=names)
    expected = named.features(X, references=names)
    np.testing.assert_array_equal(make_node().features(X, references=names), expected)
    # A node needs only the columns of its own links.
    own = [name for name, entry in zip(names, X[0], strict=True) if entry]
    found = make_node().features(np.ones((1, len(own))), references=own)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6)
    frame = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(make_node().features(frame), expected)


def test_learning_features_is_learning_rows() -> None:
    rows = make_node().partial_fit(X, Y)
    learner = SKGRegressor(sigma2=1.5, n_frequencies=D)
    Z = make_node().features(X)
    assert learner.learn_features(Z[:5], Y[:5]) is learner
    learner.learn_features(Z[5:], Y[5:])
    np.testing.assert_allclose(learner.coef_, rows.coef_, atol=1e-12)
    np.testing.assert_allclose(learner.predict_features(Z), rows.predict(X), atol=1e-12)
    assert learner.n_seen_ == N


def test_one_node_at_a_time_and_several_targets() -> None:
    Z = make_node().features(X)
    together = SKGRegressor(sigma2=1.5, n_frequencies=D).learn_features(Z, Y)
    single = SKGRegressor(sigma2=1.5, n_frequencies=D)
    for z, y in zip(Z, Y, strict=True):
        single.learn_features(z, y)
    np.testing.assert_allclose(single.coef_, together.coef_, atol=1e-14)
    assert np.ndim(single.predict_features(Z[0])) == 0
    targets = np.stack([Y, -Y], axis=1)
    several = SKGRegressor(sigma2=1.5, n_frequencies=D).learn_features(Z, targets)
    np.testing.assert_allclose(several.predict_features(Z)[:, 1], -together.predict_features(Z))
    assert several.predict_features(Z[0]).shape == (2,)


def test_a_learner_without_the_seed_refuses_rows(tmp_path: Path) -> None:
    learner = SKGRegressor(sigma2=1.5, n_frequencies=D)
    learner.learn_features(make_node().features(X), Y)
    again = load(learner.save(tmp_path / "learner.skg"))
    for model in (learner, again):
        named: dict[str, Any] = {"references": list("abcdef")}
        for call in (
            partial(model.predict, X, **named),
            partial(model.features, X, **named),
            partial(model.explain, X, **named),
            partial(model.partial_fit, X, Y, **named),
            partial(model.learn_one, ["a"], 1.0),
            partial(model.predict_one, ["a"]),
        ):
            with pytest.raises(ValueError, match="frequencies it does not know"):
                call()
    np.testing.assert_array_equal(again.coef_, learner.coef_)
    again.fit(X, Y)  # starts anew, with frequencies of its own
    assert np.isfinite(again.predict(X)).all()


def test_a_learner_with_the_seed_may_mix_rows_and_features() -> None:
    model = make_node().fit(X, Y)
    before = model.coef_.copy()
    model.learn_features(model.features(X[:3]), Y[:3])
    expected = make_node().fit(X, Y).partial_fit(X[:3], Y[:3])
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)
    assert not np.array_equal(before, model.coef_)
    with pytest.raises(ValueError, match="explain needs the learned rows"):
        model.explain(X)


@pytest.mark.parametrize(
    ("Z", "y", "message"),
    [
        (np.zeros((2, 3)), [1.0, 2.0], "Z has 3 columns, but this model has 2D = 16"),
        (np.zeros((2, 2 * D)), [1.0], "y must have a value for each of 2 rows"),
        (np.zeros((1, 2 * D)), [np.nan], "y must hold finite numbers"),
        (np.full((1, 2 * D), np.nan), [1.0], "Z contains NaN"),
        (np.full((1, 2 * D), 1.0), [1.0], "with which a step of learning_rate 0.1 is unstable"),
        (np.zeros((1, 2 * D)), [[1.0, 2.0]], "y has values of shape"),
    ],
)
def test_wrong_features_leave_the_model_as_it_was(Z: Any, y: Any, message: Any) -> None:
    model = make_node().fit(X, Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=message):
        model.learn_features(Z, y)
    np.testing.assert_array_equal(model.coef_, before)
    model.explain(X)  # the known nodes are still there


def test_features_before_fit_need_numbers() -> None:
    with pytest.raises(NotFittedError, match="sigma2='cv' is chosen by fit"):
        make_node(sigma2="cv").features(X)
    with pytest.raises(NotFittedError, match="n_frequencies='auto' is chosen by fit"):
        make_node(n_frequencies="auto").features(X)
    with pytest.raises(NotFittedError, match="random_state must be an integer"):
        make_node(random_state=None).features(X)
    with pytest.raises(NotFittedError):
        make_node().predict_features(np.zeros((1, 2 * D)))


@pytest.mark.parametrize("kind", [SKGRegressor, GradrakerRegressor])
def test_files_without_known_nodes(tmp_path: Path, kind: Any) -> None:
    options = {"sigma2": 1.5} if kind is SKGRegressor else {"kernels": [1.5, 3.0]}
    model = kind(n_frequencies=D, random_state=0, **options)
    model.fit(X, Y, node_names=[f"person-{i}" for i in range(N)])
    whole = model.save(tmp_path / "whole.skg")
    path = model.save(tmp_path / "private.skg", observed=False)
    assert path.stat().st_size < whole.stat().st_size
    with zipfile.ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
        assert not [name for name in archive.namelist() if "learned_" in name]
    assert b"person-" not in content
    assert Y[3].tobytes() not in content
    again = load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="explain needs"):
        again.explain(X)
    again.partial_fit(X[:2], Y[:2])
    model.partial_fit(X[:2], Y[:2])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="observed must be True or False"):
        model.save(tmp_path / "never.skg", observed="no")
