"""SKG as a linear model on features: how it starts, and learning from features of nodes.

Nodes may compute their features themselves, so that they need not share their links.
"""

import math
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, check_is_fitted

from gradraker._compiled.fourier_lms import run_lms_pass
from gradraker._locks import rollback_on_error
from gradraker._validation import check_bounds, check_learning_rate, is_auto, make_seed
from gradraker.explain.skg_explanation import Record
from gradraker.features import (
    FrequencyTable,
    References,
    check_references,
    compute_fourier_features,
    to_row_arrays,
)
from gradraker.kernels.shift_invariant import Sigma2Ranges
from gradraker.models.row_model import RowModel, prepare_rows
from gradraker.models.sigma2 import ChosenSigma2, RuleInput, check_tested_is_used, choose_sigma2
from gradraker.models.skg.auto_settings import WantedSettings, choose_sigma2_and_settings


class FeatureLearning(RowModel):
    """The part of :class:`SKGRegressor` that chooses settings, makes the first θ and takes z.

    Settings do not change while it learns.
    """

    kernel: str
    sigma2: Any
    n_frequencies: Any
    random_state: Any
    keep_known: bool
    sigma2_: float
    _ranges: Sigma2Ranges | None
    _table: FrequencyTable

    # -- the start -------------------------------------------------------------

    def _start(self, X: Any, y: NDArray[np.float64], references: Any, tested: Any) -> None:
        """Set everything that does not change while the model learns."""
        if references is None:
            references = getattr(self, "feature_names_in_", None)
        seed, kernel, n_columns = make_seed(self.random_state), self.kernel, X.shape[1]
        Y = y.reshape(y.shape[0], -1)  # [n, K]
        nodes = _list_columns(references, n_columns)

        def make_sample(n_frequencies: int, learning_rate: float, n_epochs: int) -> RuleInput:
            table = FrequencyTable(seed, n_frequencies, kernel, **nodes)
            return RuleInput(X, Y, table, learning_rate, n_epochs, tested)

        check_tested_is_used(tested, (self.sigma2,))
        D, rate, n_epochs = self.n_frequencies, self.learning_rate, self.n_epochs
        if any(map(is_auto, (self.sigma2, D, rate, n_epochs))):
            wanted = WantedSettings(self.sigma2, rate, n_epochs, D)
            choice, sample = choose_sigma2_and_settings(wanted, make_sample)
        else:
            sample = make_sample(int(D), float(rate), int(n_epochs))
            choice = choose_sigma2(self.sigma2, sample)
        self._set_initial_state(sample.table, choice, y.shape[1:])
        self.learning_rate_, self.n_epochs_ = sample.learning_rate, sample.n_epochs
        self._n_first = X.shape[0]
        if self._ranges is None and not self.keep_known:
            # The rows are not kept for later; equal rows have no ranges.
            with suppress(ValueError):
                self._ranges = sample.ranges

    @property
    def _rate(self) -> float:
        """Learning rate of the next step; a given one may be changed at any time."""
        return self.learning_rate_ if is_auto(self.learning_rate) else float(self.learning_rate)

    def _get_n_epochs(self) -> int:
        return self.n_epochs_

    def _refuse_auto(self, method: str) -> None:
        for name in ("n_frequencies", "learning_rate", "n_epochs"):
            if is_auto(getattr(self, name)):
                raise ValueError(
                    f"{name}='auto' is chosen by fit on many rows, and {method} came first: give "
                    "a number, or call fit"
                )

    def _start_empty(self, targets: tuple[int, ...]) -> None:
        """Start without rows, for the first node of :meth:`learn_one`."""
        self.check_parameters()
        self._refuse_auto("learn_one or learn_features")
        check_bounds(self.bounds, self.get_params())
        if isinstance(self.sigma2, str):
            raise ValueError(
                f"sigma2={self.sigma2!r} is a rule that needs rows to choose from, and learn_one "
                "brings a single node: give sigma2 as a number, or call fit or partial_fit first"
            )
        table = FrequencyTable(make_seed(self.random_state), self.n_frequencies, self.kernel)
        self._set_initial_state(table, ChosenSigma2(float(self.sigma2)), targets)
        self.learning_rate_, self.n_epochs_ = float(self.learning_rate), int(self.n_epochs)

    def _set_initial_state(
        self, table: FrequencyTable, choice: ChosenSigma2, targets: tuple[int, ...]
    ) -> None:
        self._table = table
        self.seed_ = table.seed
        self.n_frequencies_ = table.n_frequencies
        self._knows_frequencies = True
        self.sigma2_ = choice.sigma2
        self.sigma2_rule_ = self.sigma2 if isinstance(self.sigma2, str) else "given"
        self._ranges = choice.ranges
        self._n_first = 0
        self.coef_ = np.zeros((*targets, 2 * table.n_frequencies))  # θ₀ = 0
        self.n_seen_ = 0
        self._record = Record() if self.keep_known else None

    @property
    def _scale(self) -> float:
        return 1.0 / math.sqrt(self.sigma2_)

    @property
    def _targets(self) -> tuple[int, ...]:
        """Shape of the value of one node."""
        return self.coef_.shape[:-1]

    # -- features of nodes -----------------------------------------------------

    def features(self, X: Any, *, references: References = None) -> NDArray[Any]:
        """Return the random Fourier features z of each row, equation (1), shape (n, 2D).

        A model that was not fitted has features too, if ``sigma2``, ``n_frequencies`` and
        ``random_state`` are numbers: a node can compute its z by itself, and send it to a model
        that learns by :meth:`learn_features`.
        """
        if not hasattr(self, "coef_"):
            return _compute_unfitted_features(self, X, references)
        rows, units, dtype, _ = prepare_rows(self, X, references)
        return compute_fourier_features(rows, units, self._scale, dtype=dtype)

    @rollback_on_error
    def learn_features(self, Z: ArrayLike, y: ArrayLike) -> Self:
        """Learn values from features z instead of adjacency vectors, one row after the other.

        A node computes z by :meth:`features` with the seed and σ² that all nodes share, and sends
        z instead of its links. ``docs/theory/privacy.md`` describes what z reveals.

        Parameters
        ----------
        Z : array-like of shape (n, 2D) or (2D,)
            Features of nodes, or of one node.
        y : array-like of shape (n,) or (n, n_targets), or a number
            Values.

        Returns
        -------
        self
            The same model as ``partial_fit`` of the adjacency vectors makes. It can no longer
            :meth:`explain`, since it does not have the rows.

        Examples
        --------
        >>> from gradraker import SKGRegressor, load_temperature
        >>> data = load_temperature()
        >>> X, y = data.adjacency, data.scale_values()
        >>> node = SKGRegressor(sigma2=5.0, random_state=123)  # the seed is shared by the nodes
        >>> learner = SKGRegressor(sigma2=5.0)  # and unknown to the learner
        >>> learner = learner.learn_features(node.features(X[:60]), y[:60])
        >>> learner.predict_features(node.features(X[60:62])).round(2)
        array([...])
        """
        values = np.array(y, dtype=np.float64, order="C")
        features = np.atleast_2d(np.asarray(Z))
        if np.ndim(Z) == 1:
            values = values[np.newaxis]
        if values.ndim not in (1, 2) or values.shape[0] != features.shape[0]:
            raise ValueError(
                f"y must have a value for each of {features.shape[0]} rows of Z, got shape "
                f"{np.shape(y)}"
            )
        if not np.isfinite(values).all():
            raise ValueError("y must hold finite numbers: leave nodes without a value out")
        if not hasattr(self, "coef_"):
            self._start_empty(values.shape[1:])
            # Without a given seed the frequencies are not those of the nodes.
            self._knows_frequencies = self.random_state is not None
        if values.shape[1:] != self.coef_.shape[:-1]:
            raise ValueError(
                f"y has values of shape {values.shape[1:]}, but the model learned values of shape "
                f"{self.coef_.shape[:-1]}"
            )
        checked = self._check_features(features, training=True)
        theta = self.coef_.reshape(-1, self.coef_.shape[-1]).copy()  # [K, 2D]
        Y = values.reshape(values.shape[0], -1)
        run_lms_pass(
            checked, np.arange(Y.shape[0]), Y, 2.0 * check_learning_rate(self._rate), theta
        )
        self.coef_ = theta.reshape(self.coef_.shape)
        self.n_seen_ += Y.shape[0]
        self._record = None  # an explanation without these steps would not add up
        return self

    def predict_features(self, Z: ArrayLike) -> NDArray[np.float64]:
        """Predict values from features z.

        Parameters
        ----------
        Z : array-like of shape (n, 2D) or (2D,)
            Features of nodes, or of one node.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets), without the first axis for one node
        """
        check_is_fitted(self, "coef_")
        predictions = (
            self._check_features(np.atleast_2d(np.asarray(Z)), training=False) @ self.coef_.T
        )
        found: NDArray[np.float64] = predictions[0] if np.ndim(Z) == 1 else predictions
        return found

    def _check_features(self, Z: Any, *, training: bool) -> NDArray[np.float64]:
        """Features as float64, of the right width and of a length that keeps training stable."""
        checked: NDArray[np.float64] = check_array(
            Z, dtype=np.float64, order="C", input_name="Z", copy=True
        )
        if checked.shape[1] != self.coef_.shape[-1]:
            raise ValueError(
                f"Z has {checked.shape[1]} columns, but this model has 2D = {self.coef_.shape[-1]} "
                "features: nodes and learner need the same n_frequencies"
            )
        # A step is stable while 2η‖z‖² < 2; features of a node have length 1.
        longest = float(np.square(checked).sum(axis=1).max())
        if training and self._rate * longest >= 1.0:
            raise ValueError(
                f"Z has a row of length {longest**0.5:.3g}, with which a step of learning_rate "
                f"{self._rate:g} is unstable: features have length 1; lower learning_rate, or "
                "scale rows that carry noise"
            )
        return checked


