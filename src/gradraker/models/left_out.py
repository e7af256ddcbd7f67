"""Known nodes predicted without their own values, and the errors of these predictions."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker.metrics import LeftOutAccuracy, LeftOutError

Vector = NDArray[np.float64]


@describe_fields
@dataclass(frozen=True, eq=False)
class LeftOut:
    """Known nodes that were predicted without their own value.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> data = load_temperature()
    >>> model = NodeRegressor().fit(data, dict(zip(data.node_names[:30], data.values[:30])))
    >>> model.predict_left_out().predictions.shape
    (30,)
    """

    rows: Annotated[NDArray[np.int64], "Positions (m,) of the nodes in ``nodes_`` of the model."]
    values: Annotated[Vector, "Known values, (m,)."]
    predictions: Annotated[Vector, "Predictions made without the values, (m,)."]
    mean: Annotated[float, "Mean of the known values that the predictions come from."]
    error: Annotated[LeftOutError, "Errors of the predictions."]
    one_at_a_time: Annotated[
        bool, "Whether each node was left out alone (closed form), or all together."
    ]

    def _repr_html_(self) -> str:
        return self.error._repr_html_()


class LeftOutTargets(dict[Hashable, LeftOut]):
    """Known nodes that were predicted without their own values, by target."""

    @property
    def error(self) -> dict[Hashable, LeftOutError]:
        """Errors of the predictions, by target."""
        return {name: left_out.error for name, left_out in self.items()}


@describe_fields
@dataclass(frozen=True, eq=False)
class LeftOutClasses:
    """Known nodes whose classes were predicted without their own label.

    Examples
    --------
    >>> from gradraker import NodeClassifier
    >>> from gradraker.datasets import make_block_graph
    >>> data = make_block_graph(60, n_blocks=2, random_state=0)
    >>> labels = dict(zip(data.node_names[:30], data.positions[:30, 0].tolist()))
    >>> model = NodeClassifier().fit(data, labels)
    >>> left_out = model.predict_left_out()
    >>> type(left_out).__name__
    'LeftOutClasses'
    """

    rows: Annotated[NDArray[np.int64], "Positions (m,) of the nodes in ``nodes_`` of the model."]
    codes: Annotated[NDArray[np.int64], "Known classes, as positions (m,) in ``classes``."]
    probabilities: Annotated[Vector, "Of the classes, (m, K), made without the own label."]
    predicted: Annotated[NDArray[np.int64], "Predicted classes, as positions (m,) in ``classes``."]
    classes: Annotated[NDArray[Any], "Labels, (K,)."]
    error: Annotated[LeftOutAccuracy, "How often the predictions are right."]

    def _repr_html_(self) -> str:
        return self.error._repr_html_()
