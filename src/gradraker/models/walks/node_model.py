"""What regressors and classifiers of nodes share: a graph, what is known, a solution.

A model is a function of its state: the graph, the known values, its parameters. Whatever the
order in which they came, the same state gives the same predictions; what is costly is made when
it is first needed, and made anew when the state has changed.
"""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import check_count, check_learning_rate, seed_from
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.node_graph import KnownGraph, beside, found, graph_of, joined
from gradraker.graph.node_values import lined_up
from gradraker.models.rows.rollback import unchanged_if_refused
from gradraker.models.walks.averaged_lms import LmsSolution
from gradraker.models.walks.blocks import ExactBlocks, RandomBlocks, Term, Walks, walks_of
from gradraker.models.walks.choice import Choice
from gradraker.models.walks.node_file import FileMixin
from gradraker.models.walks.selection import Blocks, checked_given, chosen
from gradraker.models.walks.solutions import KernelSolution, RidgeSolution, Solution

# solver="auto" takes the exact kernel up to so many known nodes and so many pairs (all, known).
MOST_KNOWN = 2000
MOST_PAIRS = 20_000_000
_ALLOWED = {
    "solver": ("auto", "kernel", "ridge", "lms"),
    "direction": ("both", "out", "in"),
    "references": ("all", "known"),
    "renew": ("always", "doubled"),
}


