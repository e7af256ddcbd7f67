"""Cross-validation of models of graphs, after scikit-learn's ``cross_validate``."""

from collections.abc import Hashable, Mapping
from typing import Any

from gradraker.models.node_model import NodeModel
from gradraker.models.validation.folds import FoldModel, align_known, list_folds


class NodeScores(dict[str, Any]):
    """Scores and times by name, one entry per fold, as scikit-learn's ``cross_validate`` gives.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import cross_validate_nodes
    >>> data = load_temperature()
    >>> model = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1)
    >>> cross_validate_nodes(model, data, data.values, cv=3).to_frame().shape[0]
    3
    """

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per fold."""
        import pandas as pd

        columns = {name: column for name, column in self.items() if name != "indices"}
        return pd.DataFrame(columns).rename_axis("fold")


def cross_validate_nodes(
    model: NodeModel,
    graph: Any,
    values: Any,
    *,
    attributes: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    groups: Any = None,
    fit_options: Mapping[str, Any] | None = None,
    unknown_nodes: str = "error",
    node: Hashable = None,
    value: Any = None,
    n_jobs: int | None = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    **graph_options: Any,
) -> NodeScores:
    """Hide the values of each fold of known nodes in turn, and score their predictions.

    Each fold is predicted by a copy of the model that has the whole graph (and all attributes) and
    the values of the other folds only: hidden values reach neither its choices nor its encoders.

    Parameters
    ----------
    model : model of graphs
        Unfitted; it is not changed.
    graph, values
        As in :meth:`NodeModel.fit`.
    attributes : optional
        As in :meth:`NodeModel.fit`, for models that take them.
    cv : int, splitter of scikit-learn, or iterable of (train, test), default=5
        How known nodes are split, in the order of the graph. A number makes that many folds of
        shuffled nodes with the same seed each time, stratified for classes.
    scoring : str, callable, list or dict, optional
        Scorers of scikit-learn; default ``model.score``: R² or accuracy.
    groups : mapping from nodes to groups, or array, optional
        For splitters that keep groups together.
    fit_options : mapping, optional
        Further arguments of ``fit``.
    unknown_nodes, node, value
        As in :meth:`NodeModel.fit`.
    n_jobs : int, optional
        Folds that are evaluated at a time, by joblib; any of its backends, such as Dask's, works.
    return_train_score, return_estimator, return_indices : bool, default=False
        Whether to return these too, as in scikit-learn.
    **graph_options
        As in :meth:`NodeModel.fit`.

    Returns
    -------
    NodeScores
        A dict of arrays, one entry per fold: ``test_score`` (or ``test_<name>``), ``fit_time``,
        ``score_time``, …; ``to_frame()`` makes a data frame of it.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import cross_validate_nodes
    >>> data = load_temperature()
    >>> model = NodeRegressor(blocks="hop1", width=1.0, alpha=0.1)
    >>> scoring = ["r2", "neg_mean_absolute_error"]
    >>> scores = cross_validate_nodes(model, data, data.values, cv=3, scoring=scoring)
    >>> sorted(scores)
    ['fit_time', 'score_time', 'test_neg_mean_absolute_error', 'test_r2']
    >>> scores.to_frame().shape
    (3, 4)
    """
    from sklearn.model_selection import cross_validate

    known = align_known(
        model,
        graph,
        values,
        unknown_nodes=unknown_nodes,
        node=node,
        value=value,
        graph_options=graph_options,
        attributes=attributes,
        fit_options=fit_options,
    )
    found = cross_validate(
        FoldModel(model, known),
        known.names,
        known.known_values,
        cv=list_folds(model, known, cv, groups),
        scoring=scoring,
        n_jobs=n_jobs,
        return_train_score=return_train_score,
        return_estimator=return_estimator,
        return_indices=return_indices,
        error_score="raise",
    )
    if return_estimator:
        found["estimator"] = [fold.model for fold in found["estimator"]]
    return NodeScores(found)
