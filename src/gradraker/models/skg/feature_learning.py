"""Learn from features that nodes computed themselves, so that their links stay with them."""

import math
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, check_is_fitted

from gradraker._compiled.fourier_lms import run_lms_pass
from gradraker._validation import check_learning_rate, make_seed
from gradraker.features import (
    FrequencyTable,
    check_references,
    compute_fourier_features,
    to_row_arrays,
)
from gradraker.models.rows.row_input import prepare_rows
from gradraker.models.skg.starting import StartingSKG
from gradraker.models.turns import rollback_on_error


class FeatureLearning(StartingSKG):
    """``features``, ``learn_features`` and ``predict_features`` for SKG."""

    def features(
        self, X: Any, *, references: Sequence[Hashable] | NDArray[Any] | None = None
    ) -> NDArray[Any]:
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
        z instead of its links. What z gives away is said in ``docs/theory/privacy.md``.

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
            :meth:`explain`, since it has not seen the rows.

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
            # Frequencies of a seed that nobody gave are not those of the nodes.
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
        # As fit does: a data frame with string names brings them.
        references = _get_feature_names(X)
    if references is None:
        table = FrequencyTable(seed, model.n_frequencies, model.kernel, n_numbered=checked.shape[1])
    else:
        names = check_references(references, checked.shape[1])
        table = FrequencyTable(seed, model.n_frequencies, model.kernel, named=names)
    rows = to_row_arrays(checked)
    scale = 1.0 / math.sqrt(float(model.sigma2))
    return compute_fourier_features(rows, table.prepare(rows.indices), scale, dtype=checked.dtype)
