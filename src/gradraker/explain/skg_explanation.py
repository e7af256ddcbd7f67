"""The record of learned rows, and predictions of SKG as weighted sums of the known values."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker._fields import describe_fields
from gradraker._validation import check_row
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.explain.similarity import efficient_distance, noise_range
from gradraker.features import RowArrays
from gradraker.linear.lms import contribution_weights, iterate_weight_batches, sum_weights_by_node

# Nodes learned one at a time that are kept as bytes and lists of numbers, until they are joined.
_MOST_SINGLE_NODES = 1000
# A sum of weights this far from 1 deserves advice (section VI.B.2 of the paper).
_FAR_FROM_ONE = 0.1


@dataclass(frozen=True, eq=False)
class LearnedRows:
    """Known nodes, one per row, and the times at which they were used."""

    rows: RowArrays  # [n] adjacency vectors; columns are rows of the frequency table
    Y: NDArray[np.float64]  # [n, K] values
    order: NDArray[np.int64]  # [T] known node of each training step
    rates: NDArray[np.float64]  # [T] learning rate of each step
    single: NDArray[np.bool_]  # [n] whether the features of the node were float32
    names: tuple[Hashable, ...] | None  # [n] if the caller gave any

    def __len__(self) -> int:
        return self.rows.indptr.size - 1


class Evidence(NamedTuple):
    """The data of an explanation: known and explained nodes, and their features.

    It is a snapshot that further training does not change. Columns of ``explained`` and of
    ``learned.rows`` are the same ``width`` referencing nodes.
    """

    learned: LearnedRows
    Z: NDArray[np.float64]  # [n_known, 2D]
    explained: RowArrays
    stars: NDArray[np.float64]  # [n, 2D]
    width: int

    def compute_weights_by_time(self) -> NDArray[np.float64]:
        """F of all explained nodes, (n, T)."""
        weights = np.empty((self.stars.shape[0], self.learned.order.size))
        for batch, part in self.iterate_batches():
            weights[batch] = part
        return weights

    def compute_row_by_time(self, row: int) -> NDArray[np.float64]:
        """F of one explained node, (T,)."""
        return contribution_weights(self.Z, self.learned.order, self.stars[row], self.learned.rates)

    def sum_weights(self) -> NDArray[np.float64]:
        """F of all explained nodes, summed over the steps of each known node, (n, n_known)."""
        return sum_weights_by_node(self.Z, self.learned.order, self.stars, self.learned.rates)

    def measure_squared_distances(self) -> NDArray[np.float64]:
        """‖a − b‖² between explained rows a and learned rows b, (n, n_known)."""
        A, B = (
            csr_array((rows.data, rows.indices, rows.indptr), (rows.indptr.size - 1, self.width))
            for rows in (self.explained, self.learned.rows)
        )
        norms_a = np.asarray(A.multiply(A).sum(axis=1)).reshape(-1, 1)
        norms_b = np.asarray(B.multiply(B).sum(axis=1)).reshape(1, -1)
        distances = norms_a + norms_b - 2.0 * (A @ B.T).toarray()
        # The difference of nearly equal numbers may end just below 0.
        return np.asarray(np.maximum(distances, 0.0))

    def iterate_batches(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield explained nodes and their weights by time, some nodes at a time."""
        learned = self.learned
        return iterate_weight_batches(self.Z, learned.order, self.stars, learned.rates)


