"""The protocol of models of graphs, and their common base: a graph, known values, a file.

A model of graphs has

- ``fit(graph, values)``: start anew, learn a graph and known values, and attributes of nodes if the
  model takes them;
- ``partial_fit(graph, values)``: learn more edges, more nodes, more values;
- ``forget(values, nodes, edges)``: remove them, as if they had never been given;
- ``predict(nodes)`` and ``predict_new(links)``: nodes of the graph, and nodes that join it;
- ``predict_left_out()`` and ``left_out_error_``: known nodes predicted without their own value;
- ``explain(nodes)``: predictions as weighted sums of the known values;
- ``describe()``: the choices that were made, as a dict that JSON can hold;
- ``save(path)``, and :func:`gradraker.load`.

:func:`gradraker.models.check_node_model` checks that a model keeps these promises.
"""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gradraker._locks import rollback_on_error
from gradraker._validation import check_bounds, make_seed
from gradraker.attributes.alignment import align_attributes
from gradraker.attributes.refitting import keep_nodes
from gradraker.attributes.table import AttributeTable
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.edges import make_symmetric
from gradraker.graph.node_graph import (
    NodeGraph,
    find_nodes,
    make_node_graph,
    merge_graphs,
    remove_edges,
    remove_nodes,
)
from gradraker.graph.values import (
    NUMBERS,
    ValueKind,
    align_values,
    check_magnitudes,
    select_columns,
    split_targets,
)
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.models.node_state import KEPT_OPTIONS, dump_node_state, restore_node_state
from gradraker.models.persistence.saving import Arrays, SavableModel, State
from gradraker.models.sample_weights import align_sample_weight


