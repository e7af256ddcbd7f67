"""Attributes for numbers: used where they help, dropped where they do not."""

from pathlib import Path

import numpy as np
import pytest

from attribute_examples import (
    SOLVERS,
    N,
    compute_score,
    fit_data,
    get_share_of_attributes,
    make_data,
    make_edges,
    uses_attributes,
)
from gradraker import NodeRegressor, load


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_that_tell_much_are_used(solver: str) -> None:
    A, _, y, known = make_data()
    unknown = np.isnan(known)
    model = fit_data(solver)
    assert uses_attributes(model)
    assert compute_score(y[unknown], model.predict()) > 0.9
    assert compute_score(y[unknown], NodeRegressor(solver=solver).fit(A, known).predict()) < 0.5
    block, name, value = model.coefficients_.list_top(1)[0]
    assert (block, name) == ("attributes", "x0")
    assert value > 0.5
    values = {name: value for _, name, value in model.coefficients_.list_top(3)}
    assert values["x1"] < 0.0
    assert "+" in repr(model.coefficients_)


def test_attributes_whose_effect_differs_by_region_are_used_within_regions(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    A, places = make_edges(rng, 240)
    X = rng.normal(size=(240, 2))
    y = np.where(places[:, 0] < 0.5, X[:, 0], -X[:, 0]) + 0.1 * rng.normal(size=240)
    known = np.where(np.arange(240) % 3 > 0, y, np.nan)
    unknown = np.isnan(known)
    model = NodeRegressor(solver="exact").fit(A, known, attributes=X)
    assert "local_attributes" in model.blocks_
    assert compute_score(y[unknown], model.predict()) > 0.6
    explanation = model.explain([0, 3])
    assert "attributes within a region" in explanation.part_names
    assert explanation.parts is not None
    total = explanation.parts.sum(axis=1) + np.nanmean(known)
    np.testing.assert_allclose(total, explanation.prediction, atol=1e-8)
    loaded = load(model.save(tmp_path / "model.gr"))
    np.testing.assert_allclose(loaded.predict(), model.predict(), rtol=1e-9)
    links = {"like 0": {int(other): 1.0 for other in A[[0]].indices}}
    new = [one.predict_new(links, attributes={"like 0": X[0]})["like 0"] for one in (model, loaded)]
    np.testing.assert_allclose(new, model.predict([0])[0], atol=0.1)
    assert new[0] == pytest.approx(new[1], rel=1e-9)


def _list_errors(n_known: int, *, helpful: bool, use: bool) -> list[float]:
    """Squared errors over the variance, of 8 draws; attributes help, or are noise."""
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        A, places = make_edges(rng)
        X = rng.normal(size=(N, 6))
        signal = X[:, 0] + 0.7 * X[:, 1] if helpful else 2.0 * np.sin(5.0 * places[:, 0])
        y = signal + 0.3 * rng.normal(size=N)
        order = rng.permutation(N)
        known, unknown = order[:n_known], order[n_known:]
        values = {int(i): float(y[i]) for i in known}
        model = NodeRegressor().fit(A, values, attributes=X if use else None)
        errors.append(float(np.mean((model.predict(unknown) - y[unknown]) ** 2) / y.var()))
    return errors


@pytest.mark.statistical
def test_few_values_are_learned_from_attributes() -> None:
    # The mean of five values leaves 1.24 of the variance.
    assert np.exp(np.mean(np.log(_list_errors(5, helpful=True, use=True)))) < 1.2


@pytest.mark.statistical
def test_few_values_are_learned_from_walks_beside_noise() -> None:
    logs = np.log([_list_errors(10, helpful=False, use=use) for use in (True, False)])
    assert np.exp(np.mean(logs[0] - logs[1])) < 1.2


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_that_are_noise_are_dropped(solver: str) -> None:
    rng = np.random.default_rng(1)
    A, places = make_edges(rng, 300)
    y = np.sin(4.0 * places[:, 0]) + np.cos(3.0 * places[:, 1]) + 0.05 * rng.normal(size=300)
    known = np.where(np.arange(300) % 2 == 0, y, np.nan)
    noise = rng.normal(size=(300, 5))
    model = NodeRegressor(solver=solver).fit(A, known, attributes=noise)
    plain = NodeRegressor(solver=solver).fit(A, known)
    assert get_share_of_attributes(model) < 0.1
    truth = y[np.isnan(known)]
    assert compute_score(truth, model.predict()) > compute_score(truth, plain.predict()) - 0.02
