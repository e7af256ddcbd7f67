"""SKGRegressor as a scikit-learn estimator: its checks, without any expected failure."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gradraker import GradrakerRegressor, SKGRegressor

RNG = np.random.default_rng(0)
X = (RNG.random((60, 8)) < 0.4).astype(float)
Y = X @ RNG.random(8)


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        SKGRegressor(),
        SKGRegressor(sigma2="theory", n_frequencies=20),
        SKGRegressor(kernel="laplacian", sigma2=100.0, n_frequencies=100, n_epochs=10),
        SKGRegressor(kernel="cauchy", sigma2=10.0, n_frequencies=20, shuffle=False),
        GradrakerRegressor(),
        GradrakerRegressor(kernels=["cv", 2.0, ("laplacian", "theory")], regularization=0.01),
    ]
)
def test_checks_of_scikit_learn(
    estimator: GradrakerRegressor | SKGRegressor, check: Callable[..., Any]
) -> None:
    check(estimator)


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(**{"sigma2": 4.0, "n_frequencies": 30, "random_state": 0, **parameters})


PARAMETERS: dict[str, Any] = {
    "kernel": "cauchy",
    "sigma2": 2.5,
    "n_frequencies": 17,
    "learning_rate": 0.25,
    "n_epochs": 5,
    "shuffle": False,
    "random_state": 12,
}


def test_parameters_are_set_cloned_and_shown() -> None:
    model = SKGRegressor(**PARAMETERS)
    assert model.get_params().items() >= PARAMETERS.items()
    assert SKGRegressor().set_params(**PARAMETERS).get_params() == model.get_params()
    assert clone(model).get_params() == model.get_params()
    for name in PARAMETERS:
        assert f"{name}=" in repr(model)
    with pytest.raises(ValueError, match="Invalid parameter 'gamma'"):
        model.set_params(gamma=1.0)


def test_parameters_are_keywords() -> None:
    with pytest.raises(TypeError, match="positional"):
        SKGRegressor("gaussian")  # type: ignore[call-arg]


def test_the_constructor_only_stores_parameters() -> None:
    odd = object()
    model = SKGRegressor(kernel=odd, sigma2=odd, n_frequencies=odd, learning_rate=odd)  # type: ignore[arg-type]
    assert model.kernel is model.sigma2 is model.n_frequencies is model.learning_rate is odd
    stored = {name: value for name, value in vars(model).items() if name in PARAMETERS}
    assert vars(model).keys() == model.get_params().keys()
    assert stored["kernel"] is odd


def test_it_is_a_regressor() -> None:
    assert is_regressor(SKGRegressor())
    assert isinstance(SKGRegressor(), BaseEstimator)
    tags = SKGRegressor().__sklearn_tags__()
    assert tags.input_tags.sparse
    assert tags.target_tags.multi_output
    assert not tags.input_tags.allow_nan


def test_pipeline_scales_rows_before_the_model() -> None:
    pipeline = make_pipeline(MaxAbsScaler(), regressor())
    for rows in (X, sparse.csr_array(X)):
        pipeline.fit(rows, Y)
        assert pipeline.score(rows, Y) > 0.5
    np.testing.assert_array_equal(
        make_pipeline(StandardScaler(), regressor()).fit(X, Y).predict(X),
        regressor()
        .fit(StandardScaler().fit_transform(X), Y)
        .predict(StandardScaler().fit_transform(X)),
    )


def test_pipeline_of_data_frames() -> None:
    frame = pd.DataFrame(X, columns=[f"n{m}" for m in range(8)])
    pipeline = make_pipeline(MaxAbsScaler().set_output(transform="pandas"), regressor())
    pipeline.fit(frame, Y)
    assert list(pipeline[-1].references_) == list(frame.columns)


def test_grid_search_finds_better_parameters() -> None:
    grid = {"sigma2": [1e-3, 4.0, "theory"], "kernel": ["gaussian"], "n_frequencies": [5, 40]}
    search = GridSearchCV(regressor(n_epochs=5), grid, cv=3, error_score="raise").fit(X, Y)
    assert search.best_params_["n_frequencies"] == 40
    assert search.best_params_["sigma2"] != 1e-3
    assert search.score(X, Y) > 0.5


@pytest.mark.process
@pytest.mark.workers
def test_cross_validation_in_worker_processes() -> None:
    scores = [
        cross_val_score(regressor(n_epochs=5), X, Y, cv=KFold(3), n_jobs=n_jobs)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.mean(scores[0]) > 0.3
    predictions = cross_val_predict(regressor(n_epochs=5), sparse.csr_array(X), Y, cv=3)
    assert predictions.shape == Y.shape


def test_bagging_several_outputs_and_scaled_targets_wrap_the_model() -> None:
    bagging = BaggingRegressor(regressor(), n_estimators=3, random_state=0).fit(X, Y)
    assert bagging.predict(X).shape == (60,)
    targets = MultiOutputRegressor(regressor()).fit(X, np.c_[Y, -Y])
    np.testing.assert_array_equal(targets.predict(X), regressor().fit(X, np.c_[Y, -Y]).predict(X))
    scaled = TransformedTargetRegressor(regressor(), transformer=StandardScaler()).fit(X, Y)
    assert scaled.score(X, Y) > 0.5


def test_metadata_routing_passes_references() -> None:
    names = [f"n{m}" for m in range(8)]
    with sklearn.config_context(enable_metadata_routing=True):
        model = regressor().set_fit_request(references=True).set_predict_request(references=True)
        pipeline = make_pipeline(MaxAbsScaler(), model).fit(X, Y, references=names)
        assert pipeline[-1].references_ == names
        np.testing.assert_allclose(
            pipeline.predict(X[:, ::-1][:, ::-1], references=names),
            regressor().fit(X, Y, references=names).predict(X),
        )
        refusing = make_pipeline(MaxAbsScaler(), regressor())
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            refusing.fit(X, Y, references=names)


def test_html_representation_names_the_model() -> None:
    assert "SKGRegressor" in regressor()._repr_html_()
    assert "SKGRegressor" in regressor().fit(X, Y)._repr_html_()
