"""Predict numbers at nodes: the scale in which values are predicted, and the way back."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import check_choice, check_fraction, is_auto
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.models.left_out import LeftOutTargets
from gradraker.models.persistence.names_as_json import check_savable, decode_name
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.walks.attributes.coefficients import AttributeCoefficients
from gradraker.models.walks.choice import Choice, TriedTransform, check_parameters, choose_mean
from gradraker.models.walks.exact.blocks import ExactBlocks
from gradraker.models.walks.iterative.selection import Selection, make_predictor
from gradraker.models.walks.operators.operators import Operators
from gradraker.models.walks.solution import KernelSolution, Solution
from gradraker.models.walks.targets.grouped_solution import GroupedSolution
from gradraker.models.walks.targets.target_view import (
    Column,
    NoTransform,
    TargetView,
    Transform,
    fit_column,
    is_rough,
)
from gradraker.models.walks.targets.transform_choice import LeftOutScaled, choose_transform
from gradraker.models.walks.targets.transforms import (
    check_transform,
    dump_columns,
    fit_given,
    list_transforms,
    restore_columns,
)
from gradraker.models.walks.walk_model import WalkModel

_STATISTICS = ("mean", "median")
# Nodes at which all targets are known, from which on a kernel is chosen on them alone.
_FEWEST_COMPLETE = 10


class NodeRegressor(RegressorMixin, WalkModel):
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
        ``"wide"``, ``"commute"``, ``"community"``, ``"alternating"``, ``"same_targets"``,
        ``"same_sources"``, ``"pagerank"``; see ``docs/theory/node-models.md``. The kernel is the
        mean of their Gaussian kernels.
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

    takes_several_targets = True
    takes_coverage = True

    _columns: tuple[Column, ...] | None

    def __init__(
        self,
        *,
        transform: Any = "auto",
        statistic: str = "mean",
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
        super().__init__(
            blocks=blocks,
            width=width,
            alpha=alpha,
            solver=solver,
            direction=direction,
            neighbours=neighbours,
            reselect=reselect,
            tol=tol,
            device=device,
            dtype=dtype,
            random_state=random_state,
        )
        self.transform = transform
        self.statistic = statistic

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not is_auto(self.transform):
            check_transform(self.transform)
        check_choice("statistic", self.statistic, _STATISTICS)

    def _reset(self) -> None:
        super()._reset()
        self._columns = None

    def _learn_changes(self, changed: NDArray[np.int64], *, graph_grew: bool) -> None:
        if not is_auto(self.transform):
            for values in self._list_values(np.flatnonzero(self._is_known)):
                if values.size:
                    fit_given(self.transform, values)  # refuses values that it cannot take
        super()._learn_changes(changed, graph_grew=graph_grew)

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

    # -- targets ---------------------------------------------------------------

    def _to_matrix(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values (N,) or (N, K) as (N, K)."""
        given = np.asarray(values, dtype=np.float64)
        return given if given.ndim == 2 else given[:, np.newaxis]

    def _list_values(self, rows: NDArray[np.int64]) -> list[NDArray[np.float64]]:
        """The known values of each target among some nodes."""
        return [v[~np.isnan(v)] for v in self._to_matrix(self._values[rows]).T]

    def _get_column(self, target: Hashable) -> int:
        """The column of a target, which must be named if there are several."""
        if not self._target_names:
            if target is not None:
                raise ValueError(f"target must be None: the model has one target, got {target!r}")
            return 0
        if target not in self._target_names:
            raise ValueError(f"target must be one of {list(self._target_names)}, got {target!r}")
        return self._target_names.index(target)

    def _get_view(self, column: int) -> TargetView:
        """One target of the present solution."""
        solution = self._get_solution()
        assert self._choice is not None
        assert self._columns is not None
        index, positions = column, np.arange(solution.known.size)
        if isinstance(solution, GroupedSolution):
            solution, index, positions = solution.select(column)
        own = self._columns[column]
        values = self._to_matrix(self._values[self._get_solution().known[positions]])[:, column]
        is_constant = own.is_constant or not self._choice.kernel
        trust = self._get_trust(solution.known)
        return TargetView(own, solution, index, values, self.statistic, is_constant, trust)

    def _list_views(self) -> list[TargetView]:
        self._get_solution()
        assert self._columns is not None
        return [self._get_view(j) for j in range(len(self._columns))]

    # -- the scale of values ---------------------------------------------------

    def _encode(self, known: NDArray[Any]) -> NDArray[np.float64]:
        values = self._to_matrix(known)
        if self._columns is None:  # nothing is chosen yet
            return values
        return np.column_stack(
            [one.encode(v) for one, v in zip(self._columns, values.T, strict=True)]
        )

    def _is_outdated(self, choice: Choice, n_known: int) -> bool:
        listed = self._list_values(np.flatnonzero(self._is_known))
        if self._columns is None or len(self._columns) != len(listed):
            return True
        if not all(one.transform.can_take(v) for one, v in zip(self._columns, listed, strict=True)):
            return True
        if (
            is_auto(self.transform)
            and check_parameters(self.blocks, self.width, self.alpha).are_complete
        ):
            return not self._choice_is_current and self._is_time_to_choose(n_known)
        return super()._is_outdated(choice, n_known)

    def _list_transforms(self, values: NDArray[np.float64]) -> list[Transform]:
        """The transforms to compare; values that are nearly normal stay as they are."""
        if is_auto(self.transform) and not is_rough(values):
            return [NoTransform()]
        return list_transforms(self.transform, values)

    def _choose_targets(
        self, description: ExactBlocks | Operators, known: NDArray[np.int64]
    ) -> Selection | None:
        if self._target_names:
            self._choose_several(description, known)
            return None
        values = self._to_matrix(self._values[known])[:, 0]
        candidates = self._list_transforms(values)
        selected: Selection | None = None
        tried: tuple[TriedTransform, ...] = ()

        def choose_kernel(transform: Transform) -> bool:
            nonlocal selected
            self._columns = (Column(transform),)
            selected = self._choose(description, known, self._encode(values))
            assert self._choice is not None
            return bool(self._choice.kernel)

        def leave_out(Y: NDArray[np.float64]) -> LeftOutScaled:
            return self._leave_out(description, known, Y, selected)

        if not (is_auto(self.transform) and is_rough(values)):
            choose_kernel(candidates[0])
            chosen = candidates[0]
        else:
            found = choose_transform(
                candidates, values, self.statistic, choose_kernel, leave_out, self._get_trust(known)
            )
            chosen, tried = found.transform, found.tried
            assert self._choice is not None
            if found.is_constant and self.alpha == "auto" and self._choice.kernel:
                self._choice = choose_mean(known.size, self._choice.tried)
                selected = None
        assert self._choice is not None
        if not self._choice.kernel:
            chosen = NoTransform()  # a constant needs no scale
        self._columns = (Column(chosen),)
        self._choice = replace(self._choice, transform=chosen.name, tried_transforms=tried)
        return selected

    def _choose_several(
        self, description: ExactBlocks | Operators, known: NDArray[np.int64]
    ) -> None:
        """Choose one kernel for all targets, then the scale of each at this kernel."""
        values = self._to_matrix(self._values[known])
        candidates = [self._list_transforms(v) for v in self._list_values(known)]
        self._columns = tuple(
            fit_column(listed[0], v) for listed, v in zip(candidates, values.T, strict=True)
        )
        Y = self._encode(values)
        complete = ~np.isnan(Y).any(axis=1)
        if int(complete.sum()) >= max(_FEWEST_COMPLETE, len(Y) // 3):
            self._choose(description, known[complete], Y[complete])
        else:
            self._choose(description, known, np.nan_to_num(Y))
        assert self._choice is not None
        if not self._choice.kernel:
            self._columns = tuple(Column(NoTransform()) for _ in candidates)
            return
        columns = []
        for listed, v in zip(candidates, values.T, strict=True):
            transform, is_constant = listed[0], False
            own, v = known[~np.isnan(v)], v[~np.isnan(v)]
            if is_auto(self.transform) and is_rough(v):
                leave_out = partial(self._leave_out, description, own, selected=None)
                found = choose_transform(
                    listed, v, self.statistic, lambda _: True, leave_out, self._get_trust(own)
                )
                transform, is_constant = found.transform, found.is_constant
            if is_constant:
                transform = NoTransform()
            columns.append(replace(fit_column(transform, v), is_constant=is_constant))
        self._columns = tuple(columns)
        names = dict.fromkeys(one.transform.name for one in columns)
        self._choice = replace(self._choice, transform=", ".join(names))

    def _leave_out(
        self,
        description: ExactBlocks | Operators,
        known: NDArray[np.int64],
        Y: NDArray[np.float64],
        selected: Selection | None,
    ) -> LeftOutScaled:
        """Predict known nodes without their own values (N, scales), with the kernel chosen."""
        assert self._choice is not None
        if isinstance(description, ExactBlocks):
            description.keep_products(known)
            left_out = KernelSolution(
                description, known, Y, self._choice, self._get_trust(known)
            ).predict_left_out()
            return LeftOutScaled(left_out.positions, left_out.predictions)
        if Y.shape[1] == 1 and selected is not None and selected.assessment is not None:
            return LeftOutScaled(selected.assessment.positions, selected.assessment.predictions)
        predictor = make_predictor(description, known, Y, self._get_trust(known))
        (predictions,) = predictor.predict(self._choice.kernel, (self._choice.alpha,))
        return LeftOutScaled(predictor.positions, predictions)

    def _can_go_on(self, solution: Solution, Y: NDArray[np.float64]) -> bool:
        if isinstance(solution, GroupedSolution) or bool(np.isnan(Y).any()):
            return False
        return super()._can_go_on(solution, Y)

    def _make_solution(
        self,
        description: ExactBlocks | Operators,
        known: NDArray[np.int64],
        Y: NDArray[np.float64],
        selected: Selection | None,
    ) -> Solution:
        make = super()._make_solution
        if not np.isnan(Y).any():
            return make(description, known, Y, selected)
        self._warm = None
        return GroupedSolution(lambda own, V: make(description, own, V, None), known, Y)

    @property
    def transform_(self) -> Any:
        """Formula of the scale in which weights add up; by target, if there are several."""
        check_is_fitted(self)
        self._get_solution()
        assert self._columns is not None
        formulas = [one.transform.formula for one in self._columns]
        if not self._target_names:
            return formulas[0]
        return dict(zip(self._target_names, formulas, strict=True))

    @property
    def coefficients_(self) -> AttributeCoefficients:
        """How linear terms count each attribute, in the scale in which weights add up."""
        found = super().coefficients_
        assert self._columns is not None
        return replace(found, values=found.values * [one.unit for one in self._columns])

    def explain(
        self, nodes: Any = None, *, left_out: bool = False, target: Hashable = None
    ) -> LinearExplanation:
        """Explain predictions exactly, as weighted sums of the known values.

        Parameters
        ----------
        nodes : sequence of names, optional
            Nodes of the graph; default all whose values are not known.
        left_out : bool, default=False
            Whether to explain what is predicted for known nodes without their own values;
            ``nodes`` must then be known, and default to all that are.
        target : name, optional
            One of several targets.

        Returns
        -------
        LinearExplanation
            ``weights @ values`` equals ``prediction``; the weights of a prediction sum to 1. Where
            values are predicted in another scale, they are in this scale, and ``units`` has them
            as they were given.

        Examples
        --------
        >>> from gradraker import NodeRegressor
        >>> links = {"a": ["x", "y"], "b": ["x", "y"], "c": ["u", "v"], "d": ["u", "v"]}
        >>> model = NodeRegressor().fit(links, {"a": 1.0, "b": 1.0, "c": 9.0, "d": 8.0})
        >>> found = model.explain(["x", "u"])
        >>> bool(abs(found.weights @ found.values - found.prediction).max() < 1e-10)
        True
        """
        check_is_fitted(self)
        view = self._get_view(self._get_column(target))
        if not left_out:
            return view.explain(self._find_rows(nodes), self.nodes_)
        rows = np.sort(view.solution.known) if nodes is None else self._find_rows(nodes)
        return view.explain_left_out(rows, self.nodes_)

    def describe(self, *, target: Hashable = None) -> dict[str, Any]:
        """Return what the model chose, and how other candidates fared.

        With a ``target``, the scale is that of this one.
        """
        facts = super().describe()
        given = self.transform if isinstance(self.transform, str) else "given"
        formula, more = self.transform_, {}
        if isinstance(formula, dict) and target is not None:
            formula = formula[target]
            more = {"transform": "none"} if formula == NoTransform().formula else {}
        elif isinstance(formula, dict):
            formula = ", ".join(f"{name}: {one}" for name, one in formula.items())
        facts["choice"] |= {"formula": formula, "statistic": self.statistic} | more
        facts["settings"] |= {"transform": given, "statistic": self.statistic}
        return facts

    # -- files -----------------------------------------------------------------

    def _dump_state(self) -> tuple[State, Arrays]:
        state, arrays = super()._dump_state()
        names = [check_savable("target", name) for name in self._target_names]
        return state | {"columns": dump_columns(self._columns), "targets": names}, arrays

    def _restore_state(self, state: State, arrays: Arrays) -> None:
        self._target_names = tuple(decode_name(name) for name in state["targets"])
        n_targets = self._to_matrix(self._values).shape[1]
        if self._values.ndim == 2 and len(self._target_names) != n_targets:
            raise ValueError("the names of targets do not fit the values")
        self._columns = restore_columns(state["columns"], n_targets)
        super()._restore_state(state, arrays)
