"""SKG as a model of graphs; the checks that all such models share are in test_checks."""

import numpy as np
import pytest

from gradraker import SKGNodeRegressor, SKGRegressor, adjacency_vectors
from gradraker.exceptions import TooFewValuesError

# Directed, with a loop, and an edge in both directions.
EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("b", "a"), ("c", "c"), ("d", "b"), ("e", "c")]
KNOWN = {"a": 1.0, "b": 3.0, "c": 2.0}


def make_model(**options: object) -> SKGNodeRegressor:
    return SKGNodeRegressor(sigma2=1.0, n_frequencies=30, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_rows_are_the_adjacency_vectors_of_the_direction(direction: str) -> None:
    model = make_model(direction=direction).fit(EDGES, KNOWN)
    vectors = adjacency_vectors(EDGES, direction=direction)  # type: ignore[arg-type]
    names = vectors.nodes.tolist()
    rows = [names.index(name) for name in KNOWN]
    skg = SKGRegressor(sigma2=1.0, n_frequencies=30, random_state=model.seed_)
    values = np.array(list(KNOWN.values()))
    skg.fit(vectors.rows[rows], values - values.mean(), references=vectors.references)
    expected = skg.predict(vectors.rows, references=vectors.references) + values.mean()
    np.testing.assert_allclose(model.predict(names), expected, rtol=1e-12)


def test_references_must_be_nodes_of_the_graph() -> None:
    with pytest.raises(
        ValueError, match="references holds names that the graph does not have: 'z'"
    ):
        make_model(references=["a", "z"]).fit(EDGES, KNOWN)
    model = make_model(references=["a", "b"]).fit(EDGES, KNOWN)
    assert list(model.skg_.references_) == ["a", "b"]


def test_first_values_may_come_after_the_graph() -> None:
    model = make_model().partial_fit(EDGES)
    with pytest.raises(ValueError, match="no value is known yet: give values to partial_fit first"):
        model.predict(["a"])
    model.partial_fit(values=KNOWN)
    np.testing.assert_array_equal(model.predict(), make_model().fit(EDGES, KNOWN).predict())


def test_score_is_the_coefficient_of_determination() -> None:
    model = make_model().fit(EDGES, KNOWN)
    values = np.array([1.0, 3.0, 2.0])
    residual = np.sum((model.predict(["a", "b", "c"]) - values) ** 2)
    assert model.score(["a", "b", "c"], values) == pytest.approx(1.0 - residual / 2.0)


def test_error_estimate_takes_ten_values_that_differ() -> None:
    with pytest.raises(TooFewValuesError, match="3 values are known, and an estimate"):
        make_model().fit(EDGES, KNOWN).predict_left_out()
    star = [(f"n{i}", "centre") for i in range(12)]
    known = {f"n{i}": float(i) for i in range(12)}
    model = SKGNodeRegressor(sigma2=1.0).fit([*star, ("n0", "n1")], known)
    model.sigma2 = "theory"
    # Without n0, all rows are equal, and a rule has nothing to choose from.
    messages = set()
    for seed in range(50):
        model.seed_, model._held_out = seed, None
        try:
            model.predict_left_out()
        except TooFewValuesError as error:
            messages.add(str(error).partition(",")[0])
    assert messages == {"values: the known nodes that are left do not differ"}


def test_intervals_are_refused() -> None:
    model = make_model().fit(EDGES, KNOWN)
    with pytest.raises(ValueError, match="return_interval must be False: SKG has no intervals"):
        model.predict(return_interval=True)


def test_mean_is_that_of_the_first_values() -> None:
    model = make_model().fit(EDGES, KNOWN)
    assert model.mean_ == 2.0
    model.partial_fit(values={"d": 50.0})
    assert model.mean_ == 2.0