class NodeModel(SavableModel):
    """Base of all models of graphs: it holds the graph and the known values.

    A subclass defines how to learn (``_learn_all``, ``_learn_changes``), predict and explain.

    Examples
    --------
    >>> from gradraker import NodeRegressor, SKGNodeRegressor
    >>> from gradraker.models import NodeModel
    >>> issubclass(NodeRegressor, NodeModel), issubclass(SKGNodeRegressor, NodeModel)
    (True, True)
    """

    # The kind of values: numbers, or labels for classifiers.
    value_kind: ClassVar[ValueKind] = NUMBERS
    # Whether learning a value again changes the model, as a further training step does.
    learns_by_steps: ClassVar[bool] = False
    # Whether values may have several columns.
    takes_several_targets: ClassVar[bool] = False
    # Whether values may be trusted unequally.
    takes_sample_weight: ClassVar[bool] = False
    # Whether nodes may have attributes.
    takes_attributes: ClassVar[bool] = False
    # Whether predictions may have intervals.
    takes_coverage: ClassVar[bool] = False
    # Name of the method in the command line and reports.
    method: ClassVar[str]

    # Which edges describe a node: "out", "in" or "both".
    direction: str = "out"
    random_state: int | np.random.RandomState | None
    _graph: NodeGraph
    _values: NDArray[Any]  # [n] or [n, K]: values of each node, or the mark of an unknown one
    _attributes: AttributeTable | None
    _sample_weight: NDArray[np.float64] | None = None  # [n]: trust in values; None if all are 1
    _arrived: NDArray[np.int64]  # known nodes that were added after fit, in order
    _graph_options: dict[str, Any]
    _target_names: tuple[Hashable, ...] = ()  # of several targets

    @classmethod
    def can_take(cls, name: str) -> bool:
        """Whether a name is a parameter, or what a ``takes_…`` flag says that the model takes.

        Examples
        --------
        >>> from gradraker import NodeRegressor, SKGNodeRegressor
        >>> [kind.can_take("coverage") for kind in (NodeRegressor, SKGNodeRegressor)]
        [True, False]
        """
        return name in cls._get_param_names() or bool(getattr(cls, f"takes_{name}", False))

    # -- training --------------------------------------------------------------

    @rollback_on_error
    def fit(
        self,
        /,
        graph: Any,
        values: Any,
        *,
        attributes: Any = None,
        sample_weight: Any = None,
        unknown_nodes: str = "error",
        node: Hashable = None,
        value: Any = None,
        **graph_options: Any,
    ) -> Self:
        """Learn a graph and the known values; earlier ones are forgotten.

        Parameters
        ----------
        graph : any graph that :func:`gradraker.adjacency_vectors` takes
            Edges, a matrix, a mapping, a graph of another library, …
        values : mapping, Series, table, or array with NaN or None for unknown
            Known values; see :func:`gradraker.graph.known_values`. Several targets, for models that
            take them: an array (n, K), a mapping from nodes to K numbers or to mappings from
            targets to numbers, or a table with a list of columns as ``value``.
        attributes : frame, array, sparse matrix or mapping, optional
            Attributes of nodes, known and unknown ones: a data frame of pandas or polars whose
            index or column ``node`` names the nodes, an array or sparse matrix with one row per
            node of the graph in order, a mapping from nodes to vectors or to bags of words, or a
            table with columns node, attribute and value. Entries may be missing, and so may
            nodes.
        sample_weight : mapping, Series, array, or name of a column of values, optional
            Trust in known values, for models that take it: the noise of a value with weight w
            is α/w, so that a weight of 2 counts like two values. Default 1.
        unknown_nodes : {"error", "ignore", "isolated"}, default="error"
            What to do with values and attributes of nodes that the graph does not have: refuse
            them, leave them out, or add them as nodes without edges.
        node, value : name or position of a column, optional
            Columns of a table of values; see :func:`gradraker.graph.known_values`. Of several
            targets, ``value`` is a list.
        **graph_options
            ``nodes``, ``weight``, ``self_loops``, ``duplicates``, ``names``, ``kind``, ``source``,
            ``target`` and ``directed`` of :func:`gradraker.adjacency_vectors`.

        Returns
        -------
        self
        """
        self._check_parameters()
        learned = make_node_graph(graph, graph_options)
        self._target_names = ()
        learned, aligned = self._align(learned, learned, values, unknown_nodes, node, value)
        if not self.value_kind.is_known(aligned).any():
            raise ValueError(
                "values: no node of the graph has a known value; at least one is needed"
            )
        self._check_targets(aligned)
        table = None
        if attributes is not None:
            self._check_takes_attributes()
            learned, table = align_attributes(attributes, learned, learned, unknown_nodes)
            aligned = self._extend(aligned, len(learned))
        weights = self._align_weights(sample_weight, learned, learned, values, node)
        self._start(learned, aligned, graph_options)
        self._attributes = table
        self._set_weights(weights)
        self._learn_all()
        return self

    @rollback_on_error
    def partial_fit(
        self,
        /,
        graph: Any = None,
        values: Any = None,
        *,
        attributes: Any = None,
        sample_weight: Any = None,
        unknown_nodes: str = "error",
        relearn: bool = False,
        node: Hashable = None,
        value: Any = None,
        **graph_options: Any,
    ) -> Self:
        """Learn more edges, nodes and values; those given again replace the old ones.

        Parameters
        ----------
        graph : graph, optional
            Edges to add, in any form that :meth:`fit` takes; the whole grown graph is fine too.
            The weight of an edge that is given again replaces the old one.
        values : mapping, Series, table or array, optional
            Values to add. An array without names is in the order of the nodes of ``graph``, or
            of ``nodes_`` if there is none; NaN and None change nothing.
        attributes : frame, array, sparse matrix or mapping, optional
            Attributes to add or replace, node by node, with the columns of the first ones.
        sample_weight : mapping, Series, array, or name of a column of values, optional
            As in :meth:`fit`, for new or earlier values; others keep their weights.
        unknown_nodes : {"error", "ignore", "isolated"}, default="error"
            As in :meth:`fit`.
        relearn : bool, default=False
            Whether to learn values again that the model holds already, for models that learn
            by steps.
        node, value
            As in :meth:`fit`.
        **graph_options
            As in :meth:`fit`; ``weight``, ``self_loops``, ``duplicates`` and ``directed`` default
            to those of :meth:`fit`.

        Returns
        -------
        self
        """
        self._check_parameters()
        if relearn and not self.learns_by_steps:
            raise ValueError(f"relearn must be False: {type(self).__name__} holds each value once")
        if graph is None and values is None and attributes is None and sample_weight is None:
            raise ValueError("partial_fit needs a graph, values or attributes, got None for all")
        is_first = not self.__sklearn_is_fitted__()
        if is_first and graph is None:
            raise ValueError("the first call needs a graph, got None")
        if graph is None:
            grown = added = self._graph
        else:
            kept = {} if is_first else self._graph_options
            added = make_node_graph(graph, kept | graph_options)
            grown = added if is_first else merge_graphs(self._graph, added)
        news = self.value_kind.make_unknown(len(grown))
        if values is not None:
            grown, news = self._align(grown, added, values, unknown_nodes, node, value)
        table = None if is_first else self._attributes
        if attributes is not None:
            self._check_takes_attributes()
            grown, table = align_attributes(attributes, grown, added, unknown_nodes, table)
            news = self._extend(news, len(grown))
        weights = self._align_weights(sample_weight, grown, added, values, node)
        if is_first:
            self._start(grown, self.value_kind.make_unknown(len(grown)), graph_options)
        graph_grew = graph is not None or attributes is not None or len(grown) > len(self._graph)
        self._attributes = None if table is None else table.resize(len(grown))
        changed = self._add_values(grown, news, relearn=relearn)
        self._set_weights(weights)
        self._learn_changes(changed, graph_grew=graph_grew)
        return self

    @rollback_on_error
    def forget(self, *, values: Any = None, nodes: Any = None, edges: Any = None) -> Self:
        """Remove known values, nodes or edges, as if they had never been given.

        The model makes its choices anew, from the remaining data.

        Parameters
        ----------
        values : sequence of names, optional
            Known nodes whose values are unknown from now on.
        nodes : sequence of names, optional
            Nodes to remove from the graph, with their edges and values.
        edges : sequence of pairs (source, target), optional
            Edges to remove from the graph, in both directions if it is undirected.

        Returns
        -------
        self

        Examples
        --------
        >>> from gradraker import NodeRegressor
        >>> edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
        >>> model = NodeRegressor().fit(edges, {"a": 1.0, "b": 2.0, "c": 9.0})
        >>> model.forget(values=["c"], edges=[("b", "c")]).known_nodes_.tolist()
        ['a', 'b']
        """
        check_is_fitted(self)
        if values is None and nodes is None and edges is None:
            raise ValueError("forget needs values, nodes or edges, got None for all")
        graph, known = self._graph, self._values.copy()
        arrived = self._arrived
        weights = None if self._sample_weight is None else self._sample_weight.copy()
        if values is not None:
            rows = find_nodes(graph, values, argument="values")
            unknown = rows[~self.value_kind.is_known(known)[rows]]
            if unknown.size:
                name = graph.nodes[unknown[0]]
                raise ValueError(f"values holds {name!r}, whose value is not known")
            known[rows] = self.value_kind.make_unknown(1)[0]
            arrived = arrived[~np.isin(arrived, rows)]
            if weights is not None:
                weights[rows] = 1.0
        if edges is not None:
            graph = remove_edges(graph, edges)
        if nodes is not None:
            graph, kept = remove_nodes(graph, find_nodes(graph, nodes))
            if not len(graph):
                raise ValueError("nodes holds all nodes of the graph: at least one must stay")
            if self._attributes is not None:
                self._attributes = keep_nodes(self._attributes, kept)
            known, arrived = known[kept], arrived[np.isin(arrived, kept)]
            arrived = np.searchsorted(kept, arrived)
            weights = None if weights is None else weights[kept]
        self._check_targets(known)
        self._sample_weight = weights
        self._graph, self._values, self._arrived = graph, known, arrived
        self._reset()
        if self.value_kind.is_known(known).any():
            self._learn_all()
        return self

    def select_target(self, target: Hashable) -> Self:
        """Return a model of one of several targets, fitted anew to its known values.

        Examples
        --------
        >>> from gradraker import NodeRegressor
        >>> model = NodeRegressor().fit([("a", "c")], {"a": [30.0, 5.0], "c": [50.0, 7.0]})
        >>> model.select_target(0).known_values_.tolist()
        [30.0, 50.0]
        """
        if target not in self.target_names_:
            raise ValueError(f"target must be one of {self.target_names_}, got {target!r}")
        values = self.values_[:, self._target_names.index(target)].copy()
        if not self.value_kind.is_known(values).any():
            raise ValueError(f"target is {target!r}, but the model holds no value of it")
        alone: Self = clone(self)
        alone._start(self._graph, values, self._graph_options)
        alone._attributes, alone._sample_weight = self._attributes, self._sample_weight
        alone._learn_all()
        return alone

    def _start(self, graph: NodeGraph, values: NDArray[Any], options: Mapping[str, Any]) -> None:
        """Forget everything and hold this graph and these values."""
        check_bounds(self.bounds, self.get_params(deep=False))
        self.seed_ = make_seed(self.random_state)
        check_magnitudes(graph, values)
        self._graph, self._values, self._attributes = graph, values, None
        self._sample_weight = None
        self._arrived = np.empty(0, dtype=np.int64)
        kept = {name: options[name] for name in KEPT_OPTIONS if name in options}
        # A name of a column or attribute belongs to one form of graph only.
        if not (kept.get("weight") is None or kept.get("weight") is False):
            del kept["weight"]
        if not graph.is_directed:
            kept["directed"] = False
        self._graph_options = kept
        self._reset()

    def _extend(self, values: NDArray[Any], n: int) -> NDArray[Any]:
        """Values with unknown ones added, up to n."""
        unknown = self.value_kind.make_unknown(n - len(values))
        if values.ndim == 2:
            unknown = np.full((n - len(values), values.shape[1]), np.nan)
        return np.concatenate([values, unknown])

    def _check_takes_attributes(self) -> None:
        if not self.takes_attributes:
            raise ValueError(
                f"{type(self).__name__} takes no attributes: NodeRegressor and NodeClassifier do"
            )

    def _add_values(
        self, graph: NodeGraph, news: NDArray[Any], *, relearn: bool
    ) -> NDArray[np.int64]:
        """Store a grown graph and new values; return the nodes whose values changed."""
        values = self.value_kind.make_unknown(len(graph))
        if self._values.ndim == 2 or (news.ndim == 2 and not self._is_known.any()):
            shape = self._values.shape if self._values.ndim == 2 else news.shape
            values = np.full((len(graph), shape[1]), np.nan)
            if news.ndim == 1:  # no values were given
                news = np.full(values.shape, np.nan)
        if self._values.ndim == values.ndim:
            values[: len(self._values)] = self._values
        given = np.flatnonzero(self.value_kind.is_known(news))
        was_known = self.value_kind.is_known(values)[given]
        differs = values[given] != news[given]
        if values.ndim == 2:
            news = np.where(np.isnan(news), values, news)
            differs = (differs & ~np.isnan(news[given])).any(axis=1)
        check_magnitudes(graph, news)
        values[given] = news[given]
        self._graph, self._values = graph, values
        self._arrived = np.concatenate([self._arrived, given[~was_known]])
        return given if relearn else given[differs | ~was_known]

    def _align(
        self,
        graph: NodeGraph,
        added: NodeGraph,
        values: Any,
        unknown_nodes: str,
        node: Hashable,
        value: Any,
    ) -> tuple[NodeGraph, NDArray[Any]]:
        """Return values in the order of the nodes, (n,), or (n, K) for several targets."""
        kind, targets = self.value_kind, None
        if kind.task == "values":  # a label may itself be a list
            targets = split_targets(values, node=node, value=value, names=self._target_names)
        if targets is None or (targets.names == [0] and not self._target_names):
            if targets is not None:
                values, value = targets.columns[0], None
            elif self._target_names:
                raise ValueError(
                    f"values holds one number per node, but the model has learned "
                    f"{len(self._target_names)} targets: give one number for each of "
                    f"{list(self._target_names)}"
                )
            values = select_columns(values, node=node, value=value, task=kind.task)
            return align_values(kind, graph, added, values, unknown_nodes)
        self._set_targets(targets.names)
        by_name = {}
        for name, column in zip(targets.names, targets.columns, strict=True):
            graph, by_name[name] = align_values(kind, graph, added, column, unknown_nodes)
        unknown = kind.make_unknown(len(graph))
        return graph, np.column_stack([by_name.get(name, unknown) for name in self._target_names])

    def _check_targets(self, values: NDArray[Any]) -> None:
        """Refuse values in which a target is unknown everywhere and another is known."""
        if values.ndim == 2:
            is_known = self.value_kind.is_known(values.T)
            if is_known.any() and not is_known.all():
                name = self._target_names[int(np.argmin(is_known))]
                raise ValueError(f"no node has a known value of the target {name!r}")

    def _set_targets(self, names: list[Hashable]) -> None:
        """Set the names of several targets, if the model takes several and has no others."""
        if not self.takes_several_targets:
            raise ValueError(
                f"values holds {len(names)} targets, but {type(self).__name__} predicts one: give "
                "one value per node"
            )
        others = [name for name in names if name not in self._target_names]
        if self.__sklearn_is_fitted__() and self._is_known.any() and others:
            raise ValueError(
                f"values holds the target {others[0]!r}, but the model has learned "
                f"{list(self._target_names) or 'one target'}"
            )
        if not self._target_names:
            self._target_names = tuple(names)

    def _align_weights(
        self, given: Any, graph: NodeGraph, added: NodeGraph, values: Any, node: Hashable
    ) -> NDArray[np.float64] | None:
        """Return the weight of each node, NaN where none is given; None if there are none."""
        if given is None:
            return None
        if not self.takes_sample_weight:
            raise ValueError(
                f"{type(self).__name__} takes no sample_weight: NodeRegressor and NodeClassifier do"
            )
        return align_sample_weight(given, graph, added, values, node)

    def _set_weights(self, news: NDArray[np.float64] | None) -> None:
        """Store the given weights, for a graph that may have grown; others stay."""
        if news is None and self._sample_weight is None:
            return
        weights = np.ones(len(self._graph))
        if self._sample_weight is not None:
            weights[: self._sample_weight.size] = self._sample_weight
        if news is not None:
            given = np.flatnonzero(~np.isnan(news))
            weights[given] = news[given]
        self._sample_weight = weights

    # -- the parts that a subclass provides --------------------------------------

    def _check_parameters(self) -> None:
        """Refuse invalid parameters."""
        raise NotImplementedError

    def _reset(self) -> None:
        """Forget everything that was learned from graph and values."""
        raise NotImplementedError

    def _learn_all(self) -> None:
        """Learn the graph and all known values."""
        raise NotImplementedError

    def _learn_changes(self, changed: NDArray[np.int64], *, graph_grew: bool) -> None:
        """Learn the new values of some nodes; ``graph_grew`` if there may be new edges or nodes."""
        raise NotImplementedError

    def predict(
        self, nodes: Any = None, *, return_interval: bool = False, coverage: float = 0.9
    ) -> Any:
        """Predict the values of nodes of the graph; default all whose values are unknown.

        With ``return_interval``, also return intervals that hold the share ``coverage`` of the
        true values; a model that has none raises ValueError.
        """
        raise NotImplementedError

    def predict_new(self, links: Any, **graph_options: Any) -> Any:
        """Predict nodes that are not in the graph, from their links to nodes that are."""
        raise NotImplementedError

    def predict_proba(self, nodes: Any = None) -> NDArray[np.float64]:
        """Return probabilities of ``classes_``, (n, K), of a model whose values are classes."""
        raise ValueError(f"{type(self).__name__} predicts numbers, which have no probabilities")

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of a model whose values are classes."""
        raise AttributeError(f"{type(self).__name__} predicts numbers, which have no classes")

    def predict_left_out(self) -> LeftOut | LeftOutClasses:
        """Predict known nodes without their own values."""
        raise NotImplementedError

    @property
    def left_out_error_(self) -> Any:
        """Estimate of the error, from known nodes that were left out."""
        return self.predict_left_out().error

    def explain(self, nodes: Any = None, *, left_out: bool = False) -> LinearExplanation:
        """Explain predictions exactly, as weighted sums of the known values."""
        raise NotImplementedError

    def describe(self, *, target: Hashable = None) -> dict[str, Any]:
        """Return the choices and settings of the model, as a dict that JSON can hold.

        ``target`` is the one of several targets that is described; default all together.
        """
        raise NotImplementedError

    def count_neighbours(self) -> NDArray[np.int64]:
        """Return how many neighbours describe each node, in the order of ``nodes_``.

        An edge to and an edge from the same node are one neighbour, if both count.
        """
        return np.asarray(np.diff(self.used_adjacency_.indptr), dtype=np.int64)

    @property
    def used_adjacency_(self) -> csr_array:
        """The edges that describe each node, (n, n): those out of it, into it, or both."""
        A = self.adjacency_
        if self.direction == "in":
            return csr_array(A.T)
        if self.direction == "out" or not self._graph.is_directed:
            return A
        return make_symmetric(A)

    def _dump_state(self) -> tuple[State, Arrays]:
        """Return more JSON and arrays for the file, with other names than those of the base."""
        return {}, {}

    def _restore_state(self, state: State, arrays: Arrays) -> None:
        """Restore the result of :meth:`_dump_state`; graph and values are restored already."""

    # -- the graph and the values ------------------------------------------------

    @property
    def nodes_(self) -> NDArray[Any]:
        """Names of all nodes of the graph, in the order in which they were added."""
        check_is_fitted(self)
        return self._graph.nodes

    @property
    def known_nodes_(self) -> NDArray[Any]:
        """Names of the nodes whose values are known, in the order of ``nodes_``."""
        check_is_fitted(self)
        return self._graph.nodes[self._is_known]

    @property
    def unknown_nodes_(self) -> NDArray[Any]:
        """Names of the other nodes, in the order of ``nodes_``; ``predict()`` predicts them."""
        check_is_fitted(self)
        return self._graph.nodes[~self._is_known]

    @property
    def target_names_(self) -> list[Hashable]:
        """Names of several targets, in the order of the columns of predictions; [] for one."""
        check_is_fitted(self)
        return list(self._target_names)

    @property
    def known_values_(self) -> NDArray[Any]:
        """Known values or labels, in the order of ``known_nodes_``."""
        check_is_fitted(self)
        return np.asarray(self._values[self._is_known])

    @property
    def values_(self) -> NDArray[Any]:
        """The value of each node in the order of ``nodes_``; NaN or None where it is unknown."""
        check_is_fitted(self)
        return self._values.copy()

    @property
    def attributes_(self) -> AttributeTable | None:
        """The encoded attributes, in the order of ``nodes_``; None without any."""
        check_is_fitted(self)
        return self._attributes

    @property
    def mean_(self) -> Any:
        """Mean of the known values, the baseline of explanations; (K,) of K targets."""
        known = self.known_values_
        if known.ndim == 1:
            return float(known.mean())
        return np.array([column[~np.isnan(column)].mean() for column in known.T])

    @property
    def is_directed_(self) -> bool:
        """Whether an edge leads one way only."""
        check_is_fitted(self)
        return self._graph.is_directed

    @property
    def adjacency_(self) -> csr_array:
        """The edges that were learned, (n, n): row i holds the edges out of ``nodes_[i]``."""
        check_is_fitted(self)
        return self._graph.adjacency

    @property
    def _is_known(self) -> NDArray[np.bool_]:
        return self.value_kind.is_known(self._values)

    def _find_rows(self, nodes: Any) -> NDArray[np.int64]:
        """Return the positions of nodes; by default of all whose values are unknown."""
        check_is_fitted(self)
        return np.flatnonzero(~self._is_known) if nodes is None else find_nodes(self._graph, nodes)

    # -- files ---------------------------------------------------------------------

    def _check_savable(self) -> None:
        check_is_fitted(self)
        self._check_parameters()

    def dump_state(self) -> tuple[State, Arrays]:
        """Return the state and arrays of a file, besides the parameters."""
        state, arrays = dump_node_state(self)
        more, more_arrays = self._dump_state()
        return state | {"model": more}, arrays | more_arrays

    @classmethod
    def from_state(cls, parameters: dict[str, Any], state: State, arrays: Arrays) -> Self:
        """Make the model that a file describes."""
        model = cls(**parameters)
        model._check_parameters()
        restore_node_state(model, state, arrays)
        model._restore_state(state["model"], arrays)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_graph")
