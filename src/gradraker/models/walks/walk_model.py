"""What node models for numbers and for classes share: blocks, a choice, a solution.

A model is a function of its state: the graph, the known values, its parameters. The same state
gives the same predictions, whatever the order in which it came together. Costly parts are
computed when they are first needed, and computed again when the state has changed.
"""

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import check_choice, check_count, check_learning_rate
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.graph.node_graph import NodeGraph, append_new_nodes
from gradraker.models.bounds import (
    COUNT_OF_EPOCHS,
    COUNT_OF_FREQUENCIES,
    NOT_NEGATIVE,
    Bounds,
)
from gradraker.models.node_model import NodeModel
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.walks.averaged_lms import LmsSolution
from gradraker.models.walks.blocks import ExactBlocks, RandomBlocks, Term, Walks, walks_of
from gradraker.models.walks.choice import Choice
from gradraker.models.walks.choice_state import dump_choice, restore_choice
from gradraker.models.walks.selection import Blocks, checked_given, chosen
from gradraker.models.walks.solutions import KernelSolution, RidgeSolution, Solution

# solver="auto" takes the exact kernel up to so many known nodes and so many pairs (all, known).
MOST_KNOWN = 2000
MOST_PAIRS = 20_000_000
_ALLOWED = {
    "solver": ("auto", "kernel", "ridge", "lms"),
    "direction": ("both", "out", "in"),
    "neighbours": ("all", "known"),
    "reselect": ("always", "doubled"),
}


