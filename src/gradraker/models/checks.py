"""One battery of checks for every model of graphs, public like scikit-learn's.

A check is a function of an unfitted model that raises AssertionError if the model breaks a
promise of the protocol in :mod:`gradraker.models.node_model`.
"""

import copy
import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from gradraker.exceptions import ModelFileError, UnknownNodesError
from gradraker.models.left_out import LeftOut
from gradraker.models.loading import load
from gradraker.models.node_model import NodeModel

_N = 40
_NODES = [f"n{i:02d}" for i in range(_N)]
# Each node points to the next three of a ring; every second value of a wave is known.
_EDGES = [(_NODES[i], _NODES[(i + k) % _N]) for i in range(_N) for k in (1, 2, 3)]
_WAVE = {node: float(np.sin(2.0 * np.pi * i / _N)) for i, node in enumerate(_NODES)}
# Predictions are weighted sums; solvers and batches may add in another order.
_TOLERANCE = 1e-8


def check_node_model(model: NodeModel) -> None:
    """Check that a model of graphs keeps the promises of the protocol.

    Parameters
    ----------
    model : model of graphs
        Unfitted; it is not changed.

    Raises
    ------
    AssertionError
        If a promise is broken; the message names the check.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.models import check_node_model
    >>> check_node_model(NodeRegressor(blocks="hop1", width=1.0, alpha=0.1))
    """
    for name, check in list_node_model_checks():
        try:
            check(clone(model))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def list_node_model_checks() -> Iterator[tuple[str, Callable[[NodeModel], None]]]:
    """Yield the name of each check and the check, for ``pytest.mark.parametrize``."""
    for check in _CHECKS:
        yield check.__name__, check


def _to_values(model: NodeModel, values: dict[Any, float]) -> dict[Any, Any]:
    """Return numbers, or for a classifier the labels of their signs."""
    if not is_classifier(model):
        return dict(values)
    return {node: "high" if value > 0.0 else "low" for node, value in values.items()}


def _list_known(model: NodeModel) -> dict[Any, Any]:
    return _to_values(model, {node: _WAVE[node] for node in _NODES[::2]})


def _fit(model: NodeModel) -> NodeModel:
    return model.fit(_EDGES, _list_known(model))


def _assert_equal(first: Any, second: Any, message: str) -> None:
    first, second = np.asarray(first), np.asarray(second)
    assert first.shape == second.shape, message
    if first.dtype.kind == "f":
        assert np.allclose(first, second, rtol=0.0, atol=_TOLERANCE), message
    else:
        assert first.tolist() == second.tolist(), message


def _assert_refused(
    call: Callable[[], object], errors: type[Exception] | tuple[type[Exception], ...], message: str
) -> None:
    try:
        call()
    except errors:
        return
    raise AssertionError(message)


def check_fit_returns_self_and_keeps_parameters(model: NodeModel) -> None:
    """``fit`` returns the model and changes neither parameters nor arguments."""
    before = copy.deepcopy(model.get_params())
    edges, known = list(_EDGES), _list_known(model)
    assert model.fit(edges, known) is model, "fit must return self"
    assert repr(model.get_params()) == repr(before), "fit must not change parameters"
    assert (edges, known) == (_EDGES, _list_known(model)), "fit must not change its arguments"


def check_unfitted_model_refuses(model: NodeModel) -> None:
    """An unfitted model raises NotFittedError."""
    for call in (model.predict, model.explain, lambda: model.save("nowhere"), lambda: model.nodes_):
        _assert_refused(call, NotFittedError, "an unfitted model must raise NotFittedError")


def check_nodes_are_known_or_unknown(model: NodeModel) -> None:
    """Known and unknown nodes are all nodes, and known values are those given."""
    _fit(model)
    known, unknown = model.known_nodes_.tolist(), model.unknown_nodes_.tolist()
    assert sorted(known + unknown) == sorted(model.nodes_.tolist()) == sorted(_NODES)
    assert dict(zip(known, model.known_values_.tolist(), strict=True)) == _list_known(model)
    assert model.adjacency_.shape == (_N, _N)
    assert len(model.count_neighbours()) == _N


def check_predict_takes_names(model: NodeModel) -> None:
    """``predict`` takes names in any order, and refuses names it does not have."""
    _fit(model)
    _assert_equal(model.predict(), model.predict(model.unknown_nodes_), "default: unknown nodes")
    listed = ["n01", "n00", "n01"]
    found = model.predict(listed)
    _assert_equal(found[:1], found[2:], "a name may occur more than once")
    assert len(model.predict([])) == 0, "no names, no predictions"
    for wrong in (["nobody"], "n01", 3):
        message = f"predict({wrong!r}) must be refused"
        _assert_refused(partial(model.predict, wrong), (UnknownNodesError, TypeError), message)


