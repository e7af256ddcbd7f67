"""Predictions as weighted sums of known values: what all explanations share."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import check_count

# Weights that agree in so many digits are equal: nodes with the same edges have equal ones.
_DIGITS = 9


@dataclass(frozen=True, eq=False, repr=False)
class LinearExplanation:
    """Why a model predicts what it predicts: exact weights of the values it has seen.

    ``offset + weights @ values`` equals ``prediction`` up to rounding.

    Attributes
    ----------
    weights : ndarray of shape (n, n_known)
        Weight of the value of each known node in each prediction.
    values : ndarray of shape (n_known,) or (n_known, n_targets)
        Values that were learned.
    prediction : ndarray of shape (n,) or (n, n_targets)
        Predictions of the model.
    node_names, known_names : sequence
        Names of explained and known nodes; numbers where none were given.
    offset : float or ndarray of shape (n,)
        The part of each prediction that does not come from weights: of a model that subtracts
        the mean m before training, m (1 − Σ weights).
    """

    weights: NDArray[np.float64]
    values: NDArray[np.float64]
    prediction: NDArray[np.float64]
    node_names: Sequence[Hashable]
    known_names: Sequence[Hashable]
    offset: NDArray[np.float64] | float = field(default=0.0, kw_only=True)

    @cached_property
    def contributions(self) -> NDArray[np.float64]:
        """Weight times value, (n, n_known) or (n, n_known, n_targets)."""
        if self.values.ndim == 1:
            return self.weights * self.values
        return self.weights[:, :, np.newaxis] * self.values

    @cached_property
    def sum_of_weights(self) -> NDArray[np.float64]:
        """Sum of the weights of each prediction, (n,); near 1 for a model trained enough."""
        return np.asarray(self.weights.sum(axis=1))

    def top(self, k: int = 5, *, row: int | None = None) -> Any:
        """The k known nodes that count most in each prediction, as a pandas data frame.

        Parameters
        ----------
        k : int, default=5
            Known nodes for each explained node, by absolute weight.
        row : int, optional
            One explained node only.

        Returns
        -------
        pandas.DataFrame
            Columns node, known_node, weight, value and contribution, with one value and one
            contribution column a target, and what the kind of explanation adds, such as
            similarity and squared_distance. Nodes of equal weight come in the order of the
            known nodes.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "top() makes a data frame and needs pandas: pip install pandas; "
                "weights, contributions and known_names hold the same as arrays"
            ) from None
        n, n_known = self.weights.shape
        rows = list(range(n)) if row is None else [check_row(row, n)]
        k = min(check_count("k", k), n_known)
        tested = [r for r in rows for _ in range(k)]
        known = self.find_heaviest(k)[rows].ravel().tolist()
        columns: dict[str, Any] = {
            "node": [self.node_names[i] for i in tested],
            "known_node": [self.known_names[i] for i in known],
            "weight": self.weights[tested, known],
        }
        targets = [""] if self.values.ndim == 1 else [f"_{t}" for t in range(self.values.shape[1])]
        values = self.values.reshape(self.values.shape[0], -1)
        for t, suffix in enumerate(targets):
            columns[f"value{suffix}"] = values[known, t]
            columns[f"contribution{suffix}"] = columns["weight"] * values[known, t]
        columns |= self.describe_pairs(tested, known)
        return pd.DataFrame(columns)

    def describe_pairs(self, tested: list[int], known: list[int]) -> dict[str, Any]:
        """What else :meth:`top` shows of pairs of explained and known nodes."""
        return {}

    def find_heaviest(self, k: int) -> NDArray[np.int64]:
        """The k known nodes with the largest absolute weights in each prediction, (n, k).

        The heaviest first; nodes of equal weight, up to rounding errors, in the order of the
        known nodes.
        """
        sizes = np.abs(self.weights)
        largest = sizes.max(axis=1, initial=0.0, keepdims=True)
        sizes = np.round(sizes / np.where(largest > 0.0, largest, 1.0), _DIGITS)
        return np.argsort(-sizes, axis=1, kind="stable")[:, :k]

    def __repr__(self) -> str:
        n, n_known = self.weights.shape
        sums = self.sum_of_weights
        return (
            f"{type(self).__name__} of {n} predictions by {n_known} known nodes; "
            f"weights sum to {sums.min():.3g} … {sums.max():.3g}"
        )


def check_row(row: Any, n: int) -> int:
    """Number of one of n explained nodes, counted from the start."""
    if isinstance(row, int | np.integer) and not isinstance(row, bool) and -n <= row < n:
        return int(row) % n
    raise ValueError(f"row must be the number of one of {n} explained nodes, got {row!r}")


def choose_names(
    argument: str,
    given: Sequence[Hashable] | None,
    known: Sequence[Hashable] | None,
    n: int,
) -> Sequence[Hashable]:
    """Names that were given, else those that are known, else numbers, for n nodes."""
    names = given if given is not None else known if known is not None else range(n)
    if len(names) != n:
        raise ValueError(f"{argument} must have a name for each of {n} nodes, got {len(names)}")
    return names