def _list_columns(references: References, n: int) -> dict[str, Any]:
    """Return the columns of X as a table of frequencies takes them: by names, or numbered."""
    return {"n_numbered": n} if references is None else {"named": check_references(references, n)}


def _compute_unfitted_features(model: FeatureLearning, X: Any, references: Any) -> NDArray[Any]:
    """Features of rows by a model that has only its parameters."""
    model.check_parameters()
    for name in ("sigma2", "n_frequencies"):
        if isinstance(getattr(model, name), str):
            raise NotFittedError(
                f"{name}={getattr(model, name)!r} is chosen by fit, so this model has no features "
                f"yet: call fit, or give {name} as a number"
            )
    if not isinstance(model.random_state, int | np.integer):
        raise NotFittedError(
            "random_state must be an integer for features before fit: nodes that send features to "
            f"one learner share a seed, got {model.random_state!r}"
        )
    checked = check_array(
        X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X", estimator=model
    )
    seed = make_seed(int(model.random_state))
    if references is None:
        # As in fit: the string names of a data frame are used.
        references = _get_feature_names(X)
    nodes = _list_columns(references, checked.shape[1])
    table = FrequencyTable(seed, model.n_frequencies, model.kernel, **nodes)
    rows = to_row_arrays(checked)
    scale = 1.0 / math.sqrt(float(model.sigma2))
    return compute_fourier_features(rows, table.prepare(rows.indices), scale, dtype=checked.dtype)
