"""Folds of the known nodes: hidden values never reach the model that predicts them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier

from gradraker.graph.names import Names, find_positions
from gradraker.graph.node_graph import NodeGraph, make_node_graph
from gradraker.graph.values import align_values, select_columns, split_targets
from gradraker.models.node_model import NodeModel

Rows = NDArray[np.int64]
# Seed of the folds if ``cv`` is a number.
_SEED = 0


@dataclass(frozen=True, eq=False)
class KnownNodes:
    """A graph, its known values, and further arguments of ``fit``."""

    graph: NodeGraph
    values: NDArray[Any]  # [n] or [n, K]
    rows: Rows  # of the known nodes
    fit_options: Mapping[str, Any]
    target_names: Sequence[Hashable] = ()

    def show(self, rows: Rows) -> Any:
        """Return values for ``fit`` in which only those of some nodes are known."""
        if not self.target_names:
            shown = np.full(self.values.shape, np.nan if self.values.dtype == float else None)
            shown = shown.astype(self.values.dtype)
            shown[rows] = self.values[rows]
            return shown
        names = self.graph.nodes[rows].tolist()
        entries = [dict(zip(self.target_names, row, strict=True)) for row in self.values[rows]]
        return dict(zip(names, entries, strict=True))

    @property
    def names(self) -> Names:
        """Names of the known nodes."""
        return self.graph.nodes[self.rows]

    @property
    def known_values(self) -> NDArray[Any]:
        """Values of the known nodes."""
        values = self.values[self.rows]
        return np.array(values.tolist()) if values.dtype == object else values


class FoldModel(BaseEstimator):
    """A model of graphs behind the interface of scikit-learn: it is fitted to names and values.

    Every fit has the whole graph, and the values of the named nodes only.
    """

    def __init__(self, model: NodeModel, known: KnownNodes) -> None:
        self.model, self.known = model, known

    def __sklearn_clone__(self) -> Self:
        return type(self)(clone(self.model), self.known)  # graphs are not copied

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in vars(self):
            raise AttributeError(name)
        return getattr(self.model, name)  # scorers ask for classes_, predict_proba, …

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters of the model."""
        self.model.set_params(**parameters)
        return self

    def fit(self, nodes: Names, _: Any = None) -> Self:
        """Learn the values of some nodes."""
        rows = find_positions(nodes, self.known.graph.nodes)
        self.model.fit(self.known.graph, self.known.show(rows), **self.known.fit_options)
        return self


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
    graph = make_node_graph(graph, graph_options)
    kind, names = model.value_kind, []
    targets = split_targets(values, node=node, value=value) if kind.task == "values" else None
    if targets is None:
        chosen = select_columns(values, node=node, value=value, task=kind.task)
        graph, aligned = align_values(kind, graph, graph, chosen, unknown_nodes)
    else:
        names, columns = targets.names, []
        for column in targets.columns:
            graph, aligned_column = align_values(kind, graph, graph, column, unknown_nodes)
            columns.append(aligned_column)
        aligned = np.column_stack(columns)
    rows = np.flatnonzero(model.value_kind.is_known(aligned))
    if rows.size < 2:
        raise ValueError(f"values must be known for 2 nodes at least, got {rows.size}")
    options = dict(fit_options or {})
    if attributes is not None:
        options["attributes"] = attributes
    return KnownNodes(graph, aligned, rows, options, names)


def list_folds(
    model: NodeModel, known: KnownNodes, cv: Any, groups: Any
) -> list[tuple[Rows, Rows]]:
    """Split the known nodes by a number, a splitter of scikit-learn, or given positions."""
    # Late, like all imports of it: it loads rich, which models do without.
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    targets, are_classes = known.known_values, is_classifier(model)
    if are_classes:
        targets = np.unique([str(label) for label in targets], return_inverse=True)[1]
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        # Stratified folds need at least one node of each class per fold.
        is_stratified = are_classes and np.bincount(targets).min() >= cv
        kind = StratifiedKFold if is_stratified else KFold
        cv = kind(int(cv), shuffle=True, random_state=_SEED)
    splitter = check_cv(cv, targets, classifier=are_classes)
    groups = None if groups is None else _align_groups(known, groups)
    return list(splitter.split(np.zeros((known.rows.size, 1)), targets, groups))


def _align_groups(known: KnownNodes, groups: Any) -> NDArray[Any]:
    names = known.names.tolist()
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
