"""Teach a fitted model, or a file of one, more edges, then values, each first predicted."""

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, BinaryIO

import numpy as np

from gradraker._fields import describe_fields
from gradraker._locks import lock_file
from gradraker.exceptions import NotHeldError
from gradraker.graph.adapters.columns import Task
from gradraker.graph.values import keep_lines, split_targets
from gradraker.models.loading import load_node_model
from gradraker.models.node_model import NodeModel
from gradraker.models.persistence.archive import read_notes
from gradraker.workflow.node_predictions import NodePredictions
from gradraker.workflow.predict import predict_all_targets

# Of several targets: the error of each of which values were learned.
Errors = float | dict[Hashable, float] | None


@describe_fields
@dataclass(frozen=True, eq=False)
class Update:
    """The changes that an update made to a model.

    Examples
    --------
    >>> from gradraker.workflow import update_nodes
    >>> update = update_nodes("model.gr", values={"b": 1.5})  # doctest: +SKIP
    """

    learned: Annotated[
        dict[Hashable, Any],
        "Node → value that the model learned; of several targets, node → target → value.",
    ]
    predicted: Annotated[
        dict[Hashable, Any],
        "The same of the predictions of the model, with the new edges, before it learned.",
    ]
    n_passed_over: Annotated[int, "Number of values that the model had already."]
    graph_changed: Annotated[
        bool, "Whether nodes, edges, weights or attributes were added or changed."
    ]
    fallback: Annotated[
        Any,
        "Mean of the known values (of several targets, target → mean), or the most common known "
        "class, before the update.",
    ]
    task: Annotated[Task, "Whether values are numbers or labels of classes."] = "values"
    n_forgotten: Annotated[int, "Number of forgotten values, nodes and edges."] = 0
    targets: Annotated[tuple[Hashable, ...], "Names of several targets; () for one."] = ()

    @property
    def has_changed(self) -> bool:
        """Whether the update changed the model."""
        return bool(self.learned) or self.graph_changed or self.n_forgotten > 0

    @property
    def n_learned(self) -> int:
        """Number of values that the model learned."""
        entries = self.learned.values()
        return sum(map(len, entries)) if self.targets else len(entries)

    @property
    def rmse(self) -> Errors:
        """Error of numbers predicted before learning; None if nothing was learned.

        Of several targets, which may have different units, a dict from target to error.
        """
        return self._measure(self.predicted)

    @property
    def rmse_of_mean(self) -> Errors:
        """The same error if the mean had been predicted."""
        return self._measure(dict.fromkeys(self.learned, self.fallback))

    @property
    def accuracy(self) -> float | None:
        """Share of classes predicted correctly before learning; None if nothing was learned."""
        return self._count_correct(list(self.predicted.values()))

    @property
    def accuracy_of_most_common(self) -> float | None:
        """The same share if the most common known class had been predicted."""
        return self._count_correct([self.fallback] * len(self.learned))

    def _count_correct(self, predictions: list[Any]) -> float | None:
        if not self.learned or self.task != "classes":
            return None
        pairs = zip(self.learned.values(), predictions, strict=True)
        return sum(bool(label == predicted) for label, predicted in pairs) / len(self.learned)

    def _measure(self, guesses: Mapping[Hashable, Any]) -> Errors:
        if not self.learned or self.task != "values":
            return None
        if not self.targets:
            return _measure_rmse([value - guesses[node] for node, value in self.learned.items()])
        errors = {
            target: [v[target] - guesses[n][target] for n, v in self.learned.items() if target in v]
            for target in self.targets
        }
        return {target: _measure_rmse(found) for target, found in errors.items() if found}


def _measure_rmse(errors: list[float]) -> float:
    return float(np.sqrt(np.mean(np.array(errors) ** 2)))


