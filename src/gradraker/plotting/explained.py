"""Base class of displays of one explained node, made from an explanation or a model."""

from typing import Any, Self

from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from gradraker._validation import check_row
from gradraker.explain.skg_explanation import Explanation
from gradraker.features import References
from gradraker.models.row_model import find_row_names
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.plotting.figure import Axes, Display


class ExplainedNodeDisplay(Display):
    """A picture of why one unknown node got its prediction."""

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, row: int = 0, ax: "Axes | None" = None
    ) -> Self:
        """Make the display of one explained node and plot it.

        Parameters
        ----------
        explanation : Explanation
            Result of :meth:`SKGRegressor.explain`.
        row : int, default=0
            Index of the unknown node.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        The display, drawn.
        """
        number = check_row(row, explanation.weights.shape[0])
        return cls._from_row(explanation, number).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        model: SKGRegressor,
        X: Any,
        *,
        row: int = 0,
        references: References = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Explain one row of X, make the display and plot it.

        Parameters
        ----------
        model : SKGRegressor
            A fitted model.
        X : {array-like, sparse matrix, data frame} of shape (n, M)
            Adjacency vectors of unknown nodes.
        row : int, default=0
            The row of X to show.
        references : sequence of M names, optional
            Names of the columns of X, as for :meth:`SKGRegressor.predict`.
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        The display, drawn.
        """
        # One row only: weights over time of all rows may not fit into memory.
        number = check_row(row, X.shape[0] if hasattr(X, "shape") else len(X))
        names = find_row_names(X)
        explanation = model.explain(
            # Not all sparse formats can be indexed.
            X.tocsr()[[number]] if issparse(X) else _safe_indexing(X, [number]),
            references=references,
            node_names=[number if names is None else names[number]],
        )
        return cls.from_explanation(explanation, ax=ax)

    @classmethod
    def _from_row(cls, explanation: Explanation, number: int) -> Self:
        raise NotImplementedError


def format_title(explanation: Explanation, row: int) -> str:
    """Format the name of the unknown node and the variance as the title of a figure."""
    return rf"Node {explanation.node_names[row]}, $\sigma^2$ = {explanation.sigma2:.3g}"