def check_forms_of_graphs_and_values(model: NodeModel) -> None:
    """Edges, a mapping and a matrix of the same graph give the same predictions."""
    known = _list_known(model)
    expected = clone(model).fit(_EDGES, known).predict(_NODES)
    mapping = {node: [t for s, t in _EDGES if s == node] for node in _NODES}
    index = {node: i for i, node in enumerate(_NODES)}
    rows, columns = [index[s] for s, _ in _EDGES], [index[t] for _, t in _EDGES]
    matrix = csr_array((np.ones(len(_EDGES)), (rows, columns)), shape=(_N, _N))
    unknown = None if is_classifier(model) else np.nan
    listed = [known.get(node, unknown) for node in _NODES]
    _assert_equal(clone(model).fit(mapping, known).predict(_NODES), expected, "a mapping")
    _assert_equal(
        clone(model).fit(matrix, listed, names=_NODES).predict(_NODES), expected, "a matrix"
    )


def check_fit_forgets(model: NodeModel) -> None:
    """A second ``fit`` gives the same model as a first one."""
    fresh = _fit(clone(model)).predict(_NODES)
    model.fit(_EDGES[:60], _to_values(model, {node: -_WAVE[node] for node in _NODES[:12]}))
    _assert_equal(_fit(model).predict(_NODES), fresh, "fit must forget what was learned before")


def check_forget_equals_never_seen(model: NodeModel) -> None:
    """A model that forgets values, nodes and edges predicts like one that never saw them."""
    known = _list_known(model)
    lost, gone, cut = list(known)[:3], list(known)[5], _EDGES[60]
    rest = {node: value for node, value in known.items() if node not in (*lost, gone)}
    edges = [edge for edge in _EDGES if gone not in edge and edge != cut]
    expected = clone(model).fit(edges, rest)
    _fit(model).forget(values=lost, nodes=[gone], edges=[cut])
    assert set(model.known_nodes_.tolist()) == set(rest), "known nodes differ"
    assert gone not in model.nodes_.tolist(), "a forgotten node is still in the graph"
    nodes = expected.nodes_.tolist()
    _assert_equal(model.predict(nodes), expected.predict(nodes), "predictions differ")
    before = model.predict(nodes)
    for wrong in ({"values": lost}, {"nodes": ["nobody"]}, {"edges": [cut]}, {}):
        _assert_refused(partial(model.forget, **wrong), ValueError, f"forget took {wrong}")
    _assert_equal(model.predict(nodes), before, "a refused call changed the model")


def check_partial_fit_learns_edges_nodes_and_values(model: NodeModel) -> None:
    """Edges, nodes and values can be added."""
    _fit(model)
    added = [("new", "n00"), ("new", "n01")]
    assert model.partial_fit(added) is model, "partial_fit must return self"
    assert model.nodes_.tolist() == [*_NODES, "new"], "new nodes come last"
    assert "new" in model.unknown_nodes_.tolist()
    value = _to_values(model, {"new": 0.5})
    model.partial_fit(values=value)
    assert "new" in model.known_nodes_.tolist()
    assert len(model.predict(["new", "n01"])) == 2


def check_refused_call_changes_nothing(model: NodeModel) -> None:
    """A call that raises leaves the model as it was."""
    _fit(model)
    before = np.asarray(model.predict(_NODES)).copy()
    value = next(iter(_list_known(model).values()))
    for arguments in ({"values": {"nobody": value}}, {}, {"graph": 3.5}):
        message = f"partial_fit({arguments}) must be refused"
        _assert_refused(partial(model.partial_fit, **arguments), (ValueError, TypeError), message)
        assert np.array_equal(model.predict(_NODES), before), "a refused call changed the model"


def check_predict_new_leaves_the_model_alone(model: NodeModel) -> None:
    """``predict_new`` predicts new nodes without learning them."""
    _fit(model)
    before = np.asarray(model.predict(_NODES)).copy()
    found = model.predict_new({"new": ["n00", "n01", "n02"], "other": {"n20": 1.0}})
    assert list(found) == ["new", "other"], "one prediction per new node"
    assert model.nodes_.tolist() == _NODES
    assert np.array_equal(model.predict(_NODES), before)
    for links in ({"n00": ["n01"]}, {"a": ["b"]}, {}):
        message = f"predict_new({links}) must be refused"
        _assert_refused(partial(model.predict_new, links), ValueError, message)