class WalkModel(NodeModel):
    """Nodes compared by where walks from them lead; subclasses say how to encode a value."""

    method = "nodes"
    bounds: ClassVar[Bounds] = {
        "width": NOT_NEGATIVE,
        "alpha": NOT_NEGATIVE,
        "n_frequencies": COUNT_OF_FREQUENCIES,
        "learning_rate": (0.0, 1.0),
        "n_epochs": COUNT_OF_EPOCHS,
    }

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
        neighbours: str = "all",
        reselect: str = "always",
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
        self.neighbours = neighbours
        self.reselect = reselect
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.random_state = random_state

    def _encode(self, known: NDArray[Any]) -> NDArray[np.float64]:
        """Known values as targets (N, K)."""
        raise NotImplementedError

    def _decode(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Targets (n, K) in the shape that a user gave: one axis for a single number."""
        return targets

    # -- training --------------------------------------------------------------

    def _reset(self) -> None:
        self._choice, self._n_at_choice = None, 0
        self._blocks = self._solution = None
        self._is_current = self._choice_is_current = False

    def _learn_all(self) -> None:
        self._get_solution()

    def _learn_changes(self, changed: NDArray[np.int64], *, graph_grew: bool) -> None:
        # Nothing is computed until a prediction is asked for.
        if graph_grew:
            self._blocks = self._solution = None
        self._is_current = self._choice_is_current = False

    # -- the solution ----------------------------------------------------------

    def _get_solution(self) -> Solution:
        """The solution for the present state."""
        if self._is_current and self._solution is not None:
            return self._solution
        first = self._is_known.copy()
        first[self._arrived] = False
        known = np.concatenate([np.flatnonzero(first), self._arrived])
        if known.size == 0:
            raise ValueError("no value is known yet: give values to partial_fit first")
        blocks = self._get_blocks(known)
        Y = self._encode(self._values[known])
        if self._choice is None or self._is_outdated(self._choice, known.size):
            given = checked_given(self.blocks, self.width, self.alpha)
            A = self._graph.adjacency
            is_directed = self.direction == "both" and abs(A - A.T).sum() > 0.0
            self._choice = chosen(given, blocks, known, Y, is_directed=is_directed)
            self._n_at_choice = known.size
            self._solution = None
        self._choice_is_current = True
        if self._solution is None or self._solution.Y.shape[1] != Y.shape[1]:
            self._solution = self._make_solution(blocks, known, Y, self._choice)
        elif known.size > self._solution.known.size:  # known nodes come in the order of arrival
            self._solution.grow(known[self._solution.known.size :], Y)
        else:
            self._solution.set_values(Y)
        self._is_current = True
        return self._solution

    def _get_blocks(self, known: NDArray[np.int64]) -> Blocks:
        """The blocks of the graph, made again if they no longer hold."""
        if self.solver == "auto":
            pairs = known.size * len(self._graph.nodes)
            exact = known.size <= MOST_KNOWN and pairs <= MOST_PAIRS
        else:
            exact = self.solver == "kernel"
        holds = self.neighbours == "all" and isinstance(self._blocks, ExactBlocks) == exact
        if self._blocks is None or not holds:
            walks = self._make_walks(self._graph, known)
            self._blocks = ExactBlocks(walks) if exact else RandomBlocks(walks, self.n_frequencies)
            self._solution = None
        return self._blocks

    def _make_walks(
        self, graph: NodeGraph, known: NDArray[np.int64], *, n_old: int | None = None
    ) -> Walks:
        """The walks of a graph; nodes from ``n_old`` on are new and hidden from all others."""
        hidden = np.full(len(graph.nodes), self.neighbours == "known", dtype=np.bool_)
        hidden[known] = False
        if n_old is not None:
            hidden[n_old:] = True
        return walks_of(
            graph.adjacency,
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
        return self.reselect == "always" or n_known >= 2 * self._n_at_choice

    def _make_solution(
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

    # -- predictions -------------------------------------------------------------

    @property
    def choice_(self) -> Choice:
        """What was chosen, and how the candidates fared."""
        check_is_fitted(self)
        self._get_solution()
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
        solution = self._get_solution()
        if isinstance(solution, LmsSolution):
            return "lms"
        return "kernel" if isinstance(solution.blocks, ExactBlocks) else "ridge"

    def explain(self, nodes: Any = None, *, left_out: bool = False) -> LinearExplanation:
        """Explain predictions exactly, as weighted sums of the known values.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph; default all whose values are not known.
        left_out : bool, default=False
            Whether to explain what is predicted for known nodes without their own values;
            ``nodes`` must then be known, and default to all that are.

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
        if left_out:
            return self._explain_left_out(nodes)
        rows, solution = self._find_rows(nodes), self._get_solution()
        values, prediction = self._decode(solution.Y), self._decode(solution.predictions(rows))
        return LinearExplanation(
            weights=solution.weights(rows),
            values=values,
            prediction=prediction,
            node_names=self.nodes_[rows].tolist(),
            known_names=self.nodes_[solution.known].tolist(),
        )

    def _explain_left_out(self, nodes: Any) -> LinearExplanation:
        """A node's left-out weights are those of its prediction, without its own, over the rest."""
        rows = np.flatnonzero(self._is_known) if nodes is None else self._find_rows(nodes)
        solution = self._get_solution()
        columns = {row: i for i, row in enumerate(solution.known.tolist())}
        for row in rows.tolist():
            if row not in columns:
                raise ValueError(
                    f"nodes holds {self.nodes_[row]!r}, whose value is unknown: only known nodes "
                    "can be left out"
                )
        own = np.array([columns[row] for row in rows.tolist()], dtype=np.int64)
        weights = solution.weights(rows)  # [n, N]
        at = np.arange(rows.size), own
        weights /= (1.0 - weights[at])[:, np.newaxis]
        weights[at] = 0.0
        values = self._decode(solution.Y)
        return LinearExplanation(
            weights=weights,
            values=values,
            prediction=weights @ values,
            node_names=self.nodes_[rows].tolist(),
            known_names=self.nodes_[solution.known].tolist(),
        )

    def describe(self) -> dict[str, Any]:
        """Return what the model chose, and how other candidates fared."""
        parameters = self.get_params()
        settings = {name: parameters[name] for name in ("blocks", "width", "alpha", "solver")}
        return {
            "method": self.method,
            "choice": self.choice_.to_dict() | {"solver": self.solver_},
            "settings": settings | {"direction": self.direction, "seed": self.seed_},
        }

    def _append_rows(
        self, links: Any, options: dict[str, Any]
    ) -> tuple[list[Hashable], NDArray[np.int64], Blocks]:
        """Names of new nodes, their rows, and blocks that hold them beside the graph."""
        check_is_fitted(self)
        solution = self._get_solution()
        n_old = len(self._graph.nodes)
        extended = append_new_nodes(self._graph, links, options)
        rows = np.arange(n_old, len(extended.nodes))
        walks = self._make_walks(extended, solution.known, n_old=n_old)
        names: list[Hashable] = extended.nodes[rows].tolist()
        if isinstance(self._blocks, RandomBlocks):
            return names, np.arange(rows.size), self._blocks.beside(walks, rows)
        assert self._blocks is not None
        return names, rows, ExactBlocks(walks, self._blocks.medians)

    # -- parameters ------------------------------------------------------------

    def _check_parameters(self) -> None:
        checked_given(self.blocks, self.width, self.alpha)
        for name, allowed in _ALLOWED.items():
            check_choice(name, getattr(self, name), allowed)
        check_count("n_frequencies", self.n_frequencies)
        check_learning_rate(self.learning_rate)
        check_count("n_epochs", self.n_epochs)

    # -- files -----------------------------------------------------------------

    def _dump_state(self) -> tuple[State, Arrays]:
        choice = None if self._choice is None else dump_choice(self._choice)
        state = {
            "choice": choice,
            "choice_is_current": self._choice_is_current,
            "n_at_choice": self._n_at_choice,
        }
        return state, {}

    def _restore_state(self, state: State, arrays: Arrays) -> None:
        if state["choice"] is not None:
            self._choice = restore_choice(state["choice"])
            self._choice_is_current = bool(state["choice_is_current"])
            self._n_at_choice = int(state["n_at_choice"])
