"""How large errors are, by how much the known nodes tell about a node."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

Vector = NDArray[np.float64]
# Nodes in a step of the curve, and the most steps.
_PER_STEP, _MOST_STEPS = 40, 20


class SpreadCurve(NamedTuple):
    """Mean absolute error by evidence: it falls from step to step."""

    evidence: Vector
    spreads: Vector

    def compute(self, evidence: Vector) -> Vector:
        """Errors that are expected with this evidence."""
        return np.interp(evidence, self.evidence, self.spreads)


def fit_spread_curve(evidence: Vector, errors: Vector) -> SpreadCurve:
    """Fit a falling curve to absolute errors, in steps that hold equally many nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.iterative.evidence import fit_spread_curve
    >>> evidence = np.repeat([0.0, 1.0], 80)
    >>> curve = fit_spread_curve(evidence, np.where(evidence > 0.5, 1.0, 3.0))
    >>> curve.compute(np.array([-1.0, 0.5, 2.0])).round(2)
    array([3., 2., 1.])
    """
    n_steps = max(1, min(_MOST_STEPS, errors.size // _PER_STEP))
    order = np.argsort(evidence, kind="stable")
    parts = np.array_split(order, n_steps)
    centres = np.array([evidence[part].mean() for part in parts])
    means = np.array([errors[part].mean() for part in parts])
    if n_steps > 1:
        means = IsotonicRegression(increasing=False).fit_transform(np.arange(n_steps), means)
    least = 1e-3 * float(errors.mean()) or 1.0
    return SpreadCurve(centres, np.maximum(means, least))
