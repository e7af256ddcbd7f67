"""Predictions as weighted sums of known values: what all explanations share."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker._html import escape, format_cell, render_box, render_rows
from gradraker._validation import check_count, check_row, show_hidden

# Nodes that are printed, and reasons of each.
_SHOWN_NODES, _SHOWN_REASONS = 5, 5
# Weights that agree in this many digits are equal: nodes with the same edges have equal ones.
_DIGITS = 9


@dataclass(frozen=True, eq=False)
class Units:
    """Values and predictions in the units of the user, if weights add up in another scale."""

    scale: str  # in which weights add up, as a formula of the value
    values: NDArray[np.float64]  # [n_known] that were learned, as they were given
    predictions: NDArray[np.float64]  # [n] as the model returns them


@dataclass(frozen=True, eq=False, repr=False)
class LinearExplanation:
    """Explanation of predictions: the exact weight of each known value.

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
        the mean m before training, m (1 − Σ weights); of classes, a constant of each score.
    class_names : sequence or None
        Labels of classes; ``values`` then has one column per class, 1 for the class of a known
        node, and ``prediction`` are scores.
    parts : ndarray of shape (n, n_parts) or (n, n_parts, n_targets), or None
        The part of each kind of similarity in a prediction: they sum to prediction − mean of
        the known values (− offset, for classes). None for models without such parts.
    part_names : tuple of str
        Kinds of similarity that the model compares nodes by; empty if it has one only.
    units : Units or None
        Values and predictions in the units of the user, if ``values`` and ``prediction`` are in
        another scale, such as logarithms, or the prediction was clipped.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> explanation = NodeRegressor().fit(data, known).explain(["Pilatus"])
    >>> explanation
    LinearExplanation of 1 predictions by 60 known nodes; weights sum to 1 … 1
    >>> total = explanation.weights @ explanation.values + explanation.offset
    >>> bool(abs(total - explanation.prediction).max() < 1e-9)
    True
    """

    weights: NDArray[np.float64]
    values: NDArray[np.float64]
    prediction: NDArray[np.float64]
    node_names: Sequence[Hashable]
    known_names: Sequence[Hashable]
    offset: NDArray[np.float64] | float = field(default=0.0, kw_only=True)
    class_names: Sequence[Hashable] | None = field(default=None, kw_only=True)
    parts: NDArray[np.float64] | None = field(default=None, kw_only=True)
    part_names: tuple[str, ...] = field(default=(), kw_only=True)
    units: Units | None = field(default=None, kw_only=True)

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

    @cached_property
    def known_labels(self) -> list[Hashable]:
        """The value of each known node: a number as it was given, or the label of its class."""
        if self.class_names is None:
            return list((self.values if self.units is None else self.units.values).tolist())
        return [self.class_names[i] for i in self.values.argmax(axis=1).tolist()]

    @cached_property
    def predicted_labels(self) -> list[Hashable]:
        """Predictions: numbers in the units of the user, or the class with the largest score."""
        if self.class_names is None:
            predictions = self.prediction if self.units is None else self.units.predictions
            return list(predictions.tolist())
        return [self.class_names[i] for i in self.prediction.argmax(axis=1).tolist()]

    def get_parts(self, row: int) -> dict[str, float]:
        """Return the part of each kind of similarity in a prediction, or in a class's score."""
        if self.parts is None:
            return {}
        parts = self.parts[row]  # [n_kinds] or [n_kinds, n_targets]
        if parts.ndim == 2:
            parts = parts[:, int(self.prediction[row].argmax())]
        return dict(zip(self.part_names, parts.tolist(), strict=True))

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
            contribution column per target, value_in_units if weights add up in another scale
            than that of the user, and columns of the kind of explanation, such as
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
        explained = [r for r in rows for _ in range(k)]
        known = self.find_heaviest(k)[rows].ravel().tolist()
        columns: dict[str, Any] = {
            "node": [self.node_names[i] for i in explained],
            "known_node": [self.known_names[i] for i in known],
            "weight": self.weights[explained, known],
        }
        if self.class_names is not None:
            # A known node counts for its own class only, by its weight.
            columns["value"] = [self.known_labels[i] for i in known]
            return pd.DataFrame(columns | self.describe_pairs(explained, known))
        targets = [""] if self.values.ndim == 1 else [f"_{t}" for t in range(self.values.shape[1])]
        values = self.values.reshape(self.values.shape[0], -1)
        for t, suffix in enumerate(targets):
            columns[f"value{suffix}"] = values[known, t]
            columns[f"contribution{suffix}"] = columns["weight"] * values[known, t]
        if self.units is not None:
            columns["value_in_units"] = self.units.values[known]
        columns |= self.describe_pairs(explained, known)
        return pd.DataFrame(columns)

    def plot(self, row: int = 0, *, ax: Any = None) -> Any:
        """Draw the known nodes that count most; a ``gradraker.plotting.ContributorsDisplay``."""
        from gradraker.plotting import ContributorsDisplay

        row = check_row(row, len(self.node_names))
        return ContributorsDisplay.from_explanation(self, row=row, ax=ax)

    def describe_pairs(self, explained: list[int], known: list[int]) -> dict[str, Any]:
        """More columns of :meth:`top`, for pairs of explained and known nodes."""
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

    def __str__(self) -> str:
        """Return the predictions of the first nodes with the known nodes that count most."""
        n = len(self.node_names)
        lines = [repr(self)]
        for row in range(min(n, _SHOWN_NODES)):
            name, guess = show_hidden(self.node_names[row]), self.predicted_labels[row]
            lines.append(f"{name}: {_format_value(guess)}, since")
            lines += [
                f"  {weight:8.4f} × {_format_value(value)} of {show_hidden(known)}"
                for known, weight, value in self._list_reasons(row)
            ]
            lines += [f"  {part:+8.4g} by {name}" for name, part in self.get_parts(row).items()]
        if self.units is not None and n:
            lines.append(f"weights add up in the scale {self.units.scale}")
        if n > _SHOWN_NODES:
            lines.append(f"and {n - _SHOWN_NODES} more nodes")
        return "\n".join(lines)

    def _list_reasons(self, row: int) -> list[tuple[Hashable, float, Hashable]]:
        """Return known node, weight and value of the nodes that count most."""
        order = self.find_heaviest(_SHOWN_REASONS)[row].tolist()
        weights = self.weights[row].tolist()
        return [(self.known_names[i], weights[i], self.known_labels[i]) for i in order]

    def _repr_html_(self) -> str:
        n = len(self.node_names)
        tables = []
        for row in range(min(n, _SHOWN_NODES)):
            rows = [(known, weight, value) for known, weight, value in self._list_reasons(row)]
            guess = format_cell(self.predicted_labels[row])
            tables.append(
                f"<p><b><bdi>{escape(self.node_names[row])}</bdi></b>: {escape(guess)}</p>"
            )
            heading = "Class" if self.class_names is not None else "Value"
            tables.append(render_rows(rows, ("Known node", "Weight", heading)))
            if self.get_parts(row):
                tables.append(render_rows(self.get_parts(row).items(), ("Similarity", "Adds")))
        if n > _SHOWN_NODES:
            tables.append(f"<p>and {n - _SHOWN_NODES} more nodes</p>")
        if self.units is not None and n:
            tables.append(f"<p>Weights add up in the scale {escape(self.units.scale)}</p>")
        return render_box(repr(self), *tables)

    def __repr__(self) -> str:
        n, n_known = self.weights.shape
        sums = self.sum_of_weights
        return (
            f"{type(self).__name__} of {n} predictions by {n_known} known nodes; "
            f"weights sum to {sums.min():.3g} … {sums.max():.3g}"
        )


def _format_value(value: Any) -> str:
    """Return a number with four significant digits, or a label or numbers as they are."""
    return f"{value:.4g}" if isinstance(value, float) else show_hidden(value)
