"""Attributes that come, change and go, and those that are warned of or refused."""

import warnings

import numpy as np
import pytest

from attribute_examples import (
    SOLVERS,
    N,
    make_classes,
    make_data,
)
from gradraker import NodeClassifier, NodeRegressor
from gradraker.attributes import AttributeWarning
from gradraker.exceptions import UnknownNodesError
from gradraker.models.skg import SKGNodeRegressor

# -- online ------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_attributes_in_chunks_equal_attributes_at_once(solver: str) -> None:
    A, X, _, known = make_data()
    at_once = NodeRegressor(solver=solver, tol=1e-9).fit(A, known, attributes=X)
    chunks = NodeRegressor(solver=solver, tol=1e-9)
    chunks.fit(A, known, attributes={i: X[i] for i in range(80)})
    chunks.predict()
    chunks.partial_fit(attributes={i: X[i] for i in range(80, N)})
    np.testing.assert_allclose(chunks.predict(), at_once.predict(), atol=1e-6)


def test_new_nodes_and_changed_attributes_are_learned_and_forgotten() -> None:
    A, X, _, known = make_data()
    model = NodeRegressor().fit(A, known, attributes=X)
    before = model.predict()
    model.partial_fit({500: [3]}, {500: 1.0}, attributes={500: [0.1, 0.2, 0.3], 0: [9.0, 9.0, 9.0]})
    assert model.attributes_ is not None
    np.testing.assert_array_equal(model.attributes_.matrix[0], [9.0, 9.0, 9.0])
    assert model.attributes_.given.all()
    assert len(model.attributes_.given) == N + 1
    model.partial_fit(attributes={0: X[0]}).forget(nodes=[500])
    np.testing.assert_allclose(model.predict(), before, atol=1e-8)


def test_nodes_without_attributes_are_predicted() -> None:
    A, X, _, known = make_data()
    model = NodeRegressor().fit(A, known, attributes={i: X[i] for i in range(0, N, 3)})
    assert np.isfinite(model.predict()).all()


def test_attributes_of_other_nodes_are_refused_ignored_or_added() -> None:
    A, X, _, known = make_data()
    given = {i: X[i] for i in range(N)} | {777: X[0]}
    with pytest.raises(UnknownNodesError, match=r"attributes holds .* 777"):
        NodeRegressor().fit(A, known, attributes=given)
    assert len(NodeRegressor().fit(A, known, attributes=given, unknown_nodes="ignore").nodes_) == N
    added = NodeRegressor().fit(A, known, attributes=given, unknown_nodes="isolated")
    assert added.nodes_[-1] == 777
    assert np.isfinite(added.predict([777])).all()


# -- warnings and refusals ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("constant", "'x3' are the same for all nodes"),
        ("duplicate", "'x3' repeat a column before them"),
        ("missing", "'x3' are missing for all nodes"),
        ("leak", "'x3' tells the value of every known node"),
        ("leak of the order", "'x3' tells the value of every known node"),
    ],
)
def test_columns_that_tell_nothing_or_all_are_warned_of(change: str, said: str) -> None:
    A, X, y, known = make_data()
    column = {"constant": np.ones(N), "duplicate": X[:, 0], "missing": np.full(N, np.nan)}
    column["leak of the order"] = np.exp(y)
    wide = np.column_stack([X, column.get(change, 3.0 * y - 1.0)])
    with pytest.warns(AttributeWarning, match=said):
        model = NodeRegressor().fit(A, known, attributes=wide)
    if not change.startswith("leak"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = NodeRegressor().fit(A, known, attributes=X)
        np.testing.assert_allclose(model.predict(), plain.predict(), atol=1e-8)


def test_an_attribute_that_is_the_class_is_warned_of() -> None:
    A, codes, words = make_classes(differs=False)
    leaky = np.column_stack([words.toarray()[:, :5], codes == 1])
    with pytest.warns(AttributeWarning, match="'x5' tells the value"):
        NodeClassifier().fit(A, {int(i): int(codes[i]) for i in range(60)}, attributes=leaky)


def test_an_attribute_that_numbers_the_classes_is_warned_of() -> None:
    A, codes, words = make_classes(differs=False)
    classes = codes + 2 * (np.arange(codes.size) % 2)
    leaky = np.column_stack([words.toarray()[:, :5], (classes - 2.4) ** 2])
    with pytest.warns(AttributeWarning, match="'x5' tells the value"):
        NodeClassifier().fit(A, {int(i): int(classes[i]) for i in range(60)}, attributes=leaky)


def test_models_and_questions_without_attributes_say_so() -> None:
    A, X, _, known = make_data()
    with pytest.raises(ValueError, match="SKGNodeRegressor takes no attributes"):
        SKGNodeRegressor().fit(A, known, attributes=X)
    plain = NodeRegressor().fit(A, known)
    with pytest.raises(ValueError, match="predict_new needs links or attributes"):
        plain.predict_new()
    with pytest.raises(ValueError, match="the model was fitted without any"):
        plain.predict_new(attributes={900: X[0]})
    assert plain.attributes_ is None
    assert plain.coefficients_.blocks == ()
    with pytest.raises(ValueError, match="names attributes, but the model was given none"):
        NodeRegressor(blocks=("attributes",), width=1.0, alpha=0.1).fit(A, known)
    model = NodeRegressor().fit(A, known, attributes=X)
    with pytest.raises(ValueError, match="3, which the graph has already"):
        model.predict_new(attributes={3: X[0]})
    with pytest.raises(ValueError, match="attributes has 2 rows, but links names 1 new nodes"):
        model.predict_new({900: [1]}, attributes=X[:2])
    with pytest.raises(ValueError, match="2 columns, but there were 3 at fit"):
        model.partial_fit(attributes={0: [1.0, 2.0]})
    assert model.attributes_ is not None
    assert model.attributes_.matrix.shape == (N, 3)
