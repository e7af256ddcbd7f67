"""Values as they come: skewed, heavy-tailed, zero-inflated, in the units of the user."""

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer

from gradraker import NodeRegressor, load, predict_nodes
from gradraker.datasets import make_geometric_graph
from gradraker.exceptions import ModelFileError

Vector = NDArray[np.float64]
DATA = make_geometric_graph(n_nodes=150, random_state=0)
NAMES = [str(i) for i in range(150)]
SMOOTH = (DATA.values - DATA.values.mean()) / DATA.values.std()
# As views and incomes are.
VIEWS = np.exp(4.0 + 2.0 * SMOOTH + 0.7 * np.random.default_rng(1).normal(size=150))
KNOWN = np.random.default_rng(0).permutation(150)[:60]
UNKNOWN = np.setdiff1d(np.arange(150), KNOWN)
SOLVERS = ["exact", "operators"]


def hide(values: Vector) -> Vector:
    shown = np.full(values.shape, np.nan)
    shown[KNOWN] = values[KNOWN]
    return shown


def fit(values: Vector = VIEWS, **parameters: Any) -> NodeRegressor:
    return NodeRegressor(**parameters).fit(DATA, hide(values))


@pytest.mark.parametrize("solver", SOLVERS)
def test_views_are_predicted_in_logarithms(solver: str) -> None:
    model = fit(solver=solver)
    assert model.choice_.transform == "log"
    assert model.transform_.startswith("log(1 + value / ")
    predicted = model.predict()
    assert (predicted >= 0.0).all()
    raw = fit(solver=solver, transform="none")
    assert model.left_out_error_.rmse < 0.95 * raw.left_out_error_.rmse
    assert {one.name for one in model.choice_.tried_transforms} >= {"log", "none"}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_left_out_errors_and_intervals_are_in_the_units_of_the_user(
    solver: str, statistic: str
) -> None:
    model = fit(solver=solver, statistic=statistic)
    found = model.predict_left_out()
    np.testing.assert_array_equal(found.values, VIEWS[found.rows])
    assert found.error.rmse == pytest.approx(
        np.sqrt(np.mean((found.values - found.predictions) ** 2))
    )
    predicted, intervals = model.predict(return_interval=True, coverage=0.8)
    assert (intervals[:, 0] <= predicted).all()
    assert (predicted <= intervals[:, 1]).all()
    assert (intervals >= 0.0).all()
    inside = (intervals[:, 0] <= VIEWS[UNKNOWN]) & (VIEWS[UNKNOWN] <= intervals[:, 1])
    assert 0.65 < inside.mean() <= 1.0


def test_median_is_below_the_mean_of_skewed_values() -> None:
    values = VIEWS * np.exp(np.random.default_rng(3).normal(size=150))
    mean, median = (fit(values, statistic=s).predict() for s in ("mean", "median"))
    assert (median < mean).mean() > 0.9


def test_normal_values_stay_as_they_are_at_no_cost() -> None:
    model = fit(SMOOTH)
    assert model.choice_.transform == "none"
    assert model.choice_.tried_transforms == ()
    np.testing.assert_array_equal(model.predict(), fit(SMOOTH, transform="none").predict())


@pytest.mark.parametrize("solver", SOLVERS)
def test_values_that_are_not_negative_get_no_negative_predictions(solver: str) -> None:
    values = np.where(SMOOTH < 0.5, 0.0, SMOOTH)
    model = NodeRegressor(
        transform="none", blocks="alternating", width=1.0, alpha=1e-3, solver=solver
    ).fit(DATA, hide(values))
    explained = model.explain()
    assert explained.prediction.min() < 0.0
    assert (model.predict() >= 0.0).all()
    assert explained.units is not None
    np.testing.assert_array_equal(explained.units.predictions, model.predict())
    assert (model.predict_left_out().predictions >= 0.0).all()


def test_given_functions_equal_values_transformed_by_hand() -> None:
    by_hand = fit(np.log(VIEWS), transform="none").predict()
    given = fit(transform=(np.log, np.exp), statistic="median")
    shift = np.median(np.log(VIEWS[KNOWN]) - np.log(VIEWS[KNOWN]))  # none: residuals decide
    assert shift == 0.0
    scaled = given.explain().prediction
    np.testing.assert_allclose(scaled, by_hand, rtol=1e-9)
    assert given.choice_.transform == "given"


@pytest.mark.parametrize(
    "transform",
    ["none", "log", "power", (np.sqrt, np.square), QuantileTransformer(n_quantiles=20)],
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_transform_is_taken_as_given(transform: Any, solver: str) -> None:
    model = fit(transform=transform, solver=solver)
    name = transform if isinstance(transform, str) else "given"
    assert model.choice_.transform in (name, "none")  # a constant needs no scale
    assert np.isfinite(model.predict()).all()
    assert (model.predict() >= 0.0).all()
    assert len(model.predict_new({"new": ["0", "1"]})) == 1
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict(), model.predict())


