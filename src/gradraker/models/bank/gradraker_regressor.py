"""Multi-kernel Gradraker: a bank of single-kernel models, weighed online by their losses."""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from gradraker._validation import (
    COUNT_OF_EPOCHS,
    COUNT_OF_FREQUENCIES,
    NOT_NEGATIVE,
    Bounds,
    check_bounds,
    check_count,
    check_flag,
    check_learning_rate,
    make_seed,
)
from gradraker.explain.skg_explanation import Record
from gradraker.features import check_references, to_row_arrays
from gradraker.kernels.shift_invariant import Sigma2Ranges, get_kernel
from gradraker.linear.hedge import AUTO, Hedge, check_regularization, check_weight_step
from gradraker.models.bank.fitted_bank import LearnedBank
from gradraker.models.bank.frequency_tables import FamilyTables
from gradraker.models.bank.members import (
    WHOLE,
    BankMember,
    assign_views,
    check_kernels,
    check_view_widths,
    check_views,
    choose_members,
    is_sound,
)
from gradraker.models.bank.training import select_view_matrix, train_bank
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.row_state import check_coef, restore_names, restore_row_state
from gradraker.models.sigma2 import RuleInput, check_tested_is_used


class GradrakerRegressor(RegressorMixin, LearnedBank):
    """Predict node values with a bank of kernels that are weighed online (Gradraker).

    Each member p of the bank is a single-kernel model fₚ = θₚᵀzₚ on the same rows
    (:class:`SKGRegressor`), trained on its own error. The bank predicts f = Σ w̄ₚ fₚ with weights
    w̄ₚ ∝ exp(−λ Lₚ), where Lₚ sums the squared errors of the member, each made before the
    step that learns from it.

    Parameters
    ----------
    kernels : str or sequence, default="ranges"
        The dictionary of kernels. Each entry is

        - a number: a variance σ² of the Gaussian kernel;
        - the name of a rule for σ², ``"theory"``, ``"refined"``, ``"median"`` or ``"cv"``;
        - ``"ranges"``: five variances from the boundaries of the four ranges, σ²_ce,
          √(σ²_ce σ²_ed), σ²_ed, √(σ²_ed σ²_da) and σ²_da;
        - a pair of a family, ``"gaussian"``, ``"laplacian"`` or ``"cauchy"``, and one of these.
    views : mapping of str to int, sequence of int, or None, default=None
        Numbers of columns of the views that X has side by side, in order, such as
        ``{"1 hop": 40, "2 hops": 40}``. Every view has a member for each entry of ``kernels``,
        which uses the columns of the view only; rules choose σ² for each view.
    n_frequencies : int, default=200
        D of every member.
    learning_rate : float, default=0.1
        η of every member, in (0, 1).
    weight_step : float or "auto", default="auto"
        λ > 0. ``"auto"`` takes a λ for which the bank's loss is always bounded, 1/(2B²), where B²
        is between the largest squared error of a member so far and twice that; weights then do
        not depend on the unit of y. The original algorithm has λ = η.
    regularization : float, default=0.0
        μ ≥ 0 of the original: members minimise (y − f)² + μ‖θ‖² and are charged with it. It
        must keep η (1 + 2μ) below 1.
    n_epochs : int, default=3
        Passes of ``fit`` over the rows.
    shuffle, random_state, keep_known
        As in :class:`SKGRegressor`.
    keep_weights : bool, default=False
        Whether to keep the weights of every step, for :meth:`plot_weights`: 8 bytes per member
        and step.

    Attributes
    ----------
    kernel_weights_ : ndarray of shape (P,)
        Weights of the members for the next prediction; they sum to 1.
    members_ : tuple of BankMember
        View, family, variance and rule of each member.
    sigma2_ : ndarray of shape (P,)
        Variance of each member.
    coef_ : ndarray of shape (P, 2D) or (P, n_targets, 2D)
        θ of each member.
    member_losses_ : ndarray of shape (P,)
        Lₚ: sum of the losses of each member over the training steps.
    loss_ : float
        Sum of the squared errors of the bank at the same steps.
    regret_bound_ : float
        Upper bound of ``loss_`` minus the smallest of ``member_losses_``.
    weights_history_ : ndarray of shape (n_steps, P)
        Weights that the node of each training step was predicted with, if ``keep_weights``.
    ranges_ : list of P Sigma2Ranges
        The four ranges of σ² for the view and family of each member.
    references_, seed_, n_seen_, n_features_in_, feature_names_in_
        As in :class:`SKGRegressor`.

    See Also
    --------
    SKGRegressor : a single kernel; as good at a fraction of the cost, if σ² is well chosen.

    Notes
    -----
    Members of one family share their frequencies, those of an :class:`SKGRegressor` with the
    same ``random_state``: features at σ² are sines and cosines of one projection divided by σ.
    A bank of one kernel is that model, bit for bit.

    Several targets share the weights: a loss is the sum over targets, so give them in one unit.

    References
    ----------
    Y. Shen, G. Leus and G. B. Giannakis, "Online Graph-Adaptive Learning with Scalability and
    Privacy", IEEE Transactions on Signal Processing 67(9), 2019.

    Examples
    --------
    >>> from gradraker import GradrakerRegressor, load_temperature
    >>> data = load_temperature()
    >>> X, y = data.adjacency, data.scale_values()
    >>> model = GradrakerRegressor(random_state=0).fit(X[:60], y[:60])
    >>> model.predict(X[60:63]).round(2)
    array([...])
    >>> [member.label for member in model.members_]
    ['σ² = 0.167', ...]
    >>> float(model.kernel_weights_.sum().round(12))
    1.0
    """

    bounds: ClassVar[Bounds] = {
        "n_frequencies": COUNT_OF_FREQUENCIES,
        "learning_rate": (0.0, 1.0),
        "weight_step": NOT_NEGATIVE,
        "regularization": NOT_NEGATIVE,
        "n_epochs": COUNT_OF_EPOCHS,
    }

    def __init__(
        self,
        *,
        kernels: Any = "ranges",
        views: Mapping[str, int] | Sequence[int] | None = None,
        n_frequencies: int = 200,
        learning_rate: float = 0.1,
        weight_step: float | str = AUTO,
        regularization: float = 0.0,
        n_epochs: int = 3,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        keep_known: bool = True,
        keep_weights: bool = False,
    ) -> None:
        self.kernels = kernels
        self.views = views
        self.n_frequencies = n_frequencies
        self.learning_rate = learning_rate
        self.weight_step = weight_step
        self.regularization = regularization
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.keep_known = keep_known
        self.keep_weights = keep_weights

    # -- training --------------------------------------------------------------

    def _start(self, X: Any, y: NDArray[np.float64], references: Any, tested: Any) -> None:
        """Set everything that does not change while the model learns."""
        if references is None:
            references = getattr(self, "feature_names_in_", None)
        kernels = check_kernels(self.kernels)
        named = () if references is None else check_references(references, X.shape[1])
        table = FamilyTables(
            make_seed(self.random_state),
            self.n_frequencies,
            (family for family, _ in kernels),
            n_numbered=X.shape[1] if references is None else 0,
            named=named,
        )
        check_tested_is_used(tested, [sigma2 for _, sigma2 in kernels])
        samples = self._make_samples(X, y.reshape(y.shape[0], -1), table, tested)
        members, ranges = choose_members(kernels, samples)
        self._set_initial_state(table, members, ranges, y.shape[1:])
        self._n_first = X.shape[0]
        if not self.keep_known:
            # The rows are not kept for later; equal rows have no ranges.
            for key, sample in samples.items():
                with suppress(ValueError):
                    self._ranges.setdefault(key, sample.ranges)

    def _start_empty(self, targets: tuple[int, ...]) -> None:
        """Start without rows, for the first node of :meth:`learn_one`."""
        check_bounds(self.bounds, self.get_params())
        members = []
        for family, sigma2 in check_kernels(self.kernels):
            if isinstance(sigma2, str):
                raise ValueError(
                    f"kernels has {sigma2!r}, a rule that needs rows to choose from, and learn_one "
                    "brings a single node: give variances, or call fit or partial_fit first"
                )
            members.append(BankMember(WHOLE, family, sigma2, "given"))
        if self.views is not None:
            raise ValueError(
                "views are numbers of columns of X, and learn_one brings names: call fit or "
                "partial_fit first"
            )
        families = [member.kernel for member in members]
        table = FamilyTables(make_seed(self.random_state), self.n_frequencies, families)
        self._set_initial_state(table, members, {}, targets)

    def _make_samples(
        self, X: Any, Y: NDArray[np.float64], table: FamilyTables, tested: Any
    ) -> dict[tuple[str, str], RuleInput]:
        """Input of the rules for σ², for each view and family."""
        views = check_views(self.views)
        rows_of_views: dict[str, tuple[Any, Any]] = {WHOLE: (X, tested)}
        if views is not None:
            view_of_column = assign_views(views, X.shape[1])
            rows_of_views = {
                name: (
                    select_view_matrix(X, view_of_column, number),
                    None if tested is None else select_view_matrix(tested, view_of_column, number),
                )
                for number, name in enumerate(views)
            }
        return {
            (view, family): RuleInput(
                part, Y, table[family], self.learning_rate, self.n_epochs, tested_part
            )
            for view, (part, tested_part) in rows_of_views.items()
            for family in table.families
        }

    def _set_initial_state(
        self,
        table: FamilyTables,
        members: Sequence[BankMember],
        ranges: dict[tuple[str, str], Sigma2Ranges],
        targets: tuple[int, ...],
    ) -> None:
        self._table = table
        self.seed_ = table.seed
        self.members_ = tuple(members)
        self.sigma2_ = np.array([member.sigma2 for member in members])
        self._ranges = ranges
        self._n_first = 0
        self._used = self._get_fixed_parameters()
        self._hedge = Hedge(len(members), self.weight_step, self.regularization)
        self.coef_ = np.zeros((len(members), *targets, 2 * table.n_frequencies))  # θ₀ = 0
        self.n_seen_ = 0
        self._record = Record() if self.keep_known else None
        self._history = [np.empty((0, len(members)))] if self.keep_weights else None

    def _train(
        self,
        X: Any,
        y: NDArray[np.float64],
        orders: list[NDArray[np.int64]],
        names: Sequence[Hashable] | None,
    ) -> None:
        rows = to_row_arrays(X)
        Y = y.reshape(y.shape[0], -1)  # [n, K]
        theta = self._get_theta().copy()  # [P, K, 2D]
        hedge = deepcopy(self._hedge)
        weights = train_bank(
            self._make_bank(rows, self._table, X.dtype),
            Y,
            theta,
            hedge,
            learning_rate=self.learning_rate,
            orders=orders,
            keep_weights=self._history is not None,
        )
        finite = np.isfinite(theta).all() and np.isfinite(hedge.losses).all()
        if not finite or not np.isfinite(hedge.totals).all():
            raise ValueError(
                "training left the range of float64: the values of X or the squares of y are "
                f"too large, or a variance ({self.sigma2_.min():g}) is too small for X; scale them"
            )
        self.coef_ = theta.reshape(self.coef_.shape)
        self._hedge = hedge
        self.n_seen_ += sum(order.size for order in orders)
        if self._record is not None:  # for explanations
            self._record.add(rows, Y, np.concatenate(orders), self._rate, X.dtype, names)
        if self._history is not None:
            self._history.append(weights)

    # -- files -----------------------------------------------------------------

    @classmethod
    def from_state(cls, parameters: dict[str, Any], state: State, arrays: Arrays) -> Self:
        """Make the model that a file describes."""
        model = cls(**parameters)
        model.check_parameters()
        members = [BankMember(**member) for member in state["members"]]
        families = {family for family, _ in check_kernels(model.kernels)}
        views = check_views(model.views)
        if not members or not all(is_sound(member, views, families) for member in members):
            raise ValueError("a member is none of the kernels and views")
        seed, n_numbered, named = restore_names(state)
        table = FamilyTables(
            seed,
            model.n_frequencies,
            [member.kernel for member in members],
            n_numbered=n_numbered,
            named=named,
        )
        if views is not None:
            check_view_widths(views, len(table))
        coef = check_coef(arrays, model.n_frequencies, (2, 3))
        ranges = {
            (view, get_kernel(family).name): Sigma2Ranges(**found)
            for view, family, found in state["ranges"]
        }
        model._set_initial_state(table, members, ranges, coef.shape[1:-1])
        if coef.shape != model.coef_.shape:
            raise ValueError(f"coef_ has shape {coef.shape} for {len(members)} members")
        model.coef_ = coef
        restore_row_state(model, state, arrays)
        model._restore_losses(state, arrays)
        return model

    def _restore_losses(self, state: State, arrays: Arrays) -> None:
        hedge = self._hedge
        for name in ("losses", "totals"):
            found, shape = arrays[name], getattr(hedge, name).shape
            sound = found.dtype == np.float64 and found.shape == shape and np.isfinite(found).all()
            if not sound or found.min() < 0.0:
                raise ValueError(f"{name} are not sums of squares")
            setattr(hedge, name, found)
        self._history = None
        if state["has_history"]:
            history = arrays["weights_history_"]
            if history.dtype != np.float64 or history.shape[1:] != hedge.losses.shape:
                raise ValueError(f"weights_history_ has shape {history.shape}")
            self._history = [history]

    # -- input -----------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""
        check_kernels(self.kernels)
        check_views(self.views)
        check_count("n_frequencies", self.n_frequencies)
        check_learning_rate(self.learning_rate)
        check_weight_step(self.weight_step)
        check_regularization(self.regularization, self.learning_rate)
        check_count("n_epochs", self.n_epochs)
        check_flag("shuffle", self.shuffle)
        check_flag("keep_known", self.keep_known)
        check_flag("keep_weights", self.keep_weights)

    def _get_fixed_parameters(self) -> dict[str, Any]:
        """Parameters that cannot change while the model learns."""
        views = check_views(self.views)
        return {
            "kernels": check_kernels(self.kernels),
            "views": None if views is None else tuple(views.items()),  # their order counts
            "n_frequencies": int(self.n_frequencies),
            "weight_step": self.weight_step,
            "regularization": self.regularization,
        }

    def _list_fixed_parameters(self) -> dict[str, tuple[Any, Any]]:
        """The same parameters, as set now and as used when the model started."""
        return {
            name: (value, self._used[name]) for name, value in self._get_fixed_parameters().items()
        }
