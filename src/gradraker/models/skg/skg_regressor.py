"""Single-kernel Gradraker (SKG) as a scikit-learn estimator."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gradraker._validation import (
    COUNT_OF_EPOCHS,
    COUNT_OF_FREQUENCIES,
    NOT_NEGATIVE,
    Bounds,
    check_count,
    check_flag,
    check_learning_rate,
    check_projections,
    is_auto,
    to_read_only,
)
from gradraker.explain.skg_explanation import Explanation
from gradraker.features import FrequencyTable, References, predict_linear, to_row_arrays
from gradraker.kernels import get_kernel
from gradraker.kernels.shift_invariant import Sigma2Ranges
from gradraker.linear.lms import train
from gradraker.models.persistence.saving import Arrays, State, check_int
from gradraker.models.row_model import (
    check_same_features,
    choose_names,
    find_row_names,
    gather_evidence,
    prepare_rows,
)
from gradraker.models.row_state import check_coef, dump_row_state, restore_names, restore_row_state
from gradraker.models.sigma2 import ChosenSigma2, check_sigma2
from gradraker.models.skg.one_node import OneNodeSKG


class SKGRegressor(RegressorMixin, OneNodeSKG):
    """Predict node values from adjacency vectors, online (single-kernel Gradraker).

    A row a of X goes through D random Fourier features of a kernel,
    z = [sin ξ₁ᵀa, …, sin ξ_Dᵀa, cos ξ₁ᵀa, …, cos ξ_Dᵀa] / √D, and a linear model
    f = θᵀz is trained one node at a time from θ₀ = 0 by θ ← θ + 2η (y − f) z:
    equations (1) to (4) of the paper.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "cauchy"}, default="gaussian"
        Kernel that the features approximate; see :data:`gradraker.kernels.KERNELS`.
    sigma2 : float or str, default="cv"
        Kernel variance σ² > 0 (for the Laplacian kernel the paper's diversity b is √sigma2),
        or the name of a rule that chooses it from the training rows:

        - ``"theory"``: algorithm 1 of the paper, σ²_ed = d²max / ln(2D);
        - ``"refined"``: algorithms 1 and 2, with the noise range measured by a simulation;
        - ``"median"``: the median squared distance between rows;
        - ``"cv"``: cross-validation between σ²_ce and σ²_da on (at most 2000 of) the training
          rows, with one projection for all variances;
        - ``"auto"``: cross-validation together with the settings below that are "auto".
    n_frequencies : int or "auto", default=200
        D; z has 2D entries. "auto" takes 800, or 1600 if held-out errors fall by more than their
        noise.
    learning_rate : float or "auto", default=0.1
        η in (0, 1). Since ‖z‖ = 1, the update is stable only there. "auto" takes 0.1,
        or 0.02 or 0.05 if held-out errors fall by more than their noise.
    n_epochs : int or "auto", default=3
        Passes of ``fit`` over the rows. "auto" watches held-out errors while it trains and stops
        when they no longer fall, after 50 at the latest.
    shuffle : bool, default=True
        Whether ``fit`` goes through the rows in a new random order in each epoch.
    random_state : int, RandomState instance or None, default=None
        Seed of the frequencies and the orders. An integer gives the same model again.
    keep_known : bool, default=True
        Whether to keep the rows, values and order of training, which :meth:`explain` needs.
        It takes 12 bytes per edge, 16 per training step, 9 per node and 8 per value; for
        endless streams set it to False.

    Attributes
    ----------
    coef_ : ndarray of shape (2D,) or (n_targets, 2D)
        θ, sines first.
    sigma2_ : float
        The variance in use.
    sigma2_rule_ : str
        The rule that chose it, or ``"given"``.
    n_frequencies_, learning_rate_, n_epochs_
        D, η and E in use.
    ranges_ : Sigma2Ranges
        The four ranges of σ² for the rows of ``fit``, or of the first chunk, if two of them differ.
    frequencies_ : ndarray of shape (n_references, D)
        Random frequencies ξ of the referencing nodes; computed on access.
    references_ : sequence of names
        The referencing nodes, in the order in which they were added: column numbers or names.
    seed_ : int
        Seed from which the frequencies are drawn, together with the names.
    n_seen_ : int
        Training steps taken: one per row and epoch.
    n_features_in_ : int
        Columns of the first X.
    feature_names_in_ : ndarray of str
        Names of the columns, if X was a data frame with string names.

    Notes
    -----
    The frequencies of a referencing node depend on the seed and on its name only (for X
    without names, the column number). So X may be split into any chunks of rows, and the
    reference set may grow: pass ``references``, the names of the columns, or learn one node
    at a time with :meth:`learn_one`.

    There is no intercept: a node that resembles no known node is predicted near 0. Centre or
    scale the values first if 0 is far from them; :func:`gradraker.predict_nodes` does.

    Dense, sparse and data-frame input are the same to the estimator: entries that are
    stored twice in a sparse matrix add up, as in SciPy. A node without neighbours (a row of
    zeros) is allowed. Float32 input gives float32 features; parameters are float64 always.

    References
    ----------
    Y. Zhao and E. Ayanoglu, "Gaussian Kernel Variance For an Adaptive Learning Method on
    Signals Over Graphs", 2022.

    Examples
    --------
    >>> from gradraker import SKGRegressor, load_temperature
    >>> data = load_temperature()
    >>> X, y = data.adjacency, data.scale_values()
    >>> model = SKGRegressor(random_state=0).fit(X[:60], y[:60])
    >>> model.predict(X[60:63]).round(2)
    array([...])
    """

    bounds: ClassVar[Bounds] = {
        "sigma2": NOT_NEGATIVE,
        "n_frequencies": COUNT_OF_FREQUENCIES,
        "learning_rate": (0.0, 1.0),
        "n_epochs": COUNT_OF_EPOCHS,
    }
    _ranges: Sigma2Ranges | None

    def __init__(
        self,
        *,
        kernel: str = "gaussian",
        sigma2: float | str = "cv",
        n_frequencies: int | str = 200,
        learning_rate: float | str = 0.1,
        n_epochs: int | str = 3,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        keep_known: bool = True,
    ) -> None:
        self.kernel = kernel
        self.sigma2 = sigma2
        self.n_frequencies = n_frequencies
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.shuffle = shuffle
        self.random_state = random_state
        self.keep_known = keep_known

    # -- training --------------------------------------------------------------

    def _train(
        self,
        X: Any,
        y: NDArray[np.float64],
        orders: list[NDArray[np.int64]],
        names: Sequence[Hashable] | None,
    ) -> None:
        rows = to_row_arrays(X)
        Y = y.reshape(y.shape[0], -1)  # [n, K]
        theta = self.coef_.reshape(-1, self.coef_.shape[-1]).copy()  # [K, 2D]
        n_steps = train(
            rows,
            Y,
            theta,
            units=self._table.prepare(rows.indices),
            scale=self._scale,
            learning_rate=self._rate,
            orders=orders,
            dtype=X.dtype,
        )
        if not np.isfinite(theta).all():
            raise ValueError(
                "training left the range of float64: the values of X or y are too large, or "
                f"sigma2 ({self.sigma2_:g}) is too small for X; scale them"
            )
        self.coef_ = theta.reshape(self.coef_.shape)
        self.n_seen_ += n_steps
        if self._record is not None:  # for explanations
            self._record.add(rows, Y, np.concatenate(orders), self._rate, X.dtype, names)

    # -- prediction ------------------------------------------------------------

    def predict(self, X: Any, *, references: References = None) -> NDArray[np.float64]:
        """Predict the values of nodes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, M)
            Adjacency vectors.
        references : sequence of M names, optional
            Names of the columns of X, in any order; new names are allowed.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
        """
        rows, units, dtype, _ = prepare_rows(self, X, references)
        theta = self.coef_.reshape(-1, self.coef_.shape[-1])  # [K, 2D]
        predictions = predict_linear(rows, units, self._scale, theta=theta, dtype=dtype)
        return self._check_finite(predictions).reshape(-1, *self._targets)

    def _check_finite(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        return check_projections(predictions, f"sigma2 = {self.sigma2_:g}")

    def explain(
        self,
        X: Any,
        *,
        references: References = None,
        node_names: Sequence[Hashable] | None = None,
        known_names: Sequence[Hashable] | None = None,
    ) -> Explanation:
        """Explain predictions exactly, as weighted sums of the known values.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, M)
            Adjacency vectors of explained nodes, as for :meth:`predict`.
        references : sequence of M names, optional
            Names of the columns of X.
        node_names, known_names : sequence of names, optional
            Names of the explained and of the known nodes (rows of ``fit``, then of each
            ``partial_fit`` and ``learn_one``). By default the index of the data frame, where X
            was one, else numbers.

        Returns
        -------
        gradraker.explain.Explanation

        Examples
        --------
        >>> from gradraker import SKGRegressor, load_temperature
        >>> data = load_temperature()
        >>> X, y = data.adjacency, data.scale_values()
        >>> model = SKGRegressor(random_state=0).fit(X[:60], y[:60])
        >>> explanation = model.explain(X[60:])
        >>> bool(abs(explanation.weights @ y[:60] - model.predict(X[60:])).max() < 1e-10)
        True
        """
        learning_rate = check_learning_rate(self._rate)
        names = find_row_names(X)
        prepared = prepare_rows(self, X, references)
        evidence = gather_evidence(self, prepared, self._scale)
        theta = self.coef_.reshape(-1, self.coef_.shape[-1])  # [K, 2D]
        predictions = self._check_finite(evidence.stars @ theta.T)  # [n, K]
        learned = evidence.learned
        return Explanation(
            weights=evidence.sum_weights(),
            similarities=2.0 * learning_rate * (evidence.stars @ evidence.Z.T),
            squared_distances=evidence.measure_squared_distances(),
            # Views of the model's own record, so they are read-only.
            values=to_read_only(learned.Y.reshape(-1, *self._targets)),
            prediction=predictions.reshape(-1, *self._targets),
            order=to_read_only(learned.order),
            node_names=choose_names("node_names", node_names, names, len(predictions)),
            known_names=choose_names("known_names", known_names, learned.names, len(learned)),
            sigma2=self.sigma2_,
            learning_rate=learning_rate,
            kernel=self.kernel,
            _source=evidence,
        )

    @property
    def frequencies_(self) -> NDArray[np.float64]:
        """Random frequencies ξ, shape (n_references, D)."""
        check_is_fitted(self, "coef_")
        return self._table.compute_frequencies(self._scale)

    @property
    def ranges_(self) -> Sigma2Ranges:
        """The four ranges of σ²; computed on first use if the rule did not need them."""
        check_is_fitted(self, "coef_")
        if self._ranges is None:
            self._ranges = self._find_ranges(self._table.kernel)
        return self._ranges

    def _list_fixed_parameters(self) -> dict[str, tuple[Any, Any]]:
        """Parameters that cannot change while the model learns: as set now, and as used."""
        table = self._table
        return {
            "kernel": (self.kernel, table.kernel),
            "n_frequencies": (
                table.n_frequencies if is_auto(self.n_frequencies) else self.n_frequencies,
                table.n_frequencies,
            ),
        }

    def describe_sigma2(self) -> dict[str, Any]:
        """Return the variance in use and its range, as a dict that JSON can hold."""
        facts: dict[str, Any] = {"value": float(self.sigma2_), "rule": self.sigma2_rule_}
        try:
            ranges = self.ranges_
        except AttributeError:  # all known rows are equal: a given σ² has no range
            return facts | {"range": None, "meaning": None, "boundaries": None}
        return facts | ranges.describe(self.sigma2_)

    # -- files -----------------------------------------------------------------

    def dump_state(self) -> tuple[State, Arrays]:
        """Return the state and arrays of a file: the seed and the names, not the frequencies."""
        state, arrays = dump_row_state(self)
        ranges = None if self._ranges is None else asdict(self._ranges)
        chosen = {
            "sigma2_": self.sigma2_,
            "n_frequencies_": self.n_frequencies_,
            "learning_rate_": self.learning_rate_,
            "n_epochs_": self.n_epochs_,
            "knows_frequencies": self._knows_frequencies,
        }
        return state | chosen | {"ranges_": ranges}, arrays

    @classmethod
    def from_state(cls, parameters: dict[str, Any], state: State, arrays: Arrays) -> Self:
        """Make the model that a file describes."""
        model = cls(**parameters)
        model.check_parameters()
        n_frequencies = check_int(
            "n_frequencies_", state["n_frequencies_"], least=1, most=COUNT_OF_FREQUENCIES[1]
        )
        coef = check_coef(arrays, n_frequencies, (1, 2))
        seed, n_numbered, named = restore_names(state)
        table = FrequencyTable(
            seed, n_frequencies, model.kernel, n_numbered=n_numbered, named=named
        )
        ranges = None if state["ranges_"] is None else Sigma2Ranges(**state["ranges_"])
        choice = ChosenSigma2(float(check_sigma2(state["sigma2_"])), ranges)
        model._set_initial_state(table, choice, coef.shape[:-1])
        model.coef_ = coef
        model.learning_rate_ = check_learning_rate(state["learning_rate_"])
        model.n_epochs_ = check_int(
            "n_epochs_", state["n_epochs_"], least=1, most=COUNT_OF_EPOCHS[1]
        )
        model._knows_frequencies = check_flag("knows_frequencies", state["knows_frequencies"])
        check_same_features(model)
        restore_row_state(model, state, arrays)
        return model

    # -- input -----------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse invalid parameters."""
        get_kernel(self.kernel)
        if not is_auto(self.sigma2):
            check_sigma2(self.sigma2)
        if not is_auto(self.n_frequencies):
            check_count("n_frequencies", self.n_frequencies)
        if not is_auto(self.learning_rate):
            check_learning_rate(self.learning_rate)
        if not is_auto(self.n_epochs):
            check_count("n_epochs", self.n_epochs)
        check_flag("shuffle", self.shuffle)
        check_flag("keep_known", self.keep_known)
