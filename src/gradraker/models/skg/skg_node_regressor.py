"""SKG as a model of graphs: it holds the graph and makes the adjacency vectors itself."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import Bounds, check_choice, check_count
from gradraker.exceptions import ArgumentTypeError, TooFewValuesError
from gradraker.explain.skg_explanation import Explanation
from gradraker.explain.transfer import SimilarityTransfer, similarity_transfer
from gradraker.features import References
from gradraker.graph.hops import HOP_WEIGHTS
from gradraker.graph.node_graph import NodeGraph, append_new_nodes
from gradraker.metrics import measure_left_out_error
from gradraker.models.left_out import LeftOut
from gradraker.models.node_model import NodeModel
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.sigma2 import MOST_TESTED
from gradraker.models.skg.node_rows import check_rows_differ, make_node_rows
from gradraker.models.skg.skg_regressor import SKGRegressor

_SETTINGS_OF_SKG = ("kernel", "sigma2", "n_frequencies", "learning_rate", "n_epochs")
# With fewer known nodes than this the error is not estimated: it would be noise.
_ENOUGH_TO_HOLD_OUT = 10
_HELD_OUT_SHARE = 0.2
# Nearest known nodes for the similarity transfer, if there are as many.
_N_NEIGHBORS = 5


class SKGNodeRegressor(RegressorMixin, NodeModel):
    """Predict values of the nodes of a graph by single-kernel Gradraker, the paper's learner.

    Each node is described by its adjacency vector to the referencing nodes, and
    :class:`SKGRegressor` is trained on the known nodes, one at a time. The mean of the values
    known at :meth:`fit` is subtracted before training and added to predictions, since SKG has no
    intercept: a node that resembles no known node gets about the mean.

    Parameters
    ----------
    kernel, sigma2, n_frequencies, learning_rate, n_epochs, random_state
        As for :class:`SKGRegressor`; ``random_state`` is 0 by default.
    direction : {"out", "in", "both"}, default="out"
        Which edges describe a node.
    references : sequence of names, optional
        The nodes that vectors point to; default all nodes of the graph. Their values need not
        be known.
    hops : int, default=1
        Number of edges of the walks that describe a node.
    hop_weights : {"count", "binary", "random_walk"}, default="count"
        How these walks count; see :func:`gradraker.adjacency_vectors`.

    Attributes
    ----------
    skg_ : SKGRegressor
        The learner of rows, trained on values less ``offset_``.
    offset_ : float
        Mean of the values that were known at :meth:`fit`.
    nodes_, known_nodes_, unknown_nodes_ : ndarray
        Names of all nodes, of those whose value is known, and of the others.
    left_out_error_ : LeftOutError
        Estimate of the error, from a fifth of the known nodes that were held out.

    Notes
    -----
    :meth:`partial_fit` takes one training step for each value that is new or changed, in the
    order of the nodes. Explanations add up to ``offset + weights @ values``.

    Examples
    --------
    >>> from gradraker import SKGNodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> model = SKGNodeRegressor(sigma2="theory").fit(data, known)
    >>> model.predict(["Pilatus"]).round(1)
    array([...])
    >>> explanation = model.explain(["Pilatus"])
    >>> total = explanation.offset + explanation.weights @ explanation.values
    >>> bool(abs(total - explanation.prediction).max() < 1e-10)
    True
    """

    method = "skg"
    learns_by_steps = True
    bounds: ClassVar[Bounds] = {**SKGRegressor.bounds, "hops": (1, 100)}

    skg_: SKGRegressor
    offset_: float
    _held_out: "tuple[SKGNodeRegressor, NDArray[np.int64]] | None"

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        sigma2: float | str = "cv",
        n_frequencies: int | str = 200,
        learning_rate: float | str = 0.1,
        n_epochs: int | str = 3,
        direction: Literal["out", "in", "both"] = "out",
        references: References = None,
        hops: int = 1,
        hop_weights: Literal["count", "binary", "random_walk"] = "count",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.kernel = kernel
        self.sigma2 = sigma2
        self.n_frequencies = n_frequencies
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.direction = direction
        self.references = references
        self.hops = hops
        self.hop_weights = hop_weights
        self.random_state = random_state

    # -- training --------------------------------------------------------------

    def _reset(self) -> None:
        self._held_out = None
        for name in ("skg_", "offset_"):
            self.__dict__.pop(name, None)

    def _learn_all(self) -> None:
        self._learn_rows(np.flatnonzero(self._is_known))

    def _learn_rows(self, rows: NDArray[np.int64]) -> None:
        """Learn known nodes, which are shuffled in each epoch."""
        X, references = self._make_rows(self._graph, rows)
        if isinstance(self.sigma2, str):
            check_rows_differ(X)
        names, offset = self.nodes_[rows].tolist(), float(self._values[rows].mean())
        values, tested = self._values[rows] - offset, self._make_tested_rows()
        skg = self._make_skg(self.seed_)
        skg.fit(X, values, references=references, node_names=names, tested=tested)
        self.skg_, self.offset_ = skg, offset

    def _learn_changes(self, changed: NDArray[np.int64], *, graph_grew: bool) -> None:
        self._held_out = None
        if changed.size == 0:
            return
        if not hasattr(self, "skg_"):  # the first values
            self._learn_all()
            return
        X, references = self._make_rows(self._graph, changed)
        names, values = self.nodes_[changed].tolist(), self._values[changed] - self.offset_
        self.skg_.partial_fit(X, values, references=references, node_names=names)

    def _make_skg(self, seed: int | None) -> SKGRegressor:
        settings = {name: getattr(self, name) for name in _SETTINGS_OF_SKG}
        return SKGRegressor(**settings, random_state=seed)

    def _make_tested_rows(self) -> csr_array | None:
        """Adjacency vectors of unknown nodes for algorithm 2, the rule "refined"."""
        unknown = np.flatnonzero(~self._is_known)
        if self.sigma2 != "refined" or unknown.size == 0:
            return None
        if unknown.size > MOST_TESTED:
            rng = np.random.default_rng([self.seed_, 4])
            unknown = np.sort(rng.permutation(unknown)[:MOST_TESTED])
        return self._make_rows(self._graph, unknown)[0]

    def _make_rows(
        self, graph: NodeGraph, rows: NDArray[np.int64]
    ) -> tuple[csr_array, list[Hashable]]:
        """Return the adjacency vectors of some nodes, and the names of their columns."""
        settings = self.direction, int(self.hops), self.hop_weights
        return make_node_rows(graph, rows, self.references, *settings)

    # -- predictions -------------------------------------------------------------

    def predict(
        self, nodes: Any = None, *, return_interval: bool = False, coverage: float = 0.9
    ) -> NDArray[np.float64]:
        """Predict the values of nodes of the graph.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph, known ones as well; default all whose values are unknown, in
            the order of ``unknown_nodes_``.
        return_interval : bool, default=False
            Must be False: SKG has no intervals. :class:`NodeRegressor` has.
        coverage : float
            Not used.

        Returns
        -------
        ndarray of shape (n,)
        """
        if return_interval:
            raise ValueError("return_interval must be False: SKG has no intervals")
        rows = self._find_rows(nodes)
        return self._predict_rows(self._graph, rows)

    def predict_new(self, links: Any, **graph_options: Any) -> dict[Hashable, float]:
        """Predict nodes that are not in the graph, from their links to nodes that are.

        Parameters
        ----------
        links : mapping or other graph
            A mapping from new nodes to neighbours or to ``{neighbour: weight}``, or edges in any
            other form, each between a new node and a node of the graph.
        **graph_options
            As in :meth:`fit`.

        Returns
        -------
        dict
            New node → prediction.
        """
        check_is_fitted(self)
        extended = append_new_nodes(self._graph, links, self._graph_options | graph_options)
        rows = np.arange(len(self._graph), len(extended))
        predictions = self._predict_rows(extended, rows)
        return dict(zip(extended.nodes[rows].tolist(), predictions.tolist(), strict=True))

    def _predict_rows(self, graph: NodeGraph, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        self._check_learned()
        if rows.size == 0:
            return np.empty(0)
        X, references = self._make_rows(graph, rows)
        return self.skg_.predict(X, references=references) + self.offset_

    def _check_learned(self) -> None:
        if not hasattr(self, "skg_"):
            raise ValueError("no value is known yet: give values to partial_fit first")

    def score(self, nodes: Any, values: Any) -> float:
        """R² of predictions; ``values`` are those of ``nodes``."""
        from sklearn.metrics import r2_score  # it loads rich and much else

        return float(r2_score(np.asarray(values, dtype=np.float64), self.predict(nodes)))

    def predict_left_out(self) -> LeftOut:
        """Predict a fifth of the known nodes by a model that is trained on the others.

        Raises
        ------
        TooFewValuesError
            If fewer than 10 values are known, or the remaining nodes do not differ.
        """
        model, rows = self._hold_out()
        known, values = self._values[self._is_known], self._values[rows]
        predictions = model.predict(self.nodes_[rows])
        means = np.full(rows.size, model.offset_)
        return LeftOut(
            rows=rows,
            values=values,
            predictions=predictions,
            mean=model.offset_,
            error=measure_left_out_error(known, values, predictions, means),
            one_at_a_time=False,
        )

    def _hold_out(self) -> "tuple[SKGNodeRegressor, NDArray[np.int64]]":
        """A model with the same settings trained without some known nodes, and these nodes."""
        check_is_fitted(self)
        if self._held_out is not None:
            return self._held_out
        known = np.flatnonzero(self._is_known)
        if known.size < _ENOUGH_TO_HOLD_OUT:
            raise TooFewValuesError(
                f"{known.size} values are known",
                f"and an estimate of the error takes {_ENOUGH_TO_HOLD_OUT}",
                "give more values",
            )
        shuffled = np.random.default_rng([self.seed_, 3]).permutation(known)
        rows = shuffled[: round(_HELD_OUT_SHARE * known.size)]
        values = self._values.copy()
        values[rows] = np.nan
        model = SKGNodeRegressor(**self.get_params())
        model._start(self._graph, values, self._graph_options)
        model.seed_ = self.seed_
        try:
            model._learn_rows(shuffled[rows.size :])
        except ValueError as error:
            raise TooFewValuesError(
                "the known nodes that are left do not differ",
                f"and an estimate of the error takes nodes that do ({error})",
                "give more values",
            ) from error
        self._held_out = model, rows
        return self._held_out

    def explain(self, nodes: Any = None, *, left_out: bool = False) -> Explanation:
        """Explain predictions exactly, as weighted sums of the known values.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph; default all whose values are unknown.
        left_out : bool, default=False
            Whether to explain by the model that :meth:`predict_left_out` uses, which is trained
            without the held-out nodes.

        Returns
        -------
        Explanation
            ``offset + weights @ values`` equals ``prediction``.
        """
        if left_out:
            model, rows = self._hold_out()
            return model.explain(self.nodes_[rows] if nodes is None else nodes)
        rows = self._find_rows(nodes)
        self._check_learned()
        X, references = self._make_rows(self._graph, rows)
        found = self.skg_.explain(X, references=references, node_names=self.nodes_[rows].tolist())
        mean = self.offset_
        return replace(
            found,
            values=found.values + mean,
            prediction=found.prediction + mean,
            offset=mean * (1.0 - found.sum_of_weights),
        )

    @property
    def mean_(self) -> float:
        """Mean of the values that were known at :meth:`fit`, which is added to predictions."""
        self._check_learned()
        return self.offset_

    def measure_transfer(self) -> SimilarityTransfer | None:
        """Return whether similar adjacency vectors have similar values, as SKG needs.

        None with fewer than 3 known nodes, or if all known values are equal.
        """
        known, values = np.flatnonzero(self._is_known), self._values[self._is_known]
        if known.size < 3 or np.ptp(values) == 0.0:
            return None
        X, _ = self._make_rows(self._graph, known)
        n_neighbors = min(_N_NEIGHBORS, known.size - 2)
        return similarity_transfer(X, values, n_neighbors=n_neighbors, random_state=0)

    def describe(self, *, target: Hashable = None) -> dict[str, Any]:
        """Return the variance in use with its range, and whether SKG suits the data."""
        self._check_learned()
        transfer = self.measure_transfer()
        return {
            "method": self.method,
            "sigma2": self.skg_.describe_sigma2(),
            "transfer": None if transfer is None else transfer.to_dict(),
            "steps": int(self.skg_.n_seen_),
            "settings": {
                "direction": self.direction,
                "hops": self.hops,
                "hop_weights": self.hop_weights,
                "sigma2": self.sigma2 if isinstance(self.sigma2, str) else float(self.sigma2),
                "kernel": self.kernel,
                "frequencies": self.skg_.n_frequencies_,
                "learning_rate": self.skg_.learning_rate_,
                "epochs": self.skg_.n_epochs_,
                "seed": self.seed_,
            },
        }

    def count_neighbours(self) -> NDArray[np.int64]:
        """Return how many entries the adjacency vector of each node has."""
        check_is_fitted(self)
        X, _ = self._make_rows(self._graph, np.arange(len(self._graph)))
        return np.asarray(np.diff(X.indptr), dtype=np.int64)

    # -- parameters and files ------------------------------------------------------

    def _check_parameters(self) -> None:
        check_choice("direction", self.direction, ("out", "in", "both"))
        check_choice("hop_weights", self.hop_weights, HOP_WEIGHTS)
        check_count("hops", self.hops)
        names: object = self.references
        is_sequence = hasattr(names, "__len__") and not isinstance(names, str | bytes | Mapping)
        if names is not None and not is_sequence:
            raise ArgumentTypeError("references", "a sequence of names, or None", names)
        self._make_skg(None).check_parameters()

    def _dump_state(self) -> tuple[State, Arrays]:
        if not hasattr(self, "skg_"):
            return {"offset_": None}, {}
        state, arrays = self.skg_.dump_state()
        state = {"offset_": self.offset_, "skg": state}
        return state, {f"skg_{name}": array for name, array in arrays.items()}

    def _restore_state(self, state: State, arrays: Arrays) -> None:
        if state["offset_"] is None:
            return
        if type(state["offset_"]) is not float or not np.isfinite(state["offset_"]):
            raise ValueError(f"offset_ is {state['offset_']!r}")
        given = {name[4:]: array for name, array in arrays.items() if name.startswith("skg_")}
        parameters = self._make_skg(self.seed_).get_params()
        skg = SKGRegressor.from_state(parameters, state["skg"], given)
        if skg.coef_.ndim != 1:
            raise ValueError("coef_ is not that of one value per node")
        self.skg_, self.offset_ = skg, state["offset_"]
