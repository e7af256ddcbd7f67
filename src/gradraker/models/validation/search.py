"""A search over parameters of models of graphs, after scikit-learn's ``GridSearchCV``."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from gradraker._fields import describe_fields
from gradraker.models.node_model import NodeModel
from gradraker.models.validation.folds import FoldModel, align_known, list_folds


@describe_fields
@dataclass(frozen=True, eq=False)
class NodeSearch:
    """Result of a search over parameters.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import search_nodes
    >>> data = load_temperature()
    >>> model = NodeRegressor(blocks="hop1", width=1.0)
    >>> search_nodes(model, {"alpha": [0.1, 1000.0]}, data, data.values, cv=3).best_params
    {'alpha': 0.1}
    """

    best_params: Annotated[dict[str, Any], "The parameters with the highest mean score."]
    best_score: Annotated[float, "That score."]
    best_model: Annotated[NodeModel | None, "Fitted to all known values with the best parameters."]
    cv_results: Annotated[
        dict[str, Any],
        "As scikit-learn's ``cv_results_``: params, mean_test_score, rank_test_score, …",
    ]

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per candidate, the best first."""
        import pandas as pd

        frame = pd.DataFrame(self.cv_results)
        ranks = next(name for name in frame.columns if name.startswith("rank_test_"))
        return frame.sort_values(ranks, kind="stable").reset_index(drop=True)

    def __repr__(self) -> str:
        n = len(self.cv_results["params"])
        return f"NodeSearch: {self.best_params}, score {self.best_score:.4g}; of {n} candidates"


def search_nodes(
    model: NodeModel,
    grid: Any,
    graph: Any,
    values: Any,
    *,
    attributes: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    refit: bool | str = True,
    groups: Any = None,
    fit_options: Mapping[str, Any] | None = None,
    unknown_nodes: str = "error",
    node: Hashable = None,
    value: Any = None,
    n_jobs: int | None = None,
    **graph_options: Any,
) -> NodeSearch:
    """Find the parameters that predict hidden values of known nodes best.

    Parameters
    ----------
    model : model of graphs
        Unfitted; it is not changed.
    grid : dict, list of dicts, or iterable of parameters
        As for scikit-learn's ``ParameterGrid``, or parameters themselves, such as a
        ``ParameterSampler``.
    graph, values, attributes, cv, scoring, groups, fit_options, unknown_nodes, node, value, n_jobs
        As in :func:`cross_validate_nodes`.
    refit : bool or str, default=True
        Whether to fit the best parameters to all known values; with several scorers, the name of
        the one that decides.
    **graph_options
        As in :meth:`NodeModel.fit`.

    Returns
    -------
    NodeSearch

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import search_nodes
    >>> data = load_temperature()
    >>> model = NodeRegressor(blocks="hop1", width=1.0)
    >>> found = search_nodes(model, {"alpha": [0.1, 1000.0]}, data, data.values, cv=3)
    >>> found.best_params
    {'alpha': 0.1}
    >>> found.best_model.predict(["Davos"]).shape
    (1,)
    """
    from sklearn.model_selection import GridSearchCV, ParameterGrid

    is_grid = isinstance(grid, Mapping) or (
        isinstance(grid, list) and all(_has_lists(part) for part in grid)
    )
    candidates = [dict(item) for item in (ParameterGrid(grid) if is_grid else grid)]
    if not candidates:
        raise ValueError("grid holds no parameters: give one candidate at least")
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
    _check_refit(scoring, refit)
    search = GridSearchCV(
        FoldModel(model, known),
        [{name: [entry] for name, entry in params.items()} for params in candidates],
        cv=list_folds(model, known, cv, groups),
        scoring=scoring,
        n_jobs=n_jobs,
        refit=refit,
        error_score="raise",
    ).fit(known.names, known.known_values)
    if np.isnan(search.best_score_):
        raise ValueError("all scores are NaN: there is no best candidate")
    fitted = search.best_estimator_.model if refit else None
    return NodeSearch(search.best_params_, float(search.best_score_), fitted, search.cv_results_)


def _has_lists(part: Any) -> bool:
    return isinstance(part, Mapping) and all(
        isinstance(entry, list | tuple | np.ndarray) for entry in part.values()
    )


def _check_refit(scoring: Any, refit: bool | str) -> None:
    """Refuse a search with several scores unless ``refit`` names the one that decides."""
    is_single = scoring is None or callable(scoring) or isinstance(scoring, str)
    names = ["score"] if is_single else sorted(map(str, scoring))
    if isinstance(refit, str) and refit not in names:
        raise ValueError(f"refit must name one of {names}, got {refit!r}")
    if not isinstance(refit, str) and len(names) > 1:
        raise ValueError(f"refit must name the score that decides, one of {names}, got {refit!r}")