def update_nodes(
    model: NodeModel,
    graph: Any = None,
    values: Mapping[Any, Any] | None = None,
    *,
    attributes: Any = None,
    unknown_nodes: str = "error",
    relearn: bool = False,
    forget: Mapping[str, Any] | None = None,
    **graph_options: Any,
) -> Update:
    """Let a fitted model forget, then teach it more edges, then more values.

    Parameters
    ----------
    model : model of graphs
        Fitted; it is changed.
    graph : graph, optional
        Edges to add, in any form that ``fit`` takes.
    values : mapping from nodes to values, optional
        Values to learn; those that the model has already are skipped. Of several targets,
        mappings from targets to numbers or vectors, as ``fit`` takes them.
    attributes : frame, array, sparse matrix or mapping, optional
        Attributes to add or replace, which are learned with the edges.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that are not in the graph.
    relearn : bool, default=False
        Whether to learn the values that the model has already, too.
    forget : mapping, optional
        ``values``, ``nodes`` and ``edges`` that the model forgets first; see
        :meth:`gradraker.models.NodeModel.forget`.
    **graph_options
        As in ``partial_fit``.

    Returns
    -------
    Update

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> from gradraker.workflow import update_nodes
    >>> model = NodeRegressor().fit([("a", "b"), ("b", "c"), ("c", "d")], {"a": 1.0, "d": 4.0})
    >>> update = update_nodes(model, [("d", "e")], {"e": 5.0, "a": 1.0})
    >>> update.learned, update.n_passed_over, update.graph_changed
    ({'e': 5.0}, 1, True)
    """
    targets = tuple(model.target_names_)
    # The values of each target, of which None names the only one.
    columns: dict[Hashable, Any] = {None: values or {}}
    if targets and (split := split_targets(values or {}, names=targets)) is not None:
        columns = dict(zip(split.names, split.columns, strict=True))
    fallback = _find_fallback(model)
    before = model.adjacency_
    removed = {name: list(items) for name, items in (forget or {}).items() if len(items)}
    if removed:
        _check_held(model, removed)
        model.forget(**removed)
    if graph is not None or attributes is not None:
        model.partial_fit(
            graph, attributes=attributes, unknown_nodes=unknown_nodes, **graph_options
        )
    after = model.adjacency_
    changed = before.shape != after.shape or (before != after).nnz > 0 or attributes is not None
    given_values = [
        (n, t, v) for t, c in columns.items() for n, v in c.items() if v is not None and v == v
    ]
    _check_task(model, given_values)
    old_values, nodes = _list_values(model), set(model.nodes_.tolist())
    new_values: dict[Hashable, dict[Hashable, Any]] = {}
    for node, target, value in given_values:
        if relearn or old_values.get((node, target)) != value:
            new_values.setdefault(node, {})[target] = value
    learned_nodes = [node for node in new_values if node in nodes]
    predicted = model.predict(learned_nodes).tolist() if learned_nodes else []
    by_node: dict[Hashable, Any] = dict(new_values)
    if not targets or None in columns:
        by_node = {node: value[None] for node, value in new_values.items()}
    if by_node:
        by_node = keep_lines(values, by_node)
        model.partial_fit(values=by_node, unknown_nodes=unknown_nodes, relearn=relearn)
    if targets:
        predicted = [
            {target: row[targets.index(target)] for target in new_values[node]}
            for node, row in zip(learned_nodes, predicted, strict=True)
        ]
    n_learned = sum(len(new_values[node]) for node in learned_nodes)
    return Update(
        learned={node: by_node[node] for node in learned_nodes},
        predicted=dict(zip(learned_nodes, predicted, strict=True)),
        n_passed_over=sum(node in nodes for node, _, _ in given_values) - n_learned,
        graph_changed=changed,
        fallback=fallback,
        task=model.value_kind.task,
        n_forgotten=sum(map(len, removed.values())),
        targets=targets,
    )


def _find_fallback(model: NodeModel) -> Any:
    """Return the mean of each target, or the most common known class."""
    if model.value_kind.task == "classes":
        return Counter(model.known_values_.tolist()).most_common(1)[0][0]
    if not model.target_names_:
        return model.mean_
    return dict(zip(model.target_names_, model.mean_.tolist(), strict=True))


