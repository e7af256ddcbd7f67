"""Predict numbers at nodes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import check_fraction
from gradraker.models.left_out import LeftOutTargets
from gradraker.models.walks.scaled_model import ScaledModel


class NodeRegressor(RegressorMixin, ScaledModel):
    """Predict values of nodes from a graph and the nodes that are known.

    Each node is described by where walks from it end, over one, two, three and many steps, and by
    its degrees; nodes that are described alike are predicted alike. A ridge regression on this
    description predicts, so that every prediction is a weighted sum of the known values. The parts
    of the description, their widths and the penalty are chosen on the known nodes.

    Parameters
    ----------
    transform : {"auto", "none", "log", "power"}, transformer or pair of functions, default="auto"
        Scale in which values are predicted: as they are, ``log(1 + value/unit)``, or a power
        (Yeo–Johnson's). ``"auto"`` keeps values that are nearly normal as they are, and compares
        the others in all scales by errors of left-out nodes, in the units of the user. A
        transformer of scikit-learn with an inverse, or functions (there, back), cannot be saved.
        Predictions, intervals and errors are in the units of the user in any case.
    statistic : {"mean", "median"}, default="mean"
        What is predicted of the values that a node may have: the mean makes squared errors small,
        the median absolute ones.
    blocks : "auto" or sequence of names, default="auto"
        Parts of the description: ``"hop1"``, ``"hop2"``, …, ``"degree"``, ``"far"``,
        ``"wide"``, ``"community"``, ``"alternating"``, ``"same_targets"``, ``"same_sources"``,
        ``"pagerank"``; see ``docs/theory/node-models.md``. The kernel is the mean of
        their Gaussian kernels.
    width : "auto" or float, default="auto"
        w > 0: the variance σ² of a block's kernel is w times the median squared distance of its
        rows.
    alpha : "auto" or float, default="auto"
        Penalty α > 0 of the ridge regression.
    solver : {"auto", "exact", "operators"}, default="auto"
        ``"exact"`` takes Gaussian kernels of walks, ``"operators"`` linear ones that are never
        formed, for graphs of any size; ``"auto"`` takes the first up to 5000 nodes.
    direction : {"both", "out", "in"}, default="both"
        Edges that walks take: either way, along them, or against them.
    neighbours : {"all", "known"}, default="all"
        ``"known"`` looks at edges to known nodes only: the local form.
    reselect : {"auto", "always", "doubled"}, default="auto"
        When new values arrive, choose what is "auto" again for each question that follows
        (``"always"``), or when the number of known values passes a power of two
        (``"doubled"``), which is faster. ``"auto"`` is the first up to 256 known values.
    tol : float, default=1e-3
        Relative residual that ``"operators"`` solves to. Products are in single precision down
        to 10⁻⁵, and in double precision below.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where products and solves are done: on the CPU or on an NVIDIA GPU (through CuPy).
        ``"auto"`` takes a GPU where there is one with enough memory, and says so where not.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of products of ``"operators"``; ``"auto"`` goes by ``tol``. ``"exact"`` is in
        double precision always.
    random_state : int, RandomState instance or None, default=0
        Seed of the random vectors that norms are estimated with, and of what is sampled.

    Attributes
    ----------
    nodes_, known_nodes_, unknown_nodes_ : ndarray
        Names of all nodes, of those whose value is known, and of the others.
    blocks_ : tuple of str
        Blocks in use; none if the model predicts the mean of the known values.
    kernel_ : tuple of Term
        Terms (block, width, share) of the kernel in use; a block may have two widths.
    alpha_ : float
        Penalty in use; infinite for the mean.
    solver_ : str
        Solver in use.
    device_ : str
        Device in use.
    choice_ : Choice
        What was chosen, and how the candidates fared.
    transform_ : str or dict
        Formula of the scale in which weights add up, of several targets by name.
    target_names_ : list
        Names of several targets, in the order of the columns of predictions; [] for one.
    left_out_error_ : LeftOutError
        Estimate of the error, from known nodes that are left out one at a time.
    seed_ : int
        What random numbers are drawn from, together with the names of nodes.

    Notes
    -----
    The equations, and when to use which solver: ``docs/theory/node-models.md``. Negative
    weights count by their size. A node without edges is described by itself and its degrees.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[::2], data.values[::2]))
    >>> model = NodeRegressor().fit(data, known)
    >>> model.predict(["Davos"]).round(1)
    array([...])
    >>> print(model.left_out_error_)
    RMSE ... (... by the mean), GNMSE ... (... by the mean)
    >>> predictions, intervals = model.predict(return_interval=True, coverage=0.9)
    >>> model.predict_new({"new station": ["Davos", "Arosa"]})
    {'new station': ...}
    """

    # -- predictions -----------------------------------------------------------

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
        predictions : ndarray of shape (n,), or (n, K) for K targets
        intervals : ndarray of shape (n, 2) or (n, K, 2)
            Lower and upper ends, if asked for; infinite where there are too few known values
            for the coverage.
        """
        coverage = check_fraction("coverage", coverage)
        return self._predict_rows(self._find_rows(nodes), None, return_interval, coverage)

    def predict_new(
        self,
        links: Any = None,
        *,
        attributes: Any = None,
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
            other form, each between a new node and a node of the graph. None if attributes alone
            describe the new nodes.
        attributes : frame, array, sparse matrix or mapping, optional
            Attributes of the new nodes, with the columns of :meth:`fit`. A node that has
            attributes and no links is predicted from its attributes alone.
        return_interval, coverage
            As in :meth:`predict`.
        **graph_options
            As in :meth:`fit`.

        Returns
        -------
        predictions : dict
            New node → prediction, or → (prediction, lower end, upper end) with intervals; lists of
            them for several targets.
        """
        coverage = check_fraction("coverage", coverage)
        names, rows, at = self._append_rows(links, attributes, graph_options)
        if not return_interval:
            return dict(
                zip(names, self._predict_rows(rows, at, False, coverage).tolist(), strict=True)
            )
        predictions, intervals = self._predict_rows(rows, at, True, coverage)
        joined = np.concatenate([predictions[..., np.newaxis], intervals], axis=-1)
        told = [tuple(one) if joined.ndim == 2 else [*map(tuple, one)] for one in joined.tolist()]
        return dict(zip(names, told, strict=True))

    def _predict_rows(
        self, rows: NDArray[np.int64], at: Any, return_interval: bool, coverage: float
    ) -> Any:
        views = self._list_views()
        solved = self._get_solution().predict(rows, at)  # [n, K]
        found = np.column_stack(
            [view.to_units(column) for view, column in zip(views, solved.T, strict=True)]
        )
        if not return_interval:
            return found if self._target_names else found[:, 0]
        ends = [
            view.make_intervals(column, rows, at, coverage)
            for view, column in zip(views, solved.T, strict=True)
        ]
        if not self._target_names:
            return found[:, 0], ends[0]
        return found, np.stack(ends, axis=1)

    def score(self, nodes: Any, values: Any) -> float:
        """R² of predictions; ``values`` are those of ``nodes``, (n,) or (n, K)."""
        from sklearn.metrics import r2_score  # it loads much that nothing else here needs

        return float(r2_score(np.asarray(values, dtype=np.float64), self.predict(nodes)))

    def predict_left_out(self) -> Any:
        """Predict known nodes without their own values, by the closed form.

        Returns
        -------
        LeftOut or LeftOutTargets
            Of the known nodes; of very many, of those that the estimate of the error stands on. Of
            several targets, a dict with one for each.
        """
        check_is_fitted(self)
        found = [view.leave_out() for view in self._list_views()]
        if not self._target_names:
            return found[0]
        return LeftOutTargets(zip(self._target_names, found, strict=True))