def check_explanations_add_up(model: NodeModel) -> None:
    """Explanations sum to the predictions."""
    _fit(model)
    found = model.explain(["n01", "n04"])
    total = found.weights @ found.values
    total = total + (found.offset if np.ndim(found.offset) == 0 else np.asarray(found.offset))
    _assert_equal(total, found.prediction, "offset + weights @ values must be the prediction")
    assert set(found.known_names) == set(model.known_nodes_.tolist())
    assert list(found.node_names) == ["n01", "n04"]
    if not is_classifier(model):
        _assert_equal(found.prediction, model.predict(["n01", "n04"]), "explain and predict agree")


def check_left_out_predictions(model: NodeModel) -> None:
    """Left-out predictions do not use the value of the node itself."""
    _fit(model)
    assert "nan" not in str(model.left_out_error_), "20 known nodes are enough for an estimate"
    if is_classifier(model):
        return
    found = model.predict_left_out()
    assert isinstance(found, LeftOut)
    known = set(model.known_nodes_.tolist())
    names = model.nodes_[found.rows].tolist()
    assert 0 < len(names) <= len(known)
    assert set(names) <= known, "left-out nodes are known"
    explained = model.explain(names[:3], left_out=True)
    _assert_equal(explained.prediction, found.predictions[:3], "left-out explanations agree")
    for row, name in enumerate(names[:3]):
        own = [n == name for n in explained.known_names]
        assert not explained.weights[row, own].any(), "a node must not count where it is left out"


def check_files_round_trip(model: NodeModel) -> None:
    """A loaded model predicts the same, and a damaged file is refused."""
    _fit(model)
    with tempfile.TemporaryDirectory() as folder:
        path = model.save(Path(folder) / "model.gr")
        again = load(path)
        assert type(again) is type(model)
        assert repr(again.get_params()) == repr(model.get_params())
        assert np.array_equal(again.predict(_NODES), model.predict(_NODES)), "predictions differ"
        assert str(again.left_out_error_) == str(model.left_out_error_)
        path.write_bytes(path.read_bytes()[:-7])
        _assert_refused(partial(load, path), ModelFileError, "a truncated file must be refused")


def check_copies_are_equal(model: NodeModel) -> None:
    """Pickled and copied models predict the same."""
    _fit(model)
    expected = model.predict(_NODES)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(_NODES), expected), "a copy predicts differently"


def check_fits_are_reproducible(model: NodeModel) -> None:
    """The same data and seed give the same model."""
    first, second = _fit(clone(model)), _fit(clone(model))
    assert np.array_equal(first.predict(_NODES), second.predict(_NODES)), "two fits differ"


def check_nodes_without_edges(model: NodeModel) -> None:
    """Values of nodes without edges are refused, ignored or isolated, by ``unknown_nodes``."""
    known = _list_known(model) | _to_values(model, {"island": 0.7})
    refused = []
    try:
        clone(model).fit(_EDGES, known)
    except UnknownNodesError as error:
        refused = error.nodes
    assert refused == ["island"], "values of nodes that the graph does not have must be refused"
    ignored = clone(model).fit(_EDGES, known, unknown_nodes="ignore")
    assert "island" not in ignored.nodes_.tolist()
    isolated = clone(model).fit(_EDGES, known, unknown_nodes="isolated")
    assert isolated.nodes_.tolist() == [*_NODES, "island"]


def check_units_of_values(model: NodeModel) -> None:
    """Predictions follow a change of the zero and the unit of the values."""
    if is_classifier(model):
        return
    expected = _fit(clone(model)).predict(_NODES)
    other = {node: 1000.0 + 8.0 * value for node, value in _list_known(model).items()}
    found = clone(model).fit(_EDGES, other).predict(_NODES)
    _assert_equal((found - 1000.0) / 8.0, expected, "zero and unit of the values must not matter")


def check_description_is_json(model: NodeModel) -> None:
    """``describe`` returns a dict that JSON can hold."""
    _fit(model)
    facts = model.describe()
    json.dumps(facts, allow_nan=False)
    assert facts["method"] == model.method
    assert isinstance(facts["settings"], dict)


_CHECKS: tuple[Callable[[NodeModel], None], ...] = tuple(
    check
    for name, check in list(globals().items())
    if name.startswith("check_") and check is not check_node_model
)
