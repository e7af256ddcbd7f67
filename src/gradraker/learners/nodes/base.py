"""What regressors and classifiers of nodes share: a graph, what is known, a solution.

A model is a pure function of its state: the graph, the known values, its parameters. Whatever
the order in which they came, the same state gives the same predictions; what is costly is made
when it is first needed, and made anew when the state has changed.
"""

import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gradraker.above import call
from gradraker.graph.names import check_same_type, distinct, positions, shown
from gradraker.learners.model_file import read_model
from gradraker.learners.nodes.blocks import (
    ExactBlocks,
    Kernel,
    RandomBlocks,
    Walks,
    kernel_of_distances,
    walks_of,
)
from gradraker.learners.nodes.choice import (
    Choice,
    candidate_kernels,
    checked_blocks,
    choose,
    given,
    the_mean,
)
from gradraker.learners.nodes.graphs import (
    KnownGraph,
    beside,
    found,
    graph_of,
    joined,
    with_nodes,
)
from gradraker.learners.nodes.lms import LmsSolution
from gradraker.learners.nodes.saved import restore_nodes, save_nodes
from gradraker.learners.nodes.solutions import KernelSolution, RidgeSolution, Solution
from gradraker.learners.nodes.values import has_names, names_of
from gradraker.learners.parameters import check_count, check_learning_rate, seed_from
from gradraker.learners.unchanged import unchanged_if_refused

# solver="auto" takes the exact kernel up to so many known nodes and so many pairs (all, known).
MOST_KNOWN = 2000
MOST_PAIRS = 20_000_000
SOLVERS: dict[type, str] = {KernelSolution: "kernel", RidgeSolution: "ridge", LmsSolution: "lms"}
# Known nodes that a choice is made on.
MOST_CHOSEN_ON = 1200


