"""Explain predictions of a bank of kernels, as weighted sums of the known values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gradraker.explain.linear_explanation import LinearExplanation

if TYPE_CHECKING:
    from gradraker.models.bank.members import BankMember


@dataclass(frozen=True, eq=False, repr=False)
class BankExplanation(LinearExplanation):
    """Explanation of the predictions of a bank of kernels.

    ``weights`` is Σ w̄ₚ Fₚ: the contribution weights of each member (claim 3 of the paper), times
    the weight of the member at the end of training. ``weights @ values`` equals ``prediction``
    up to rounding. The members' weights depend on the known values, so the weights do not
    tell what the prediction would be if one of these values were different.

    Attributes
    ----------
    weights, values, prediction, node_names, known_names
        As in :class:`LinearExplanation`.
    members : tuple of P BankMember
        The members.
    kernel_weights : ndarray of shape (P,)
        w̄ₚ at the end of training.
    member_predictions : ndarray of shape (P, n) or (P, n, n_targets)
        Predictions of each member alone; their mean with ``kernel_weights`` is the prediction.

    Examples
    --------
    >>> from gradraker import GradrakerRegressor
    >>> bank = GradrakerRegressor(kernels=[0.5, 2.0], random_state=0)
    >>> explanation = bank.fit([[1, 0], [1, 1]], [10.0, 20.0]).explain([[1, 1]])
    >>> explanation.member_predictions.shape
    (2, 1)
    """

    members: "tuple[BankMember, ...]"
    kernel_weights: NDArray[np.float64]
    member_predictions: NDArray[np.float64]

    def __repr__(self) -> str:
        best = int(self.kernel_weights.argmax())
        return (
            f"{super().__repr__()}\n  {len(self.members)} members, "
            f"{self.kernel_weights[best]:.0%} of the weight on {self.members[best].label}"
        )