def _list_values(model: NodeModel) -> dict[tuple[Hashable, Hashable], Any]:
    """Return the known value of each node and target, of which None names the only one."""
    targets = model.target_names_ or [None]
    values = model.known_values_.reshape(-1, len(targets)).tolist()
    rows = zip(model.known_nodes_.tolist(), values, strict=True)
    return {(node, t): v for node, row in rows for t, v in zip(targets, row, strict=True)}


def _check_held(model: NodeModel, removed: Mapping[str, list[Any]]) -> None:
    """Refuse to forget nodes and values that the model does not have, before any change."""
    nodes, known = set(model.nodes_.tolist()), set(model.known_nodes_.tolist())
    for argument, items in removed.items():
        for node in (end for edge in items for end in edge) if argument == "edges" else items:
            if node not in nodes:
                raise NotHeldError(argument, node, "is not in the graph that the model has learned")
            if argument == "values" and node not in known:
                raise NotHeldError(argument, node, "is a node whose value is not known")


def _check_task(model: NodeModel, given: list[tuple[Hashable, Hashable, Any]]) -> None:
    """Refuse texts for a model of numbers, before anything is learned."""
    text = next((value for _, _, value in given if isinstance(value, str)), None)
    if text is not None and model.value_kind.task == "values":
        raise ValueError(f"values holds the text {text!r}, but the model has learned numbers")


# -- files of models -------------------------------------------------------------------------------


@describe_fields
@dataclass(frozen=True, eq=False)
class FileUpdate:
    """A model from a file after an update, with its predictions; :func:`update_file` makes it.

    Examples
    --------
    >>> from gradraker.workflow import update_file
    >>> with update_file("model.gr", lambda model: {}) as found:  # doctest: +SKIP
    ...     print(found.results[None])
    """

    model: Annotated[NodeModel, "The updated model."]
    update: Annotated[Update, "The changes of the update."]
    results: Annotated[
        dict[Hashable, NodePredictions], "Predictions by target; None names the only one."
    ]
    notes: Annotated[dict[str, Any], "The notes of the file, with those that were given."]

    def write_model(self, file: BinaryIO) -> None:
        """Write the model and the notes to an open binary file."""
        self.model.write_to(file, notes=self.notes)


@contextmanager
def update_file(
    path: str | os.PathLike[str],
    read_changes: Callable[[NodeModel], Mapping[str, Any]],
    *,
    save_as: str | os.PathLike[str] | None = None,
    notes: Mapping[str, Any] | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
) -> Iterator[FileUpdate]:
    """Load a model, update it and predict all nodes; no other process writes the file meanwhile.

    Parameters
    ----------
    path : path-like
        A file that :meth:`gradraker.models.NodeModel.save` wrote.
    read_changes : callable
        Called with the loaded model; returns the arguments of :func:`update_nodes` after it.
    save_as : path-like, optional
        The file that the block will write; default ``path``.
    notes : mapping, optional
        Notes that replace those of the file, unless they are None. ``coverage``, ``lower`` and
        ``upper`` are those of the predictions.
    on_stage : callable, optional
        Called with the name of each stage.

    Yields
    ------
    FileUpdate
        The block writes it, if it is to be kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gradraker import NodeRegressor, load
    >>> from gradraker.workflow import update_file
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.gr"
    >>> _ = NodeRegressor().fit([("a", "b"), ("b", "c")], {"a": 1.0, "c": 2.0}).save(path)
    >>> with update_file(path, lambda model: {"values": {"b": 1.5}}) as found:
    ...     _ = found.model.save(path, notes=found.notes)
    >>> found.update.learned, len(load(path).known_nodes_)
    ({'b': 1.5}, 3)
    """
    wait = partial(on_stage, "waiting for another process that writes the model")
    with lock_file(path if save_as is None else save_as, on_wait=wait):
        on_stage("reading the model")
        model, kept = load_node_model(path), read_notes(path)
        given = (notes or {}).items()
        kept |= {name: kept.get(name) if note is None else note for name, note in given}
        changes = read_changes(model)
        on_stage("training")
        update = update_nodes(model, **changes)
        bounds = {name: kept.get(name) for name in ("coverage", "lower", "upper")}
        yield FileUpdate(model, update, predict_all_targets(model, **bounds), kept)
