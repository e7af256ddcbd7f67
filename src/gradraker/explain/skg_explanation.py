"""Explain predictions of SKG exactly, as weighted sums of the values it has seen."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker.explain.learned_rows import Evidence
from gradraker.explain.linear_explanation import LinearExplanation, check_row
from gradraker.explain.similarity import efficient_distance, noise_range

# A sum of weights this far from 1 is worth a word (section VI.B.2 of the paper).
_FAR_FROM_ONE = 0.1


@describe_fields
@dataclass(frozen=True, eq=False, repr=False)
class Explanation(LinearExplanation):
    """Why a model predicts what it predicts: exact weights of the values it has seen.

    ``weights @ values`` equals ``prediction`` up to rounding (claim 3 of the paper): the weight of
    a known node is its contribution weight, summed over its training steps. Besides the attributes
    of :class:`LinearExplanation` it has those below.

    Examples
    --------
    >>> from gradraker import SKGRegressor
    >>> model = SKGRegressor(sigma2=1.0, n_epochs=1, shuffle=False, random_state=0)
    >>> explanation = model.fit([[1, 0], [1, 1]], [10.0, 20.0]).explain([[1, 1]])
    >>> explanation.weights.shape, explanation.by_time.shape
    ((1, 2), (1, 2))
    """

    similarities: Annotated[
        NDArray[np.float64],
        "Similarity measure B (n, n_known) between explained and known nodes, at the model's "
        "learning rate.",
    ]
    squared_distances: Annotated[
        NDArray[np.float64], "‖a_i − a*‖² (n, n_known) between adjacency vectors."
    ]
    order: Annotated[NDArray[np.int64], "Known node (T,) of each training step."]
    sigma2: Annotated[float, "Of the model."]
    learning_rate: Annotated[float, "Of the model."]
    kernel: Annotated[str, "Of the model."]
    _source: Evidence = field(repr=False)

    @cached_property
    def by_time(self) -> NDArray[np.float64]:
        """F_{i,T+1} of the paper: weight of the value seen at each time, shape (n, T)."""
        return self._source.compute_weights_by_time()

    def compute_row_by_time(self, row: int) -> NDArray[np.float64]:
        """Row ``row`` of ``by_time``, at the cost of one explained node."""
        number = check_row(row, self.weights.shape[0])
        return (
            self.by_time[number]
            if "by_time" in vars(self)
            else self._source.compute_row_by_time(number)
        )

    @property
    def advice(self) -> str | None:
        """What to change where weights do not sum to about 1, or None where they do."""
        sums = self.sum_of_weights
        n_low = int(np.sum(sums < 1.0 - _FAR_FROM_ONE))
        n_high = int(np.sum(sums > 1.0 + _FAR_FROM_ONE))
        if n_low > n_high:
            return (
                f"The weights of {n_low} of {sums.size} predictions sum to less than "
                f"{1 - _FAR_FROM_ONE:g} (median of all: {np.median(sums):.2f}), so these are drawn "
                "towards 0: raise n_epochs or learning_rate, or sigma2 if these nodes resemble "
                "none that was seen."
            )
        if n_high > 0:
            return (
                f"The weights of {n_high} of {sums.size} predictions sum to more than "
                f"{1 + _FAR_FROM_ONE:g} (median of all: {np.median(sums):.2f}), so these are drawn "
                "away from 0: raise n_frequencies or lower learning_rate."
            )
        return None

    def describe_pairs(self, rows: list[int], known: list[int]) -> dict[str, Any]:
        """Return similarity measure and squared distance of pairs of nodes."""
        return {
            "similarity": self.similarities[rows, known],
            "squared_distance": self.squared_distances[rows, known],
        }

    def efficient_distance(self, row: int = 0) -> float:
        """Efficient distance of an explained node; see the function of that name.

        It is a squared distance for the Gaussian kernel and an l1 distance for the Laplacian one,
        both read off B. The Cauchy kernel is no function of one distance: there it is
        :meth:`find_significant_distance`.
        """
        F = self.compute_row_by_time(row)
        if self.kernel in ("gaussian", "laplacian"):
            return efficient_distance(
                self.similarities[row][self.order],
                F,
                sigma2=self.sigma2,
                learning_rate=self.learning_rate,
                kernel=self.kernel,
            )
        return self.find_significant_distance(row)

    def find_significant_distance(self, row: int = 0) -> float:
        """Find the largest of ``squared_distances`` among nodes whose weight is not noise."""
        F = self.compute_row_by_time(row)
        chosen = self.squared_distances[row][self.order][noise_range(F)[1] < F]
        return float(chosen.max()) if chosen.size else float("nan")

    def split_prediction(self) -> "SplitPrediction":
        """Split predictions into the sums over significant and over insignificant weights.

        A weight F_{i,T+1} is significant if it lies above the noise range of its prediction:
        equation (dividepreidction) of the paper. The second sum is the less predictable part.

        Examples
        --------
        >>> from gradraker import SKGRegressor, load_temperature
        >>> data = load_temperature()
        >>> X, y = data.adjacency, data.scale_values()
        >>> explanation = SKGRegressor(random_state=0).fit(X[:60], y[:60]).explain(X[60:])
        >>> split = explanation.split_prediction()
        >>> total = split.significant + split.insignificant
        >>> bool(abs(total - explanation.prediction).max() < 1e-10)
        True
        """
        n = self.weights.shape[0]
        significant = np.zeros((n, *self.values.shape[1:]))
        insignificant = np.zeros_like(significant)
        n_significant, noise = np.zeros(n, dtype=np.int64), np.zeros(n)
        seen = self.values[self.order]  # [T] or [T, K]
        for rows, F in self._source.iterate_batches():
            noise[rows] = np.maximum(0.0, -F.min(axis=1, initial=0.0))
            counts = noise[rows, np.newaxis] < F  # [batch, T]
            n_significant[rows] = counts.sum(axis=1)
            significant[rows] = np.where(counts, F, 0.0) @ seen
            insignificant[rows] = np.where(counts, 0.0, F) @ seen
        return SplitPrediction(significant, insignificant, n_significant, noise)

    def plot(self, row: int = 0, *, ax: Any = None) -> Any:
        """Draw B and F of an explained node against time, the paper's figure 3."""
        from gradraker.plotting import ContributionWeightsDisplay

        return ContributionWeightsDisplay.from_explanation(self, row=row, ax=ax)

    def plot_nodes(self, row: int = 0, *, ax: Any = None) -> Any:
        """Draw known nodes by distance to an explained node, the paper's figure 2."""
        from gradraker.plotting import NodeDistancesDisplay

        return NodeDistancesDisplay.from_explanation(self, row=row, ax=ax)

    def __repr__(self) -> str:
        n, n_known = self.weights.shape
        sums = self.sum_of_weights
        text = (
            f"Explanation of {n} predictions by {n_known} known nodes, "
            f"{self.order.size} steps; weights sum to {sums.min():.3g} … {sums.max():.3g}"
        )
        return text if self.advice is None else f"{text}\n  {self.advice}"


@describe_fields
@dataclass(frozen=True, eq=False)
class SplitPrediction:
    """Predictions in two parts, equation (dividepreidction); with ``offset`` they sum to them.

    Examples
    --------
    >>> from gradraker import SKGRegressor
    >>> model = SKGRegressor(sigma2=1.0, random_state=0)
    >>> model = model.fit([[1, 0], [1, 1], [0, 1]], [1.0, 2.0, 3.0])
    >>> explanation = model.explain([[1, 1]])
    >>> split = explanation.split_prediction()
    >>> bool(abs(split.significant + split.insignificant - explanation.prediction).max() < 1e-9)
    True
    """

    significant: Annotated[
        NDArray[np.float64],
        "Sums of F times value over training steps whose F lies above the noise range, (n,) or "
        "(n, n_targets).",
    ]
    insignificant: Annotated[NDArray[np.float64], "The same sums over the other steps."]
    n_significant: Annotated[NDArray[np.int64], "Training steps with a significant weight, (n,)."]
    noise: Annotated[NDArray[np.float64], "Upper end of the noise range of each prediction, (n,)."]
