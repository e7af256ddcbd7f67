"""The paper's learner, trained on a split of one of its data sets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradraker.models import SKGRegressor
from gradraker.paper.paper_data import Floats, Split

_NAMES = ("sigma2", "n_frequencies", "learning_rate", "n_epochs")


def fit_learner(
    split: Split,
    y: Floats | None,
    settings: Mapping[str, Any],
    *,
    keep_known: bool = True,
    **changes: Any,
) -> SKGRegressor:
    """Train SKG on the known nodes, with the settings of a simulation and ``changes`` to them.

    ``y`` are the values of all nodes; None for a model whose values do not matter.
    """
    given = {name: value for name, value in {**settings, **changes}.items() if name in _NAMES}
    model = SKGRegressor(**given, random_state=split.seed, keep_known=keep_known)
    known_values = np.zeros(split.known.size) if y is None else y[split.known]
    return model.fit(split.X[split.known], known_values)