class NodeModel(BaseEstimator):
    """Fit, update and ask; subclasses say what a value is."""

    _graph: KnownGraph
    _given: NDArray[Any]  # [n]: the value or label of each node, or the mark of unknown

    def __init__(
        self,
        *,
        blocks: Any = "auto",
        width: float | str = "auto",
        alpha: float | str = "auto",
        solver: str = "auto",
        n_frequencies: int = 256,
        direction: str = "both",
        references: str = "all",
        renew: str = "always",
        learning_rate: float = 0.25,
        n_epochs: int = 3,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.blocks = blocks
        self.width = width
        self.alpha = alpha
        self.solver = solver
        self.n_frequencies = n_frequencies
        self.direction = direction
        self.references = references
        self.renew = renew
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.random_state = random_state

    # -- what a value is -------------------------------------------------------

    def _lined_up(self, values: Any, nodes: Any) -> NDArray[Any]:
        """Values in the order of nodes, unknown ones marked."""
        raise NotImplementedError

    def _nothing(self, n: int) -> NDArray[Any]:
        """Marks of n unknown values."""
        raise NotImplementedError

    def _is_known(self, given: NDArray[Any]) -> NDArray[np.bool_]:
        raise NotImplementedError

    def _encoded(self, known: NDArray[Any]) -> NDArray[np.float64]:
        """Known values as targets (N, K)."""
        raise NotImplementedError

    # -- training --------------------------------------------------------------

    @unchanged_if_refused
    def fit(
        self, graph: Any, values: Any, *, unknown_nodes: str = "error", **graph_options: Any
    ) -> Self:
        """Forget what was learned; learn a graph and the values that are known.

        Parameters
        ----------
        graph : any graph that :func:`gradraker.adjacency_vectors` takes
            Edges, a matrix, a mapping, a graph of another library, …
        values : mapping, Series, table, or array with NaN or None for unknown
            Known values; see :func:`gradraker.known_values`.
        unknown_nodes : {"error", "ignore", "isolated"}, default="error"
            What to do with values of nodes that the graph does not have: refuse them, leave
            them out, or take them for nodes without edges.
        **graph_options
            ``nodes``, ``weight``, ``self_loops``, ``duplicates``, ``names`` and ``kind`` of
            :func:`gradraker.adjacency_vectors`.

        Returns
        -------
        self
        """
        self._check_parameters()
        learned = graph_of(graph, graph_options)
        learned, news = self._news(learned, learned, values, unknown_nodes)
        if not self._is_known(news).any():
            raise ValueError(
                "values: no node of the graph has a known value; at least one is needed"
            )
        self._begin(learned, news)
        self._solved()
        return self

    @unchanged_if_refused
    def partial_fit(
        self,
        graph: Any = None,
        values: Any = None,
        *,
        unknown_nodes: str = "error",
        **graph_options: Any,
    ) -> Self:
        """Learn more edges, more nodes, more values; what is given again replaces the old.

        Parameters
        ----------
        graph : graph, optional
            Edges to add, in any form that :meth:`fit` takes; the whole grown graph will do.
            The weight of an edge that is given again replaces the old one.
        values : mapping, Series, table or array, optional
            Values to add. An array without names is in the order of the nodes of ``graph``, or
            of ``nodes_`` if there is none; NaN and None say nothing new.
        unknown_nodes : {"error", "ignore", "isolated"}, default="error"
            As in :meth:`fit`.
        **graph_options
            As in :meth:`fit`.

        Returns
        -------
        self

        Notes
        -----
        Nothing is computed until a prediction is asked for, and predictions depend on what was
        learned, not on the order or the cut into calls.
        """
        self._check_parameters()
        if graph is None and values is None:
            raise ValueError("partial_fit needs a graph or values, got None for both")
        if not self.__sklearn_is_fitted__():
            if graph is None:
                raise ValueError("the first call needs a graph, got None")
            learned = graph_of(graph, graph_options)
            news = self._nothing(len(learned.nodes))
            if values is not None:
                learned, news = self._news(learned, learned, values, unknown_nodes)
            self._begin(learned, self._nothing(len(learned.nodes)))
            self._take(learned, news)
            return self
        learned = added = self._graph
        if graph is not None:
            added = graph_of(graph, graph_options)
            learned = joined(self._graph, added)
        news = self._nothing(len(learned.nodes))
        if values is not None:
            learned, news = self._news(learned, added, values, unknown_nodes)
        if graph is not None or len(learned.nodes) > len(self._graph.nodes):
            self._blocks = self._solution = None
        self._take(learned, news)
        return self

    def _take(self, graph: KnownGraph, news: NDArray[Any]) -> None:
        """Take a graph that has grown, and values that are new or changed."""
        kept = self._nothing(len(graph.nodes))
        kept[: self._given.size] = self._given
        came = np.flatnonzero(self._is_known(news))
        again = self._is_known(kept)[came]
        kept[came] = news[came]
        self._graph, self._given = graph, kept
        self._arrived = np.concatenate([self._arrived, came[~again]])
        self._is_current = self._choice_is_current = False

    def _begin(self, graph: KnownGraph, values: NDArray[Any]) -> None:
        self.seed_ = seed_from(self.random_state)
        self._graph, self._given = graph, values
        self._arrived = np.empty(0, dtype=np.int64)  # known nodes that came after fit
        self._choice: Choice | None = None
        self._choice_is_current = False
        self._n_at_choice = 0
        self._blocks: Any = None
        self._solution: Any = None
        self._is_current = False

    def _news(
        self, graph: KnownGraph, added: KnownGraph, values: Any, unknown_nodes: str
    ) -> tuple[KnownGraph, NDArray[Any]]:
        """The graph, with isolated nodes if asked for, and values in the order of its nodes."""
        if unknown_nodes not in ("error", "ignore", "isolated"):
            raise ValueError(
                f"unknown_nodes must be 'error', 'ignore' or 'isolated', got {unknown_nodes!r}"
            )
        if not has_names(values):
            aligned = self._lined_up(values, added.nodes)
            news = self._nothing(len(graph.nodes))
            news[positions(added.nodes, graph.nodes)] = aligned
            return graph, news
        names = names_of(values)
        assert names is not None
        listed, _ = distinct([names])
        unknown = listed[positions(listed, graph.nodes) < 0]
        everyone = graph
        if len(unknown):
            check_same_type(unknown, graph.nodes, argument="values")
            if unknown_nodes == "error":
                raise ValueError(
                    f"values holds nodes that are not in the graph: {shown(unknown)}; pass "
                    "unknown_nodes='ignore' to leave them out, or 'isolated' to take them for "
                    "nodes without edges"
                )
            everyone = with_nodes(graph, unknown)
        news = self._lined_up(values, everyone.nodes)
        return (
            (everyone, news)
            if unknown_nodes == "isolated"
            else (graph, news[: len(graph.nodes)])
        )

    # -- the solution ----------------------------------------------------------

    def _solved(self) -> Solution:
        """The solution for the present state."""
        if self._is_current:
            return self._solution  # type: ignore[no-any-return]
        first = self._is_known(self._given)
        first[self._arrived] = False
        known = np.concatenate([np.flatnonzero(first), self._arrived])
        if known.size == 0:
            raise ValueError("no value is known yet: give values to partial_fit first")
        if self.references == "known":
            self._blocks = self._solution = None  # walks depend on which nodes are known
        exact = self._takes_kernel(known.size)
        if self._blocks is None or isinstance(self._blocks, ExactBlocks) != exact:
            self._blocks = self._made_blocks(known, exact)
            self._solution = None
        Y = self._encoded(self._given[known])
        if self._needs_choice(known.size):
            self._choice = self._chosen(known, Y)
            self._n_at_choice = known.size
            self._solution = None
        self._choice_is_current = True
        assert self._choice is not None
        if self._solution is None or self._solution.Y.shape[1] != Y.shape[1]:
            self._solution = self._new_solution(known, Y, self._choice)
        elif known.size > self._solution.known.size:  # known nodes come in the order of arrival
            self._solution.grow(known[self._solution.known.size :], Y)
        else:
            self._solution.set_values(Y)
        self._is_current = True
        return self._solution  # type: ignore[no-any-return]

    def _new_solution(
        self, known: NDArray[np.int64], Y: NDArray[np.float64], choice: Choice
    ) -> Solution:
        if isinstance(self._blocks, ExactBlocks):
            return KernelSolution(self._blocks, known, Y, choice)
        if self.solver != "lms":
            return RidgeSolution(self._blocks, known, Y, choice)
        return LmsSolution(
            self._blocks,
            known,
            Y,
            choice,
            n_first=known.size - self._arrived.size,
            learning_rate=self.learning_rate,
            n_epochs=self.n_epochs,
        )

    def _takes_kernel(self, n_known: int) -> bool:
        if self.solver != "auto":
            return self.solver == "kernel"
        return n_known <= MOST_KNOWN and n_known * len(self._graph.nodes) <= MOST_PAIRS

    def _walks(
        self,
        graph: KnownGraph,
        known: NDArray[np.int64],
        new: NDArray[np.int64] | None = None,
        n_old: int | None = None,
    ) -> Walks:
        hidden = np.zeros(len(graph.nodes), dtype=np.bool_)
        if self.references == "known":
            hidden[:] = True
            hidden[known] = False
        if new is not None:
            hidden[new] = True
        return walks_of(
            graph.A, graph.nodes, direction=self.direction, seed=self.seed_, hidden=hidden,
            n_old=n_old,
        )

    def _made_blocks(self, known: NDArray[np.int64], exact: bool) -> ExactBlocks | RandomBlocks:
        walks = self._walks(self._graph, known)
        return ExactBlocks(walks) if exact else RandomBlocks(walks, self.n_frequencies)

    def _needs_choice(self, n_known: int) -> bool:
        if self._choice is None or self._choice_is_current:
            return self._choice is None
        if self._is_given():  # unless there was nothing to learn but the mean
            return not self._choice.best.kernel
        return self.renew == "always" or n_known >= 2 * self._n_at_choice

    def _is_given(self) -> bool:
        """Whether nothing is left to choose."""
        parameters = (checked_blocks(self.blocks), self.width, self.alpha)
        return not any(isinstance(value, str) for value in parameters)

    def _chosen(self, known: NDArray[np.int64], Y: NDArray[np.float64]) -> Choice:
        blocks = checked_blocks(self.blocks)
        if known.size == 1 or np.all(Y == Y[0]):
            return the_mean(known.size)
        if self._is_given():
            return given(blocks, float(self.width), float(self.alpha))
        rank = np.empty(self._blocks.walks.n, dtype=np.int64)
        rank[self._blocks.walks.order] = np.arange(rank.size)
        some = np.sort(np.argsort(rank[known])[:MOST_CHOSEN_ON])
        return choose(
            _KernelMatrices(self._blocks, known[some]),
            Y[some],
            candidate_kernels(blocks, self.width),
            self.alpha,
        )

    # -- asking ----------------------------------------------------------------

    @property
    def nodes_(self) -> NDArray[Any]:
        """Names of all nodes of the graph, in the order in which they came."""
        check_is_fitted(self)
        return self._graph.nodes

    @property
    def known_nodes_(self) -> NDArray[Any]:
        """Names of the nodes whose values are known, in the order of ``nodes_``."""
        check_is_fitted(self)
        return self._graph.nodes[self._is_known(self._given)]

    @property
    def unknown_nodes_(self) -> NDArray[Any]:
        """Names of the other nodes, in the order of ``nodes_``: what ``predict()`` predicts."""
        check_is_fitted(self)
        return self._graph.nodes[~self._is_known(self._given)]

    @property
    def adjacency_(self) -> csr_array:
        """The edges that were learned, (n, n): row i holds the edges out of ``nodes_[i]``."""
        check_is_fitted(self)
        return self._graph.A

    @property
    def choice_(self) -> Choice:
        """What was chosen, and how the candidates fared."""
        check_is_fitted(self)
        self._solved()
        assert self._choice is not None
        return self._choice

    @property
    def blocks_(self) -> tuple[str, ...]:
        """Blocks in use; none if the mean of the known values is all there is to say."""
        return self.choice_.best.blocks

    @property
    def width_(self) -> float:
        """Width w in use; infinite for the mean."""
        kernel = self.choice_.best.kernel
        return kernel[0].width if kernel else np.inf

    @property
    def alpha_(self) -> float:
        """Penalty α in use; infinite for the mean."""
        return self.choice_.best.alpha

    @property
    def solver_(self) -> str:
        """The solver in use."""
        check_is_fitted(self)
        return SOLVERS[type(self._solved())]

    def explain(self, nodes: Any = None) -> Any:
        """Explain predictions exactly, as weighted sums of the known values.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph; default all whose values are not known.

        Returns
        -------
        gradraker.analysis.LinearExplanation
            ``weights @ values`` equals ``prediction``; the weights of a prediction sum to 1.
        """
        return call("analysis", "explain_nodes", self, nodes)

    def _rows(self, nodes: Any) -> NDArray[np.int64]:
        check_is_fitted(self)
        if nodes is None:
            return np.flatnonzero(~self._is_known(self._given))
        return found(nodes, self._graph)

    def _new_rows(
        self, links: Any, options: dict[str, Any]
    ) -> tuple[list[Hashable], NDArray[np.int64], Any]:
        """Names of new nodes, their rows, and blocks that hold them beside the graph."""
        check_is_fitted(self)
        solution = self._solved()
        n_old = len(self._graph.nodes)
        extended = beside(self._graph, links, options)
        rows = np.arange(n_old, len(extended.nodes))
        walks = self._walks(extended, solution.known, rows, n_old)
        names: list[Hashable] = extended.nodes[rows].tolist()
        if isinstance(self._blocks, ExactBlocks):
            return names, rows, ExactBlocks(walks, self._blocks.medians)
        return names, np.arange(rows.size), self._blocks.beside(walks, rows)

    def _evidence(self, nodes: Any) -> tuple[Any, ...]:
        """Names and rows of asked and known nodes, for explanations."""
        rows = self._rows(nodes)
        solution = self._solved()
        names = self._graph.nodes
        return rows, solution, names[rows].tolist(), names[solution.known].tolist()

    # -- files -----------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> Path:
        """Write the model to a file, whole or not at all, without pickle.

        The file holds the graph, what is known and what was chosen; :func:`gradraker.load`
        reads it.

        Parameters
        ----------
        path : path-like
            Where to write; an older file is replaced.
        notes : dict, optional
            What else to keep: anything that JSON can hold.

        Returns
        -------
        Path
        """
        check_is_fitted(self)
        self._check_parameters()
        return save_nodes(self, path, notes or {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a model that :meth:`save` wrote."""
        return cls._restored(path, *read_model(path))

    @classmethod
    def _restored(
        cls,
        path: str | os.PathLike[str],
        header: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
    ) -> Self:
        return cast(Self, restore_nodes(cls, path, header, arrays))

    # -- parameters ------------------------------------------------------------

    def _check_parameters(self) -> None:
        checked_blocks(self.blocks)
        for name in ("width", "alpha"):
            _check_positive(name, getattr(self, name))
        choices = {
            "solver": ("auto", "kernel", "ridge", "lms"),
            "direction": ("both", "out", "in"),
            "references": ("all", "known"),
            "renew": ("always", "doubled"),
        }
        for name, allowed in choices.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}"
                )
        check_count("n_frequencies", self.n_frequencies)
        check_learning_rate(self.learning_rate)
        check_count("n_epochs", self.n_epochs)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_graph")


class _KernelMatrices:
    """Kernel matrices of some nodes, from distances or features that are made once."""

    def __init__(self, blocks: ExactBlocks | RandomBlocks, rows: NDArray[np.int64]) -> None:
        self.blocks, self.rows = blocks, rows
        self._distances: dict[str, NDArray[np.float64]] = {}

    def __call__(self, kernel: Kernel) -> NDArray[np.float64]:
        if isinstance(self.blocks, RandomBlocks):
            Z = self.blocks.features(kernel, self.rows)
            return np.asarray(Z @ Z.T)
        for term in kernel:
            if term.block not in self._distances:
                self._distances[term.block] = self.blocks.distances(
                    term.block, self.rows, self.rows
                )
        return kernel_of_distances(self._distances, kernel)


def _check_positive(name: str, value: Any) -> None:
    if isinstance(value, str) and value == "auto":
        return
    number = isinstance(value, float | int | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0.0 < value < np.inf:
        raise ValueError(f"{name} must be 'auto' or a positive number, got {value!r}")


def left_out_predictions(
    solution: Solution, rows: NDArray[np.int64], predictions: NDArray[np.float64], at: Any
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield (rows, ŷ_{−i}(x)) for the nodes i whose residuals the solution has."""
    for some, shift in solution.shifts(rows, at):
        yield some, predictions[some, np.newaxis] - shift
