"""Why a node model predicts what it predicts."""

from typing import Any

from gradraker.analysis.linear_explanation import LinearExplanation


def explain_nodes(model: Any, nodes: Any = None) -> LinearExplanation:
    """Explain predictions of a node model exactly, as weighted sums of the known values.

    Parameters
    ----------
    model : NodeRegressor or NodeClassifier
        Fitted.
    nodes : sequence of names, optional
        Nodes of the graph; default all whose values are not known.

    Returns
    -------
    LinearExplanation
        ``values`` are the known values, or for classes 1 in the column of a node's class (in the
        order of ``classes_``) and 0 elsewhere; ``prediction`` are predictions or scores.

    Examples
    --------
    >>> from gradraker import NodeRegressor
    >>> links = {"a": ["x", "y"], "b": ["x", "y"], "c": ["u", "v"], "d": ["u", "v"]}
    >>> model = NodeRegressor().fit(links, {"a": 1.0, "b": 1.0, "c": 9.0, "d": 8.0})
    >>> explanation = model.explain(["x", "u"])
    >>> bool(abs(explanation.weights @ explanation.values - explanation.prediction).max() < 1e-10)
    True
    """
    rows, solution = model._rows(nodes), model._solved()
    values, prediction = solution.Y, solution.predictions(rows)
    if not hasattr(model, "classes_"):
        values, prediction = values[:, 0], prediction[:, 0]
    return LinearExplanation(
        weights=solution.weights(rows),
        values=values,
        prediction=prediction,
        node_names=model.nodes_[rows].tolist(),
        observed_names=model.nodes_[solution.known].tolist(),
    )