def test_explanations_say_in_which_scale_weights_add_up() -> None:
    found = fit().explain([NAMES[i] for i in UNKNOWN[:3]])
    assert found.units is not None
    np.testing.assert_allclose(found.weights @ found.values, found.prediction, atol=1e-10)
    np.testing.assert_allclose(found.units.values, VIEWS[np.sort(KNOWN)])
    assert "weights add up in the scale log(1 + value" in str(found)
    assert "Weights add up in the scale" in found._repr_html_()
    assert found.predicted_labels == found.units.predictions.tolist()
    assert "value_in_units" in found.top(2).columns


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("transform", ["auto", "log", "power"])
def test_files_keep_the_scale(tmp_path: Path, solver: str, transform: str) -> None:
    model = fit(solver=solver, transform=transform, statistic="median")
    again = load(model.save(tmp_path / "model.gr"))
    np.testing.assert_array_equal(again.predict(), model.predict())
    assert repr(again.choice_) == repr(model.choice_)
    assert again.transform_ == model.transform_


def test_functions_are_not_saved(tmp_path: Path) -> None:
    model = fit(transform=FunctionTransformer(np.log, np.exp))
    with pytest.raises(ValueError, match="a file cannot hold"):
        model.save(tmp_path / "model.gr")
    assert not (tmp_path / "model.gr").exists()


def test_forged_scales_are_refused(tmp_path: Path) -> None:
    model = fit()
    state, arrays = model.dump_state()
    state["model"]["columns"][0]["transform"]["unit"] = -1.0
    with pytest.raises(ValueError, match="unit of the transform"):
        NodeRegressor.from_state(model.get_params(), state, arrays)
    assert issubclass(ModelFileError, Exception)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_at_a_time_equals_at_once(solver: str) -> None:
    whole = fit(solver=solver, tol=1e-10)
    part = hide(VIEWS)
    part[KNOWN[30:]] = np.nan
    grown = NodeRegressor(solver=solver, tol=1e-10).fit(DATA, part)
    for i in KNOWN[30:].tolist():
        grown.partial_fit(values={NAMES[i]: VIEWS[i]})
    np.testing.assert_allclose(grown.predict(), whole.predict(), rtol=1e-5)
    assert grown.transform_ == whole.transform_


def test_a_scale_is_kept_until_the_choice_is_renewed() -> None:
    model = fit(reselect="doubled")
    formula = model.transform_
    others = {NAMES[i]: VIEWS[i] for i in UNKNOWN[:3]}
    model.partial_fit(values=others).predict()
    assert model.transform_ == formula
    more = {NAMES[i]: VIEWS[i] for i in UNKNOWN[:80]}
    model.partial_fit(values=more).predict()
    assert model.transform_ != formula


def test_a_negative_value_renews_a_logarithm() -> None:
    model = fit(reselect="doubled")
    model.partial_fit(values={NAMES[UNKNOWN[0]]: -3.0})
    assert model.choice_.transform != "log"
    given = fit(transform="log")
    before = given.predict()
    with pytest.raises(ValueError, match="negative"):
        given.partial_fit(values={NAMES[UNKNOWN[0]]: -3.0})
    np.testing.assert_array_equal(given.predict(), before)


def test_forgotten_values_do_not_shape_the_scale() -> None:
    spoilt = hide(VIEWS)
    spoilt[UNKNOWN[:5]] = 1e9
    model = NodeRegressor().fit(DATA, spoilt).forget(values=[NAMES[i] for i in UNKNOWN[:5]])
    fresh = fit()
    assert model.transform_ == fresh.transform_
    np.testing.assert_allclose(model.predict(), fresh.predict(), rtol=1e-9)


@pytest.mark.parametrize("wrong", [{"transform": "cube"}, {"statistic": "mode"}])
def test_bad_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        fit(**wrong)


def test_predictions_in_another_scale_are_clipped_at_the_bounds() -> None:
    result = predict_nodes(DATA, hide(VIEWS), lower=20.0, upper=200.0, coverage=0.9)
    assert result.predictions.min() >= 20.0
    assert result.predictions.max() <= 200.0


def test_clones_keep_the_transform_and_descriptions_name_it() -> None:
    model = clone(NodeRegressor(transform="log", statistic="median"))
    assert model.get_params()["transform"] == "log"
    facts = fit(transform="log", statistic="median").describe()
    assert facts["settings"]["transform"] == "log"
    assert facts["choice"]["statistic"] == "median"


def test_betweenness_is_better_than_the_mean() -> None:
    """Raw betweenness on Les Misérables: the issue measured 1.07 to 1.17 times the mean's."""
    graph = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    between = nx.betweenness_centrality(graph)
    y = np.array([between[i] for i in range(len(graph))])
    ratios = []
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(y.size)
        known, unknown = order[:31], order[31:]
        model = NodeRegressor().fit(graph, dict(zip(known.tolist(), y[known], strict=True)))
        errors = y[unknown] - model.predict(unknown.tolist())
        ratios.append(np.sqrt(np.mean(errors**2) / np.mean((y[unknown] - y[known].mean()) ** 2)))
    assert np.mean(ratios) < 0.9
