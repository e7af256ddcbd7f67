"""A search over parameters of models of graphs, after scikit-learn's ``GridSearchCV``."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from gradraker.models.node_model import NodeModel
from gradraker.models.validation.folds import (
    FoldResult,
    align_known,
    copy_parameters,
    evaluate_fold,
    list_folds,
    list_scorers,
)


@dataclass(frozen=True, eq=False)
class NodeSearch:
    """What a search over parameters found.

    Attributes
    ----------
    best_params, best_score : dict, float
        The parameters with the highest mean score, and that score.
    best_model : model of graphs or None
        Fitted to all known values with the best parameters.
    cv_results : dict
        As scikit-learn's ``cv_results_``: params, mean_test_score, rank_test_score, …

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.models import search_nodes
    >>> data = load_temperature()
    >>> model = NodeRegressor(blocks="hop1", width=1.0)
    >>> search_nodes(model, {"alpha": [0.1, 1000.0]}, data, data.values, cv=3).best_params
    {'alpha': 0.1}
    """

    best_params: dict[str, Any]
    best_score: float
    best_model: NodeModel | None
    cv_results: dict[str, Any]

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
    from sklearn.model_selection import ParameterGrid

    is_grid = isinstance(grid, Mapping) or (
        isinstance(grid, list) and all(_has_lists(one) for one in grid)
    )
    candidates = [dict(one) for one in (ParameterGrid(grid) if is_grid else grid)]
    if not candidates:
        raise ValueError("grid holds no parameters: give one candidate at least")
    for one in candidates:
        clone(model).set_params(**copy_parameters(one))  # refuses names that it does not have
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
    folds, scorers = list_folds(model, known, cv, groups), list_scorers(model, scoring)
    deciding = _choose_score(scorers, refit)
    flat = Parallel(n_jobs=n_jobs)(
        delayed(evaluate_fold)(model, one, known, fold, scorers)
        for one in candidates
        for fold in folds
    )
    results = [flat[i : i + len(folds)] for i in range(0, len(flat), len(folds))]
    table = _make_table(candidates, results)
    means = table[f"mean_test_{deciding}"]
    if np.isnan(means).all():
        raise ValueError(f"all scores {deciding!r} are NaN: there is no best candidate")
    best = int(np.nanargmax(means))
    fitted = None
    if refit:
        fitted = clone(model).set_params(**copy_parameters(candidates[best]))
        fitted.fit(known.graph, known.show(known.rows), **known.fit_options)
    return NodeSearch(candidates[best], float(means[best]), fitted, table)


def _has_lists(one: Any) -> bool:
    return isinstance(one, Mapping) and all(
        isinstance(entry, list | tuple | np.ndarray) for entry in one.values()
    )


def _choose_score(scorers: Mapping[str, Any], refit: bool | str) -> str:
    if isinstance(refit, str):
        if refit not in scorers:
            raise ValueError(f"refit must name one of {sorted(scorers)}, got {refit!r}")
        return refit
    if len(scorers) > 1:
        raise ValueError(
            f"refit must name the score that decides, one of {sorted(scorers)}, got {refit!r}"
        )
    return next(iter(scorers))


def _make_table(
    candidates: list[dict[str, Any]], results: list[list[FoldResult]]
) -> dict[str, Any]:
    """Return scikit-learn's ``cv_results_``."""
    from scipy.stats import rankdata

    table: dict[str, Any] = {"params": candidates}
    for name in sorted({name for one in candidates for name in one}):
        table[f"param_{name}"] = [one.get(name) for one in candidates]
    for time in ("fit_time", "score_time"):
        times = np.array([[getattr(fold, time) for fold in one] for one in results])
        table |= {f"mean_{time}": times.mean(axis=1), f"std_{time}": times.std(axis=1)}
    for name in results[0][0].test_scores:
        scores = np.array([[fold.test_scores[name] for fold in one] for one in results])
        for i, column in enumerate(scores.T):
            table[f"split{i}_test_{name}"] = column
        means = scores.mean(axis=1)
        table |= {f"mean_test_{name}": means, f"std_test_{name}": scores.std(axis=1)}
        ranked = np.where(np.isnan(means), -np.inf, means)
        table[f"rank_test_{name}"] = rankdata(-ranked, method="min").astype(np.int64)
    return table
