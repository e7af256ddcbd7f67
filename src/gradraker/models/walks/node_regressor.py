"""Predict numbers at nodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradraker.graph import known_values
from gradraker.models.walks.intervals import check_coverage, jackknife_plus
from gradraker.models.walks.node_model import NodeModel


@dataclass(frozen=True)
class LeaveOneOutError:
    """Errors of known nodes that were predicted without their own value.

    ``gnmse`` is taken on values that are scaled to [0, 1] by the range of the known ones, as in
    the paper; ``*_of_mean`` are the errors of the mean of the other known values.
    """

    rmse: float
    rmse_of_mean: float
    gnmse: float
    gnmse_of_mean: float
    n_nodes: int

    def __str__(self) -> str:
        return (
            f"RMSE {self.rmse:.4g} ({self.rmse_of_mean:.4g} by the mean), "
            f"GNMSE {self.gnmse:.4g} ({self.gnmse_of_mean:.4g} by the mean)"
        )


class NodeRegressor(RegressorMixin, NodeModel):
    """Predict values of nodes from a graph and the nodes that are known.

    Each node is described by where walks from it end, over one, two, three and many steps, and by
    its degrees; nodes that are described alike are predicted alike. A ridge regression on this
    description predicts, so that every prediction is a weighted sum of the known values. The parts
    of the description, their widths and the penalty are chosen on the known nodes.

    Parameters
    ----------
    blocks : "auto" or sequence of names, default="auto"
        Parts of the description: ``"hop1"``, ``"hop2"``, …, ``"degree"``, ``"far"``,
        ``"community"``, ``"alternating"``, ``"same_targets"``, ``"same_sources"``,
        ``"pagerank"``; see :mod:`gradraker.features.walks`. The kernel is the mean of
        their Gaussian kernels.
    width : "auto" or float, default="auto"
        w > 0: the variance σ² of a block's kernel is w times the median squared distance of its
        rows.
    alpha : "auto" or float, default="auto"
        Penalty α > 0 of the ridge regression.
    solver : {"auto", "kernel", "ridge", "lms"}, default="auto"
        ``"kernel"`` is exact, ``"ridge"`` takes random features, for many nodes; ``"auto"`` takes
        the first up to 2000 known nodes and 2·10⁷ pairs (all nodes × known nodes). ``"lms"`` is
        SKG's own update on the features, for streams: it costs O(features) a node, and the order
        of the nodes counts.
    n_frequencies : int, default=256
        Random frequencies a block, for ``"ridge"`` and ``"lms"``; each makes two features.
    direction : {"both", "out", "in"}, default="both"
        Edges that walks take: either way, along them, or against them.
    references : {"all", "known"}, default="all"
        ``"known"`` looks at edges to known nodes only: the local form.
    renew : {"always", "doubled"}, default="always"
        When new values come, choose what is "auto" anew for each question that follows, or only
        when twice as many values are known as at the last choice, which is quicker.
    learning_rate : float, default=0.25
        η in (0, 1) of ``"lms"``.
    n_epochs : int, default=5
        Passes of ``"lms"`` over the nodes that are known at :meth:`fit`.
    random_state : int, RandomState instance or None, default=0
        Seed of the features, and of what is sampled where there is much.

    Attributes
    ----------
    nodes_, known_nodes_, unknown_nodes_ : ndarray
        Names of all nodes, of those whose value is known, and of the others.
    blocks_ : tuple of str
        Blocks in use; none if the mean of the known values is all there is to say.
    kernel_ : tuple of Term
        Terms (block, width, share) of the kernel in use; a block may have two widths.
    alpha_ : float
        Penalty in use; infinite for the mean.
    solver_ : str
        Solver in use.
    choice_ : Choice
        What was chosen, and how the candidates fared.
    loo_error_ : LeaveOneOutError
        Estimate of the error, from known nodes that are left out one at a time.
    seed_ : int
        What random numbers are drawn from, together with the names of nodes.

    Notes
    -----
    The equations, and when to use which solver: ``docs/node-models.md``. Negative weights count by
    their size. A node without edges is described by itself and its degrees.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[::2], data.values[::2]))
    >>> model = NodeRegressor().fit(data, known)
    >>> model.predict(["Davos"]).round(1)
    array([...])
    >>> print(model.loo_error_)
    RMSE ... (... by the mean), GNMSE ... (... by the mean)
    >>> predictions, intervals = model.predict(return_interval=True, coverage=0.9)
    >>> model.predict_new({"new station": ["Davos", "Arosa"]})
    {'new station': ...}
    """

    # -- what a value is -------------------------------------------------------

    def _in_order(self, values: Any, nodes: Any) -> NDArray[Any]:
        return known_values(values, nodes)

    def _nothing(self, n: int) -> NDArray[Any]:
        return np.full(n, np.nan)

    def _is_known(self, given: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(~np.isnan(given))

    def _encoded(self, known: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(known[:, np.newaxis], dtype=np.float64)

    def _as_given(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        return targets[:, 0]

    # -- asking ----------------------------------------------------------------

    def predict(
        self, nodes: Any = None, *, return_interval: bool = False, coverage: float = 0.9
    ) -> Any:
        """Predict the values of nodes of the graph.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph, known ones as well; default all whose values are not known, in
            the order of ``unknown_nodes_``.
        return_interval : bool, default=False
            Whether to return intervals too.
        coverage : float, default=0.9
            Part of the values that intervals should hold, in (0, 1).

        Returns
        -------
        predictions : ndarray of shape (n,)
        intervals : ndarray of shape (n, 2)
            Lower and upper ends, if asked for; infinite where there are too few known values
            for the coverage.
        """
        coverage = check_coverage(coverage)
        return self._predicted(self._rows(nodes), None, return_interval, coverage)

    def predict_new(
        self,
        links: Any,
        *,
        return_interval: bool = False,
        coverage: float = 0.9,
        **graph_options: Any,
    ) -> Any:
        """Predict nodes that are not in the graph, from their links to nodes that are.

        The graph is not changed, and new nodes do not see each other: an edge between two nodes
        that the graph does not have is refused.

        Parameters
        ----------
        links : mapping or other graph
            A mapping from new nodes to neighbours or to ``{neighbour: weight}``, or edges in any
            other form, each between a new node and a node of the graph.
        return_interval, coverage
            As in :meth:`predict`.
        **graph_options
            As in :meth:`fit`.

        Returns
        -------
        predictions : dict
            New node → prediction, or → (prediction, lower end, upper end) with intervals.
        """
        coverage = check_coverage(coverage)
        names, rows, at = self._new_rows(links, graph_options)
        if not return_interval:
            return dict(
                zip(names, self._predicted(rows, at, False, coverage).tolist(), strict=True)
            )
        predictions, intervals = self._predicted(rows, at, True, coverage)
        ends = zip(predictions.tolist(), *intervals.T.tolist(), strict=True)
        return dict(zip(names, ends, strict=True))

    def _predicted(
        self, rows: NDArray[np.int64], at: Any, return_interval: bool, coverage: float
    ) -> Any:
        solution = self._solved()
        predictions = solution.predictions(rows, at)[:, 0]
        if not return_interval:
            return predictions
        intervals = np.empty((rows.size, 2))
        residuals = np.abs(solution.residuals[:, 0])
        for some, shifts in solution.shifts(rows, at):
            left_out = predictions[some, np.newaxis] - shifts  # [rows, left out]
            intervals[some] = jackknife_plus(left_out, residuals, coverage)
        return predictions, intervals

    def score(self, nodes: Any, values: Any) -> float:
        """R² of predictions; ``values`` are those of ``nodes``."""
        from sklearn.metrics import r2_score  # it loads much that nothing else here needs

        return float(r2_score(np.asarray(values, dtype=np.float64), self.predict(nodes)))

    @property
    def known_values_(self) -> NDArray[np.float64]:
        """Known values, in the order of ``known_nodes_``."""
        check_is_fitted(self)
        return np.asarray(self._given[self._is_known(self._given)])

    def left_out_predictions(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Predict known nodes without their own values, by the closed form.

        Returns
        -------
        nodes : array of names
            The known nodes; of very many, those that the estimate of the error stands on.
        predictions : ndarray of shape (len(nodes),)
        """
        check_is_fitted(self)
        solution = self._solved()
        rows = solution.known[solution.left_out_rows]
        return self.nodes_[rows], self._given[rows] - solution.residuals[:, 0]

    @property
    def loo_error_(self) -> LeaveOneOutError:
        """Estimate of the error, from known nodes that are left out one at a time."""
        solution = self._solved()
        y = self._given[solution.known]
        n = y.size
        errors = solution.residuals[:, 0]
        tested = y[solution.left_out_rows]
        span = float(np.ptp(y)) or 1.0
        of_mean = (tested - y.mean()) * (n / (n - 1.0)) if n > 1 else np.full(1, np.nan)
        size = float(np.sum(((tested - y.min()) / span) ** 2)) or np.nan
        return LeaveOneOutError(
            float(np.sqrt(np.mean(errors**2))),
            float(np.sqrt(np.mean(of_mean**2))),
            float(np.sum((errors / span) ** 2)) / size,
            float(np.sum((of_mean / span) ** 2)) / size,
            tested.size,
        )
