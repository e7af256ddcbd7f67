"""Folds of the known nodes: hidden values never reach the model that predicts them."""

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from gradraker.graph.node_graph import NodeGraph, make_node_graph
from gradraker.graph.values import align_values, select_columns, split_targets
from gradraker.models.node_model import NodeModel

Rows = NDArray[np.int64]
# Seed of the folds that a number asks for.
_SEED = 0


@dataclass(frozen=True, eq=False)
class KnownNodes:
    """A graph, its known values, and what else a model is fitted with."""

    graph: NodeGraph
    values: NDArray[Any]  # [n] or [n, K]
    rows: Rows  # of the known nodes
    fit_options: Mapping[str, Any]
    target_names: Sequence[Hashable] = ()

    def show(self, rows: Rows) -> Any:
        """Return the values of some nodes, and nothing of the others, as ``fit`` takes them."""
        if not self.target_names:
            shown = np.full(self.values.shape, np.nan if self.values.dtype == float else None)
            shown = shown.astype(self.values.dtype)
            shown[rows] = self.values[rows]
            return shown
        names = self.graph.nodes[rows].tolist()
        entries = [dict(zip(self.target_names, row, strict=True)) for row in self.values[rows]]
        return dict(zip(names, entries, strict=True))

    @property
    def known_values(self) -> NDArray[Any]:
        """Values of the known nodes."""
        return np.asarray(self.values[self.rows])


class Fold(NamedTuple):
    """Positions, in the known nodes, that a model learns and is tested on."""

    train: Rows
    test: Rows


class FoldResult(NamedTuple):
    """Scores on hidden and learned nodes, times, and the model if it is kept."""

    test_scores: dict[str, float]
    train_scores: dict[str, float] | None
    fit_time: float
    score_time: float
    model: NodeModel | None


def align_known(
    model: NodeModel,
    graph: Any,
    values: Any,
    *,
    unknown_nodes: str,
    node: Hashable,
    value: Any,
    graph_options: Mapping[str, Any],
    attributes: Any,
    fit_options: Mapping[str, Any] | None,
) -> KnownNodes:
    """Read graph and values once, as ``fit`` would; attributes are an option of the fits."""
    if not isinstance(model, NodeModel):
        raise TypeError(
            "model must be a model of graphs, such as NodeRegressor(), got "
            f"{type(model).__name__}: scikit-learn's own functions are for models of rows"
        )
    made = make_node_graph(graph, graph_options)
    kind, names = model.value_kind, []
    targets = split_targets(values, node=node, value=value) if kind.task == "values" else None
    if targets is None:
        chosen = select_columns(values, node=node, value=value, task=kind.task)
        made, aligned = align_values(kind, made, made, chosen, unknown_nodes)
    else:
        names, columns = targets.names, []
        for column in targets.columns:
            made, one = align_values(kind, made, made, column, unknown_nodes)
            columns.append(one)
        aligned = np.column_stack(columns)
    rows = np.flatnonzero(model.value_kind.is_known(aligned))
    if rows.size < 2:
        raise ValueError(f"values must be known for 2 nodes at least, got {rows.size}")
    options = dict(fit_options or {})
    if attributes is not None:
        options["attributes"] = attributes
    return KnownNodes(made, aligned, rows, options, names)


def list_folds(model: NodeModel, known: KnownNodes, cv: Any, groups: Any) -> list[Fold]:
    """Split the known nodes by a number, a splitter of scikit-learn, or given positions."""
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        kind = StratifiedKFold if is_classifier(model) else KFold
        if is_classifier(model) and _count_rarest(known.known_values) < cv:
            kind = KFold
        cv = kind(int(cv), shuffle=True, random_state=_SEED)
    y = known.known_values
    codes = np.unique([str(label) for label in y], return_inverse=True)[1]
    targets = codes if is_classifier(model) else y
    splitter = check_cv(cv, targets, classifier=is_classifier(model))
    groups = None if groups is None else _align_groups(known, groups)
    n = known.rows.size
    return [
        Fold(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64))
        for train, test in splitter.split(np.zeros((n, 1)), targets, groups)
    ]


def _count_rarest(labels: NDArray[Any]) -> int:
    return int(np.unique([str(label) for label in labels], return_counts=True)[1].min())


def _align_groups(known: KnownNodes, groups: Any) -> NDArray[Any]:
    names = known.graph.nodes[known.rows].tolist()
    if isinstance(groups, Mapping):
        missing = [name for name in names if name not in groups]
        if missing:
            raise ValueError(f"groups has no entry for the known node {missing[0]!r}")
        return np.array([groups[name] for name in names])
    aligned = np.asarray(groups)
    if len(aligned) == len(known.graph):
        aligned = aligned[known.rows]
    if len(aligned) != len(names):
        raise ValueError(
            f"groups has {len(aligned)} entries, but {len(names)} nodes are known: give a mapping "
            "from nodes to groups, or one entry per known node in the order of the graph"
        )
    return aligned


def evaluate_fold(
    model: NodeModel,
    parameters: Mapping[str, Any],
    known: KnownNodes,
    fold: Fold,
    scorers: Mapping[str, Any],
    *,
    return_train_score: bool = False,
    return_model: bool = False,
) -> FoldResult:
    """Fit a copy of a model without the values of a fold, and score it on them."""
    learner: NodeModel = clone(model).set_params(**copy_parameters(parameters))
    shown = known.show(known.rows[fold.train])
    start = time.perf_counter()
    learner.fit(known.graph, shown, **known.fit_options)
    fitted = time.perf_counter()
    test = _score(learner, known, fold.test, scorers)
    scored = time.perf_counter()
    train = _score(learner, known, fold.train, scorers) if return_train_score else None
    kept = learner if return_model else None
    return FoldResult(test, train, fitted - start, scored - fitted, kept)


def copy_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with estimators among them copied, unfitted."""
    return {name: clone(given, safe=False) for name, given in parameters.items()}


def _score(
    learner: NodeModel, known: KnownNodes, positions: Rows, scorers: Mapping[str, Any]
) -> dict[str, float]:
    rows = known.rows[positions]
    names, truth = known.graph.nodes[rows].tolist(), known.values[rows]
    if truth.dtype == object:
        truth = np.array(truth.tolist())
    return {name: float(scorer(learner, names, truth)) for name, scorer in scorers.items()}


def list_scorers(model: NodeModel, scoring: Any) -> dict[str, Any]:
    """Return scorers by name; one that is not named is called "score"."""
    from sklearn.metrics import check_scoring, get_scorer

    if scoring is None or callable(scoring) or isinstance(scoring, str):
        return {"score": check_scoring(model, scoring)}
    if isinstance(scoring, Mapping):
        return {str(name): check_scoring(model, one) for name, one in scoring.items()}
    return {str(name): get_scorer(name) for name in scoring}
