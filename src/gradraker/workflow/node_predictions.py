"""Predictions for the nodes of a graph, and what they stand on."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.explain.transfer import SimilarityTransfer, similarity_transfer
from gradraker.graph import AdjacencyVectors
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.models.walks.node_regressor import NodeRegressor
from gradraker.workflow.contributors import Contributors, explained, top_contributors
from gradraker.workflow.held_out import HeldOutNodes

# Nearest known nodes that the similarity transfer is measured with, where there are as many.
_N_NEIGHBORS = 5


@dataclass(frozen=True, eq=False, repr=False)
class NodePredictions:
    """Predictions for the nodes of a graph, and what they stand on.

    Attributes
    ----------
    vectors : AdjacencyVectors
        Adjacency vectors of all nodes, with their names.
    values : ndarray of shape (n,)
        Known values, NaN where unknown.
    predictions : ndarray of shape (n,)
        Predictions for all nodes; for known nodes, what the trained model says of them.
    offset : float
        What was subtracted from the values before training and added afterwards: the mean of
        the known values for SKG, 0 for a node model, which finds the mean itself.
    model : NodeRegressor or SKGRegressor
        Trained on all known nodes.
    held_out : HeldOutNodes or None
        Estimate of the error from known nodes that were left out: one at a time by a node
        model, a fifth of them by SKG; None with fewer than 10.
    intervals : ndarray of shape (n, 2) or None
        Lower and upper ends of intervals with the asked coverage.
    """

    vectors: AdjacencyVectors
    values: NDArray[np.float64]
    predictions: NDArray[np.float64]
    offset: float
    model: NodeRegressor | SKGRegressor
    held_out: HeldOutNodes | None
    intervals: NDArray[np.float64] | None = None

    @property
    def method(self) -> str:
        """How the predictions were made: "nodes" or "skg"."""
        return "nodes" if isinstance(self.model, NodeRegressor) else "skg"

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which nodes have a known value."""
        return ~np.isnan(self.values)

    @cached_property
    def transfer(self) -> SimilarityTransfer | None:
        """Whether similar vectors bring similar values, as SKG needs.

        None for too few known nodes, and for a node model, which stands on more than the
        vectors.
        """
        known = self.is_known
        n_known = int(known.sum())
        if self.method != "skg" or n_known < 3 or np.ptp(self.values[known]) == 0.0:
            return None
        return similarity_transfer(
            self.vectors.rows[known],
            self.values[known],
            n_neighbors=min(_N_NEIGHBORS, n_known - 2),
            random_state=0,
        )

    def explain(self, rows: Sequence[int] | NDArray[Any] | None = None) -> LinearExplanation:
        """Explain predictions of some rows (all by default); values are relative to ``offset``."""
        return explained(self.model, self.vectors, self._chosen(rows))

    def contributors(
        self, k: int, *, rows: Sequence[int] | NDArray[Any] | None = None
    ) -> Contributors:
        """The k known nodes that count most in the predictions of some rows (all by default)."""
        return top_contributors(self.model, self.vectors, self._chosen(rows), k)

    def held_out_contributors(self, k: int, *, which: NDArray[np.int64]) -> Contributors:
        """The k known nodes that count most for some of the held-out nodes, by their number.

        By the model that had not seen the held-out nodes, whose values are relative to
        ``held_out.offset``; where nodes were left out one at a time, by the final model, with
        each node's own value left aside.
        """
        held_out = self.held_out
        if held_out is None:
            raise ValueError("no nodes were held out: fewer than 10 are known")
        rows = held_out.rows[which]
        if held_out.model is not None:
            return top_contributors(held_out.model, self.vectors, rows, k)
        return top_contributors(self.model, self.vectors, rows, k, besides_itself=True)

    def _chosen(self, rows: Sequence[int] | NDArray[Any] | None) -> NDArray[Any]:
        return np.arange(self.values.size) if rows is None else np.asarray(rows)

    def frame(self, *, n_contributors: int = 0) -> Any:
        """Node, known or not, value and prediction as a pandas data frame.

        With intervals there are also columns lower and upper, and with ``n_contributors`` = k
        columns contributor_1, weight_1, …: the k known nodes that count most in each prediction.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "a data frame needs pandas: pip install pandas; vectors.nodes and "
                "predictions hold the same as arrays"
            ) from None
        columns: dict[str, Any] = {
            "node": pd.Series(self.vectors.nodes.tolist(), dtype=None),
            "known": self.is_known,
            "value": self.values,
            "prediction": self.predictions,
        }
        if self.intervals is not None:
            columns |= {"lower": self.intervals[:, 0], "upper": self.intervals[:, 1]}
        if n_contributors > 0:
            found = self.contributors(n_contributors)
            for i in range(found.weights.shape[1]):
                columns[f"contributor_{i + 1}"] = [names[i] for names in found.names]
                columns[f"weight_{i + 1}"] = found.weights[:, i]
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        n_known = int(self.is_known.sum())
        text = f"NodePredictions of {self.values.size - n_known} nodes from {n_known} known ones"
        if self.held_out is None:
            return text
        return (
            f"{text}; held-out RMSE {self.held_out.rmse:.4g} "
            f"({self.held_out.rmse_of_mean:.4g} by the mean)"
        )
