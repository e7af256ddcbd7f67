"""An honest estimate of the error: known nodes predicted without their own values."""

from collections.abc import Hashable
from typing import Any

from gradraker.exceptions import TooFewValuesError
from gradraker.models.left_out import LeftOut, LeftOutClasses
from gradraker.models.node_model import NodeModel

# With fewer known nodes than this there is no estimate: it would be noise.
ENOUGH_TO_ESTIMATE = 10


def evaluate_left_out(
    model: NodeModel, *, target: Hashable = None
) -> LeftOut | LeftOutClasses | None:
    """Predict known nodes of a fitted model without their own values.

    Parameters
    ----------
    model : model of graphs
        Fitted.
    target : name, optional
        One of several targets.

    Returns
    -------
    LeftOut, LeftOutClasses or None
        None with fewer than 10 known nodes, or if the model cannot leave any out.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.workflow import evaluate_left_out
    >>> data = load_temperature()
    >>> model = NodeRegressor().fit(data, dict(zip(data.node_names[:30], data.values[:30])))
    >>> evaluate_left_out(model).error.n_nodes
    30
    """
    if len(model.known_nodes_) < ENOUGH_TO_ESTIMATE:
        return None
    try:
        found: Any = model.predict_left_out()
    except TooFewValuesError:
        return None
    one: LeftOut | LeftOutClasses = found if target is None else found[target]
    return None if target is not None and len(one.rows) < ENOUGH_TO_ESTIMATE else one