class NodeModel(FileMixin, BaseEstimator):
    """Fit, update and ask; subclasses say what a value is."""

    _graph: KnownGraph
    _given: NDArray[Any]  # [n]: the value or label of each node, or the mark of unknown
    _arrived: NDArray[np.int64]  # known nodes that came after fit, in their order
    _choice: Choice | None
    _choice_is_current: bool
    _n_at_choice: int
    _blocks: Blocks | None
    _solution: Solution | None
    _is_current: bool

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
        n_epochs: int = 5,
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

    def _in_order(self, values: Any, nodes: Any) -> NDArray[Any]:
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

    def _as_given(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Targets (n, K) in the shape that a user gave: one axis for a single number."""
        return targets

    # -- training --------------------------------------------------------------

    @unchanged_if_refused
    def fit(
        self, /, graph: Any, values: Any, *, unknown_nodes: str = "error", **graph_options: Any
    ) -> Self:
        """Forget what was learned; learn a graph and the values that are known.

        Parameters
        ----------
        graph : any graph that :func:`gradraker.adjacency_vectors` takes
            Edges, a matrix, a mapping, a graph of another library, …
        values : mapping, Series, table, or array with NaN or None for unknown
            Known values; see :func:`gradraker.graph.known_values`.
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
        learned, news = lined_up(self, learned, learned, values, unknown_nodes)
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
        /,
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
        Nothing is computed until a prediction is asked for. With ``renew="always"``, predictions
        depend on what was learned and not on the order or the cut into calls (but for the
        solver "lms", which learns nodes in the order in which they came).
        """
        self._check_parameters()
        if graph is None and values is None:
            raise ValueError("partial_fit needs a graph or values, got None for both")
        is_first = not self.__sklearn_is_fitted__()
        if is_first and graph is None:
            raise ValueError("the first call needs a graph, got None")
        if graph is None:
            learned = added = self._graph
        else:
            added = graph_of(graph, graph_options)
            learned = added if is_first else joined(self._graph, added)
        news = self._nothing(len(learned.nodes))
        if values is not None:
            learned, news = lined_up(self, learned, added, values, unknown_nodes)
        if is_first:
            self._begin(learned, self._nothing(len(learned.nodes)))
        elif graph is not None or len(learned.nodes) > len(self._graph.nodes):
            self._blocks = self._solution = None
        self._take(learned, news)
        return self

    def _begin(self, graph: KnownGraph, values: NDArray[Any]) -> None:
        self.seed_ = seed_from(self.random_state)
        self._graph, self._given = graph, values
        self._arrived = np.empty(0, dtype=np.int64)
        self._choice, self._n_at_choice = None, 0
        self._blocks = self._solution = None
        self._is_current = self._choice_is_current = False

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

    # -- the solution ----------------------------------------------------------

    def _solved(self) -> Solution:
        """The solution for the present state."""
        if self._is_current and self._solution is not None:
            return self._solution
        first = self._is_known(self._given)
        first[self._arrived] = False
        known = np.concatenate([np.flatnonzero(first), self._arrived])
        if known.size == 0:
            raise ValueError("no value is known yet: give values to partial_fit first")
        blocks = self._made_blocks(known)
        Y = self._encoded(self._given[known])
        if self._choice is None or self._is_outdated(self._choice, known.size):
            given = checked_given(self.blocks, self.width, self.alpha)
            A = self._graph.A
            is_directed = self.direction == "both" and abs(A - A.T).sum() > 0.0
            self._choice = chosen(given, blocks, known, Y, is_directed=is_directed)
            self._n_at_choice = known.size
            self._solution = None
        self._choice_is_current = True
        if self._solution is None or self._solution.Y.shape[1] != Y.shape[1]:
            self._solution = self._new_solution(blocks, known, Y, self._choice)
        elif known.size > self._solution.known.size:  # known nodes come in the order of arrival
            self._solution.grow(known[self._solution.known.size :], Y)
        else:
            self._solution.set_values(Y)
        self._is_current = True
        return self._solution

    def _made_blocks(self, known: NDArray[np.int64]) -> Blocks:
        """The blocks of the graph; those there are if they still hold."""
        if self.solver == "auto":
            pairs = known.size * len(self._graph.nodes)
            exact = known.size <= MOST_KNOWN and pairs <= MOST_PAIRS
        else:
            exact = self.solver == "kernel"
        holds = self.references == "all" and isinstance(self._blocks, ExactBlocks) == exact
        if self._blocks is None or not holds:
            walks = self._walks(self._graph, known)
            self._blocks = ExactBlocks(walks) if exact else RandomBlocks(walks, self.n_frequencies)
            self._solution = None
        return self._blocks

    def _walks(
        self, graph: KnownGraph, known: NDArray[np.int64], *, n_old: int | None = None
    ) -> Walks:
        """The walks of a graph; nodes from ``n_old`` on are new, and nobody sees them."""
        hidden = np.full(len(graph.nodes), self.references == "known", dtype=np.bool_)
        hidden[known] = False
        if n_old is not None:
            hidden[n_old:] = True
        return walks_of(
            graph.A,
            graph.nodes,
            direction=self.direction,
            seed=self.seed_,
            hidden=hidden,
            n_old=n_old,
        )

    def _is_outdated(self, choice: Choice, n_known: int) -> bool:
        if self._choice_is_current:
            return False
        if checked_given(self.blocks, self.width, self.alpha).is_all:
            return not choice.kernel  # there may be more to learn now than the mean
        return self.renew == "always" or n_known >= 2 * self._n_at_choice

    def _new_solution(
        self, blocks: Blocks, known: NDArray[np.int64], Y: NDArray[np.float64], choice: Choice
    ) -> Solution:
        # With more features than known nodes, ridge is solved by the nodes: the same predictions.
        n_features = 2 * self.n_frequencies * len(choice.kernel)
        if isinstance(blocks, ExactBlocks) or (self.solver != "lms" and known.size < n_features):
            return KernelSolution(blocks, known, Y, choice)
        if self.solver != "lms":
            return RidgeSolution(blocks, known, Y, choice)
        return LmsSolution(
            blocks,
            known,
            Y,
            choice,
            n_first=known.size - self._arrived.size,
            learning_rate=self.learning_rate,
            n_epochs=self.n_epochs,
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
        return self.choice_.blocks

    @property
    def kernel_(self) -> tuple[Term, ...]:
        """Terms (block, width, share) of the kernel in use; none for the mean."""
        return self.choice_.kernel

    @property
    def alpha_(self) -> float:
        """Penalty α in use; infinite for the mean."""
        return self.choice_.alpha

    @property
    def solver_(self) -> str:
        """The solver in use."""
        check_is_fitted(self)
        solution = self._solved()
        if isinstance(solution, LmsSolution):
            return "lms"
        return "kernel" if isinstance(solution.blocks, ExactBlocks) else "ridge"

    def explain(self, nodes: Any = None) -> LinearExplanation:
        """Explain predictions exactly, as weighted sums of the known values.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph; default all whose values are not known.

        Returns
        -------
        LinearExplanation
            ``weights @ values`` equals ``prediction``; the weights of a prediction sum to 1.
            ``values`` are the known values, or for classes 1 in the column of a node's class (in
            the order of ``classes_``) and 0 elsewhere; ``prediction`` are predictions or scores.

        Examples
        --------
        >>> from gradraker import NodeRegressor
        >>> links = {"a": ["x", "y"], "b": ["x", "y"], "c": ["u", "v"], "d": ["u", "v"]}
        >>> model = NodeRegressor().fit(links, {"a": 1.0, "b": 1.0, "c": 9.0, "d": 8.0})
        >>> found = model.explain(["x", "u"])
        >>> bool(abs(found.weights @ found.values - found.prediction).max() < 1e-10)
        True
        """
        rows, solution = self._rows(nodes), self._solved()
        values, prediction = self._as_given(solution.Y), self._as_given(solution.predictions(rows))
        return LinearExplanation(
            weights=solution.weights(rows),
            values=values,
            prediction=prediction,
            node_names=self.nodes_[rows].tolist(),
            observed_names=self.nodes_[solution.known].tolist(),
        )

    def _rows(self, nodes: Any) -> NDArray[np.int64]:
        check_is_fitted(self)
        if nodes is None:
            return np.flatnonzero(~self._is_known(self._given))
        return found(nodes, self._graph)

    def _new_rows(
        self, links: Any, options: dict[str, Any]
    ) -> tuple[list[Hashable], NDArray[np.int64], Blocks]:
        """Names of new nodes, their rows, and blocks that hold them beside the graph."""
        check_is_fitted(self)
        solution = self._solved()
        n_old = len(self._graph.nodes)
        extended = beside(self._graph, links, options)
        rows = np.arange(n_old, len(extended.nodes))
        walks = self._walks(extended, solution.known, n_old=n_old)
        names: list[Hashable] = extended.nodes[rows].tolist()
        if isinstance(self._blocks, RandomBlocks):
            return names, np.arange(rows.size), self._blocks.beside(walks, rows)
        assert self._blocks is not None
        return names, rows, ExactBlocks(walks, self._blocks.medians)

    # -- parameters ------------------------------------------------------------

    def _check_parameters(self) -> None:
        checked_given(self.blocks, self.width, self.alpha)
        for name, allowed in _ALLOWED.items():
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
