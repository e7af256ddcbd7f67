"""What node models for numbers and for classes share: a description, a choice, a solution.

A model is a function of its state: the graph, the known values, its parameters and the number of
values at which it chose. The same state gives the same predictions, whatever the order in which it
came together. Costly parts are computed when they are first needed, and computed again when the
state has changed.
"""

import warnings
from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import NOT_NEGATIVE, Bounds, check_choice
from gradraker.attributes.alignment import append_described_nodes, warn_of_leaks
from gradraker.attributes.table import AttributeTable
from gradraker.exceptions import DeviceMemoryError, DeviceWarning
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.features.engine import DEVICES, Engine, choose_engine, report_memory
from gradraker.features.engines.disk import DiskEngine
from gradraker.features.walks import WalkMatrices, Walks, describe_walks
from gradraker.graph.edges import is_symmetric
from gradraker.graph.names import identify_references
from gradraker.graph.node_graph import NodeGraph, find_new_links
from gradraker.models.node_model import NodeModel
from gradraker.models.persistence.saving import Arrays, State, check_int
from gradraker.models.walks.attributes.coefficients import AttributeCoefficients
from gradraker.models.walks.attributes.rows import AttributeRows
from gradraker.models.walks.choice import (
    ATTRIBUTE_BLOCKS,
    Choice,
    Term,
    check_parameters,
    check_tolerance,
    dump_choice,
    restore_choice,
)
from gradraker.models.walks.exact.blocks import ExactBlocks
from gradraker.models.walks.exact.kernel_choice import choose_exactly
from gradraker.models.walks.iterative.operator_solution import OperatorSolution
from gradraker.models.walks.iterative.selection import Selection, choose_operators
from gradraker.models.walks.iterative.warm_start import (
    WarmStart,
    dump_solution,
    dump_warm_start,
    keep_warm,
    restore_warm_start,
    start_solution,
)
from gradraker.models.walks.operators.operators import MOST_COLUMNS, Operators
from gradraker.models.walks.solution import KernelSolution, Solution
from gradraker.models.walks.targets.target_view import find_known_positions

# solver="auto" takes exact kernels up to so many nodes.
MOST_EXACT_NODES = 5000
# reselect="auto" chooses again for each question up to so many known values, then at powers of 2.
MOST_RESELECTED = 256
# Products in single precision are good for residuals down to this.
_SINGLE_PRECISION = 1e-5
_ALLOWED = {
    "solver": ("auto", "exact", "operators"),
    "direction": ("both", "out", "in"),
    "neighbours": ("all", "known"),
    "reselect": ("auto", "always", "doubled"),
    "device": DEVICES,
    "dtype": ("auto", "float32", "float64"),
}


