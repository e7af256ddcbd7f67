"""Predictions for the nodes of a graph, and the model and errors behind them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.models.left_out import LeftOut
from gradraker.models.node_model import NodeModel
from gradraker.workflow.contributors import Contributors, find_contributors
from gradraker.workflow.evaluate import evaluate_left_out


@dataclass(frozen=True, eq=False, repr=False)
class NodePredictions:
    """Predictions for all nodes of a graph; :func:`gradraker.predict_nodes` makes it.

    Attributes
    ----------
    model : model of graphs
        Trained on all known nodes; it holds the graph.
    predictions : ndarray of shape (n,)
        Predictions for all nodes; for known nodes, what the trained model says of them.
    intervals : ndarray of shape (n, 2) or None
        Lower and upper ends of intervals with the asked coverage.
    """

    model: NodeModel
    predictions: NDArray[np.float64]
    intervals: NDArray[np.float64] | None = None

    @property
    def nodes(self) -> NDArray[Any]:
        """Names of the nodes."""
        return self.model.nodes_

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """Known values, NaN where unknown, shape (n,)."""
        return self.model.values_

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether the value of each node is known."""
        return ~np.isnan(self.values)

    @cached_property
    def left_out(self) -> LeftOut | None:
        """Known nodes predicted without their own values; None with fewer than 10 known nodes."""
        return evaluate_left_out(self.model)

    def explain(self, nodes: Sequence[Hashable] | None = None) -> LinearExplanation:
        """Explain the predictions of some nodes; default all."""
        return self.model.explain(self._list_nodes(nodes))

    def find_contributors(self, k: int, *, nodes: Sequence[Hashable] | None = None) -> Contributors:
        """Find the k known nodes that count most in the predictions of some nodes; default all."""
        return find_contributors(self.model, self._list_nodes(nodes), k)

    def find_left_out_contributors(self, k: int, *, nodes: Sequence[Hashable]) -> Contributors:
        """Find the k known nodes that count most in left-out predictions of known nodes."""
        if self.left_out is None:
            raise ValueError("no nodes were left out: fewer than 10 are known")
        return find_contributors(self.model, list(nodes), k, left_out=True)

    def _list_nodes(self, nodes: Sequence[Hashable] | None) -> list[Hashable]:
        listed: list[Hashable] = self.nodes.tolist() if nodes is None else list(nodes)
        return listed

    def to_frame(self, *, n_contributors: int = 0) -> Any:
        """Return node, known or not, value and prediction as a pandas data frame.

        With intervals there are also columns lower and upper, and with ``n_contributors`` = k
        columns contributor_1, weight_1, …: the k known nodes that count most in each prediction.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "a data frame needs pandas: pip install pandas; nodes and predictions hold the "
                "same as arrays"
            ) from None
        columns: dict[str, Any] = {
            "node": pd.Series(self.nodes.tolist(), dtype=None),
            "known": self.is_known,
            "value": self.values,
            "prediction": self.predictions,
        }
        if self.intervals is not None:
            columns |= {"lower": self.intervals[:, 0], "upper": self.intervals[:, 1]}
        if n_contributors > 0:
            found = self.find_contributors(n_contributors)
            for i in range(found.weights.shape[1]):
                columns[f"contributor_{i + 1}"] = [names[i] for names in found.names]
                columns[f"weight_{i + 1}"] = found.weights[:, i]
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        n_known = int(self.is_known.sum())
        text = f"NodePredictions of {self.values.size - n_known} nodes from {n_known} known ones"
        if self.left_out is None:
            return text
        error = self.left_out.error
        return f"{text}; left-out RMSE {error.rmse:.4g} ({error.rmse_of_mean:.4g} by the mean)"