class Record:
    """A growing record of the rows that were learned.

    It takes 12 bytes per edge, 16 per training step, 9 per node, and 8 for each of its values.
    """

    def __init__(self, parts: Sequence[LearnedRows] = ()) -> None:
        self._parts = list(parts)
        self._clear_single_nodes()

    def _clear_single_nodes(self) -> None:
        # Nodes that were learned one at a time. Bytes are appended in 0.1 µs; keeping arrays
        # would take a fifth of the time of learn_one.
        self._indices, self._weights = bytearray(), bytearray()
        self._sizes: list[int] = []
        self._values: list[float | NDArray[np.float64]] = []
        self._rates: list[float] = []

    def __getstate__(self) -> dict[str, Any]:
        return {"parts": [self.to_learned_rows()]} if self._parts or self._sizes else {"parts": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def add(
        self,
        rows: RowArrays,
        Y: NDArray[np.float64],
        order: NDArray[np.int64],
        learning_rate: float,
        dtype: Any,
        names: Sequence[Hashable] | None,
    ) -> None:
        """Append nodes that were trained in the given order; arrays are copied."""
        self._flush()
        n = rows.indptr.size - 1
        self._parts.append(
            LearnedRows(
                RowArrays(rows.indptr.copy(), rows.indices.copy(), rows.data.copy()),
                Y.copy(),
                order.copy(),
                np.full(order.size, learning_rate),
                np.full(n, np.dtype(dtype) == np.float32),
                None if names is None else tuple(names),
            )
        )

    def add_one(
        self,
        indices: NDArray[np.int32],
        weights: NDArray[np.float64],
        values: float | NDArray[np.float64],
        learning_rate: float,
    ) -> None:
        """Append a node that was learned by itself."""
        self._indices.extend(indices)
        self._weights.extend(weights)
        self._sizes.append(indices.size)
        self._values.append(values)
        self._rates.append(learning_rate)
        if len(self._sizes) == _MOST_SINGLE_NODES:
            self._flush()

    def _flush(self) -> None:
        if self._sizes:
            n = len(self._sizes)
            indices = np.frombuffer(self._indices, dtype=np.int32)
            weights = np.frombuffer(self._weights, dtype=np.float64)
            self._parts.append(
                LearnedRows(
                    RowArrays(np.cumsum([0, *self._sizes], dtype=np.int64), indices, weights),
                    np.array(self._values).reshape(n, -1),
                    np.arange(n),
                    np.array(self._rates),
                    np.zeros(n, dtype=np.bool_),
                    None,
                )
            )
            self._clear_single_nodes()

    def to_learned_rows(self) -> LearnedRows:
        """All learned rows together."""
        self._flush()
        if len(self._parts) != 1:
            self._parts = [_join_parts(self._parts)]
        return self._parts[0]


def _join_parts(parts: list[LearnedRows]) -> LearnedRows:
    firsts = np.cumsum([0, *map(len, parts)])
    edges = np.cumsum([0, *(part.rows.indices.size for part in parts)])
    indptr = [np.zeros(1, dtype=np.int64)]
    indptr += [p.rows.indptr[1:] + edge for p, edge in zip(parts, edges, strict=False)]
    names: list[Hashable] | None = None
    if any(part.names is not None for part in parts):
        # Nodes without a name are called by their number among the known nodes.
        names = []
        for part, first in zip(parts, firsts, strict=False):
            names += range(first, first + len(part)) if part.names is None else part.names
    return LearnedRows(
        RowArrays(
            np.concatenate(indptr),
            np.concatenate([part.rows.indices for part in parts]),
            np.concatenate([part.rows.data for part in parts]),
        ),
        np.concatenate([part.Y for part in parts]),
        np.concatenate([p.order + first for p, first in zip(parts, firsts, strict=False)]),
        np.concatenate([part.rates for part in parts]),
        np.concatenate([part.single for part in parts]),
        None if names is None else tuple(names),
    )


# -- explanations ----------------------------------------------------------------------------------


@describe_fields
@dataclass(frozen=True, eq=False, repr=False)
class Explanation(LinearExplanation):
    """Explanation of predictions: the exact weight of each known value.

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
        """F_{i,T+1} of the paper: weight of the value learned at each time, shape (n, T)."""
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
        """What to change if weights do not sum to about 1, or None if they do."""
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
        both computed from B. The Cauchy kernel is not a function of one distance: for it this is
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
        learned_values = self.values[self.order]  # [T] or [T, K]
        for rows, F in self._source.iterate_batches():
            noise[rows] = np.maximum(0.0, -F.min(axis=1, initial=0.0))
            counts = noise[rows, np.newaxis] < F  # [batch, T]
            n_significant[rows] = counts.sum(axis=1)
            significant[rows] = np.where(counts, F, 0.0) @ learned_values
            insignificant[rows] = np.where(counts, 0.0, F) @ learned_values
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
    """Predictions in two parts, equation (dividepreidction); parts and ``offset`` sum to them.

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