class WalkModel(NodeModel):
    """Nodes compared by where walks from them lead; subclasses say how to encode a value."""

    method = "nodes"
    takes_attributes = True
    takes_sample_weight = True
    # Whether targets are one-hot classes.
    are_classes = False
    bounds: ClassVar[Bounds] = {"width": NOT_NEGATIVE, "alpha": NOT_NEGATIVE, "tol": (1e-12, 0.1)}

    _choice: Choice | None
    _choice_is_current: bool
    _n_at_choice: int
    _description: ExactBlocks | Operators | None
    _solution: Solution | None
    _is_current: bool
    _warm: WarmStart | None
    # Whether the GPU's memory turned out too small for device="auto".
    _is_without_room = False

    def __init__(
        self,
        *,
        blocks: Any = "auto",
        width: float | str = "auto",
        alpha: float | str = "auto",
        solver: str = "auto",
        direction: str = "both",
        neighbours: str = "all",
        reselect: str = "auto",
        tol: float = 1e-3,
        device: str = "cpu",
        dtype: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.blocks = blocks
        self.width = width
        self.alpha = alpha
        self.solver = solver
        self.direction = direction
        self.neighbours = neighbours
        self.reselect = reselect
        self.tol = tol
        self.device = device
        self.dtype = dtype
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
        self._description = self._solution = self._warm = None
        self._is_without_room = False
        self._is_current = self._choice_is_current = False

    def _learn_all(self) -> None:
        if self._attributes is not None:
            known = self._list_known()
            Y = self._encode(self._values[known])
            warn_of_leaks(self._attributes, known, Y, are_classes=self.are_classes)
        self._get_solution()

    def _learn_changes(self, changed: NDArray[np.int64], *, graph_grew: bool) -> None:
        # Nothing is computed until a prediction is asked for.
        if self._warm is not None:  # its products are those of the state before
            self._warm = self._warm._replace(products=None)
        if graph_grew:
            self._keep_warm()
            self._description = self._solution = None
        self._is_current = self._choice_is_current = False

    def _keep_warm(self) -> None:
        """Keep what the next solution of a graph that has grown starts from."""
        if isinstance(self._solution, OperatorSolution):
            self._warm = keep_warm(self._solution)

    # -- the solution ----------------------------------------------------------

    def _get_solution(self) -> Solution:
        """The solution for the present state; a lack of memory on the GPU leaves all as it was."""
        if self._is_current and self._solution is not None:
            return self._solution
        known = self._list_known()
        if known.size == 0:
            raise ValueError("no value is known yet: give values to partial_fit first")
        before = vars(self).copy()
        try:
            description = self._describe(known)
            n, n_entries = len(self._graph), self._graph.adjacency.nnz
            with report_memory(description.engine, n, n_entries):
                return self._update_solution(description, known)
        except DeviceMemoryError as error:
            self.__dict__.update(before)
            if self.device != "auto":
                raise
            warnings.warn(f"device='auto' takes the CPU: {error}", DeviceWarning, stacklevel=2)
            self._is_without_room, self._description = True, None
            return self._update_solution(self._describe(known), known)

    def _update_solution(
        self, description: ExactBlocks | Operators, known: NDArray[np.int64]
    ) -> Solution:
        """Choose if it is time to, and solve."""
        selected = None
        chooses = self._choice is None or self._is_outdated(self._choice, known.size)
        if chooses:
            selected = self._choose_targets(description, known)
            self._n_at_choice = known.size
            self._solution = self._warm = None
        self._choice_is_current = True
        Y = self._encode(self._values[known])
        if self._solution is None or not self._can_go_on(self._solution, Y):
            self._solution = self._make_solution(description, known, Y, selected)
            if chooses and isinstance(description, ExactBlocks):
                self._choose_offset(self._solution)
        elif known.size > self._solution.known.size:  # known nodes come in the order of arrival
            self._solution.grow(known[self._solution.known.size :], Y)
        else:
            self._solution.set_values(Y)
        self._is_current = True
        return self._solution

    def _can_go_on(self, solution: Solution, Y: NDArray[np.float64]) -> bool:
        """Whether a solution can take other values or more nodes."""
        return self._sample_weight is None and bool(solution.Y.shape[1] == Y.shape[1])

    def _get_trust(self, known: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Sample weights of known nodes, if there are any; their mean is 1 where α is chosen."""
        if self._sample_weight is None:
            return None
        weights = self._sample_weight[known]
        return weights if self.alpha != "auto" else np.asarray(weights / weights.mean())

    def _list_known(self) -> NDArray[np.int64]:
        """Known nodes: those of ``fit`` first, then the others in the order of arrival."""
        first = self._is_known.copy()
        first[self._arrived] = False
        return np.concatenate([np.flatnonzero(first), self._arrived])

    def _describe(self, known: NDArray[np.int64]) -> ExactBlocks | Operators:
        """The description of the graph, made again if it no longer holds."""
        exact = self.solver == "exact"
        if self.solver == "auto" and self._graph.folder is None:
            exact = len(self._graph.nodes) <= MOST_EXACT_NODES
        holds = self.neighbours == "all" and isinstance(self._description, ExactBlocks) == exact
        if self._description is None or not holds:
            walks = self._make_walks(self._graph, known)
            if exact:
                rows = self._make_attribute_rows(self._attributes, walks)
                engine = self._choose_engine()
                self._description = ExactBlocks(walks, attributes=rows, engine=engine)
            else:
                self._description = self._make_operators(walks)
            self._keep_warm()
            self._solution = None
        return self._description

    @staticmethod
    def _make_attribute_rows(
        table: AttributeTable | None, walks: Walks, most_columns: int | None = None
    ) -> AttributeRows | None:
        if table is None:
            return None
        return AttributeRows(table, walks, most_columns=most_columns)

    def _choose_engine(self) -> Engine:
        return choose_engine("cpu" if self._is_without_room else self.device)

    def _make_operators(self, walks: Walks) -> Operators:
        is_single = self.tol >= _SINGLE_PRECISION if self.dtype == "auto" else "32" in self.dtype
        dtype = np.float32 if is_single else np.float64
        engine = self._choose_engine()
        if self._graph.folder is not None and engine.name == "cpu":
            engine = DiskEngine()
        rows = self._make_attribute_rows(self._attributes, walks, MOST_COLUMNS)
        return Operators(walks, dtype=dtype, engine=engine, attributes=rows)

    def _make_walks(
        self, graph: NodeGraph, known: NDArray[np.int64], *, n_old: int | None = None
    ) -> Walks:
        """The walks of a graph; nodes from ``n_old`` on are new and hidden from all others."""
        if graph.folder is not None:
            return self._map_walks(graph)
        hidden = None
        if self.neighbours == "known" or n_old is not None:
            hidden = np.full(len(graph.nodes), self.neighbours == "known", dtype=np.bool_)
            hidden[known] = False
            hidden[len(graph.nodes) if n_old is None else n_old :] = True
        return describe_walks(
            graph.adjacency,
            graph.nodes,
            direction=self.direction,
            seed=self.seed_,
            hidden=hidden,
            n_old=n_old,
        )

    def _choose_targets(
        self, description: ExactBlocks | Operators, known: NDArray[np.int64]
    ) -> Selection | None:
        """Choose how values are encoded, where there is a choice, and a kernel for them."""
        return self._choose(description, known, self._encode(self._values[known]))

    def _map_walks(self, graph: NodeGraph) -> Walks:
        """The walks of a graph on disk, whose edges are both ways already."""
        if (self.direction, self.neighbours, self.solver == "exact") != ("both", "all", False):
            raise ValueError(
                "a graph on disk needs direction='both', neighbours='all' and solver='operators' "
                "or 'auto'"
            )
        A, n = graph.adjacency, len(graph)
        matrices = WalkMatrices(A, is_oriented=True, folder=graph.folder)
        return Walks(matrices, identify_references(graph.nodes), self.seed_, n)

    def _choose(
        self, description: ExactBlocks | Operators, known: NDArray[np.int64], Y: Any
    ) -> Selection | None:
        """Choose; return what a choice among operators computed, for the solution."""
        given = check_parameters(self.blocks, self.width, self.alpha)
        is_directed = (
            self.direction == "both"
            and self._graph.is_directed
            and not is_symmetric(self._graph.adjacency)
        )
        facts: dict[str, Any] = {
            "is_directed": is_directed,
            "are_classes": self.are_classes,
            "trust": self._get_trust(known),
        }
        if isinstance(description, ExactBlocks):
            self._choice = choose_exactly(given, description, known, Y, **facts)
            return None
        selected = choose_operators(given, description, known, Y, **facts)
        self._choice = selected.choice
        return selected

    def _choose_offset(self, solution: Solution) -> None:
        """Choose how much of its frequency the score of a class keeps; numbers have no offset."""

    def _is_outdated(self, choice: Choice, n_known: int) -> bool:
        if self._choice_is_current:
            return False
        if check_parameters(self.blocks, self.width, self.alpha).are_complete:
            return not choice.kernel  # there may be more to learn now than the mean
        return self._is_time_to_choose(n_known)

    def _is_time_to_choose(self, n_known: int) -> bool:
        if self.reselect == "always":
            return True
        if self.reselect == "auto" and n_known <= MOST_RESELECTED:
            return True
        # At each power of two, whatever the number of values that the model began with.
        return n_known.bit_length() > self._n_at_choice.bit_length()

    def _make_solution(
        self,
        description: ExactBlocks | Operators,
        known: NDArray[np.int64],
        Y: NDArray[np.float64],
        selected: Selection | None,
    ) -> Solution:
        assert self._choice is not None
        trust = self._get_trust(known)
        if isinstance(description, ExactBlocks):
            description.keep_products(known)
            solution = KernelSolution(description, known, Y, self._choice, trust)
            description.drop_known_kernel()
            return solution
        if self._warm is not None:
            warm, self._warm = self._warm, None
            return start_solution(
                warm, description, known, Y, self._choice, tol=self.tol, trust=trust
            )
        return OperatorSolution(
            description,
            known,
            Y,
            self._choice,
            tol=self.tol,
            assessment=None if selected is None else selected.assessment,
            n_assessed=self._n_at_choice,
            preconditioner=None if selected is None else selected.preconditioner,
            trust=trust,
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
        """Blocks in use; none if the model predicts the mean of the known values."""
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
    def device_(self) -> str:
        """The device in use: ``"cpu"`` or ``"cuda"``."""
        check_is_fitted(self)
        self._get_solution()
        assert self._description is not None
        return str(self._description.engine.name)

    @property
    def solver_(self) -> str:
        """The solver in use: ``"exact"`` or ``"operators"``."""
        check_is_fitted(self)
        self._get_solution()
        return "exact" if isinstance(self._description, ExactBlocks) else "operators"

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
        weights = solution.compute_weights(rows)
        scores = self._to_scores(solution.predict(rows))
        parts = solution.predict_parts(rows)
        return self._make_explanation(rows, weights, scores, parts.names, parts.values)

    def _explain_left_out(self, nodes: Any) -> LinearExplanation:
        rows = np.flatnonzero(self._is_known) if nodes is None else self._find_rows(nodes)
        solution = self._get_solution()
        own = find_known_positions(solution.known, rows, self.nodes_)
        weights = solution.compute_left_out_weights(own)
        return self._make_explanation(rows, weights, self._to_scores(weights @ solution.Y))

    def _make_explanation(
        self,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        scores: NDArray[np.float64],
        part_names: tuple[str, ...] = (),
        parts: NDArray[np.float64] | None = None,
    ) -> LinearExplanation:
        solution = self._get_solution()
        return LinearExplanation(
            weights=weights,
            values=self._decode(solution.Y),
            prediction=self._decode(scores),
            node_names=self.nodes_[rows].tolist(),
            known_names=self.nodes_[solution.known].tolist(),
            offset=self._to_scores(np.zeros((1, scores.shape[1])))[0] if self.are_classes else 0.0,
            part_names=part_names,
            parts=None if parts is None else parts if self.are_classes else parts[:, :, 0],
        )

    def _to_scores(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions (n, K) with the offset of each class."""
        return predictions

    def describe(self, *, target: Hashable = None) -> dict[str, Any]:
        """Return what the model chose, and how other candidates fared."""
        named = ("blocks", "width", "alpha", "solver", "direction", "tol", "device", "dtype")
        settings = {name: getattr(self, name) for name in named}
        return {
            "method": self.method,
            "choice": self.choice_.to_dict() | {"solver": self.solver_, "device": self.device_},
            "settings": settings | {"seed": self.seed_},
        } | self._describe_attributes()

    def _describe_attributes(self) -> dict[str, Any]:
        if self._attributes is None:
            return {}
        told = self._attributes.describe()
        return {"attributes": told | {"coefficients": self.coefficients_.to_dict()}}

    def _append_rows(
        self, links: Any, attributes: Any, options: dict[str, Any]
    ) -> tuple[list[Hashable], NDArray[np.int64], Any]:
        """Names of new nodes, their rows, and a description that holds them beside the graph."""
        check_is_fitted(self)
        solution = self._get_solution()
        n_old = len(self._graph.nodes)
        if isinstance(self._description, Operators) and self._attributes is attributes is None:
            found = find_new_links(self._graph, links, options)
            described = self._description.describe_new(found.out, found.into)
            return found.names.tolist(), np.arange(len(found.names)), described
        extended, table = append_described_nodes(
            self._graph, links, options, self._attributes, attributes
        )
        rows = np.arange(n_old, len(extended.nodes))
        names: list[Hashable] = extended.nodes[rows].tolist()
        if isinstance(self._description, Operators):
            out = extended.adjacency[n_old:, :n_old]
            into = extended.adjacency[:n_old, n_old:].T.tocsr()
            new = None if table is None else table.select(rows)
            return names, rows - n_old, self._description.describe_new(out, into, new)
        assert self._description is not None
        walks = self._make_walks(extended, solution.known, n_old=n_old)
        attribute_rows, old = self._make_attribute_rows(table, walks), self._description
        return names, rows, ExactBlocks(walks, old.medians, attribute_rows, old.engine)

    @property
    def coefficients_(self) -> AttributeCoefficients:
        """How linear terms count each attribute, and in which direction."""
        check_is_fitted(self)
        return self._get_solution().compute_coefficients()

    # -- parameters ------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_parameters(self.blocks, self.width, self.alpha)
        for name, allowed in _ALLOWED.items():
            check_choice(name, getattr(self, name), allowed)
        check_tolerance("tol", self.tol)

    # -- files -----------------------------------------------------------------

    def _dump_state(self) -> tuple[State, Arrays]:
        choice = None if self._choice is None else dump_choice(self._choice)
        state = {
            "choice": choice,
            "choice_is_current": self._choice_is_current,
            "n_at_choice": self._n_at_choice,
        }
        if self._is_current and isinstance(self._solution, OperatorSolution):
            more, arrays = dump_solution(self._solution)
        elif self._warm is not None and self._warm.products is not None:  # of a file, not used yet
            more, arrays = dump_warm_start(self._warm)
        else:
            more, arrays = {}, {}
        return state | more, arrays

    def _restore_state(self, state: State, arrays: Arrays) -> None:
        if state["choice"] is None:
            return
        self._choice = restore_choice(state["choice"])
        if self._attributes is None and not set(self._choice.blocks).isdisjoint(ATTRIBUTE_BLOCKS):
            raise ValueError("the choice names attributes, but there are none")
        self._choice_is_current = bool(state["choice_is_current"])
        self._n_at_choice = check_int("n_at_choice", state["n_at_choice"])
        if "coefficients" in arrays:
            known, n_nodes = self._list_known(), len(self._graph)
            self._warm = restore_warm_start(known, n_nodes, state, arrays)
