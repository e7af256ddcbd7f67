"""The exponential (hedge) rule: the weights of the members of a bank, from their losses."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._compiled.member_weights import compute_safe_step, run_hedge_pass, set_weights
from gradraker._validation import check_positive, is_auto, is_number

Floats = NDArray[np.float64]

AUTO = "auto"


class Hedge:
    """Losses of the members of a bank, and the member weights that follow from them.

    A member p with the losses Lₚ = Σ (y − fₚ)² so far has the weight
    w̄ₚ = exp(−λ Lₚ) / Σ_q exp(−λ L_q), and the bank predicts f = Σ w̄ₚ fₚ.

    Parameters
    ----------
    n_members : int
        P.
    weight_step : float or "auto"
        λ, or a step that the bound of :func:`compute_regret_bound` allows: 1/(2 B²), where B² is an
        upper bound of the squared errors of all members so far. An error above it raises B² to
        its square, or to twice B² if that is more.
    regularization : float
        μ: the loss of a member includes μ‖θₚ‖², as in the original.

    Attributes
    ----------
    losses : array of shape (P,)
        Sum of the losses of each member.
    totals : array of shape (3,)
        Sum of the squared errors of the bank, largest squared error of a member, and B².
    """

    def __init__(self, n_members: int, weight_step: float | str, regularization: float) -> None:
        self.given_step = 0.0 if weight_step == AUTO else float(weight_step)
        self.regularization = float(regularization)
        self.losses = np.zeros(n_members)
        self.totals = np.zeros(3)

    @property
    def weight_step(self) -> float:
        """λ of the next step; 0 before the first, when all weights are equal anyway."""
        return self.given_step or compute_safe_step(float(self.totals[2]))

    def compute_member_weights(self) -> Floats:
        """Member weights for the next step, (P,); they sum to 1."""
        weights = np.empty_like(self.losses)
        set_weights(self.losses, self.weight_step, weights)
        return weights

    def update(
        self, predictions: Floats, norms: Floats, Y: Floats, *, keep_weights: bool
    ) -> Floats:
        """Update the losses by T steps: predictions (P, T, K), made in advance, of values Y (T, K).

        Returns the member weights of each step, (T, P), or (0, P) without ``keep_weights``.
        """
        history = np.empty((Y.shape[0] if keep_weights else 0, self.losses.size))
        run_hedge_pass(
            predictions,
            norms,
            Y,
            self.given_step,
            self.regularization,
            self.losses,
            self.totals,
            history,
        )
        return history

    def compute_regret_bound(self) -> float:
        """Upper bound of the bank's loss minus the best member's, so far."""
        largest, bound = self.totals[1:].tolist()
        if self.given_step:
            return compute_regret_bound(self.losses.size, largest, self.given_step)
        return compute_regret_bound(self.losses.size, bound)


def compute_regret_bound(
    n_members: int, largest_error: float, weight_step: float | str = AUTO
) -> float:
    """Largest possible regret: cumulative squared loss of the bank minus that of its best member.

    The bound holds for every sequence of nodes and values, even an adversary's. exp(−λ (y − f)²) is
    a concave function of f where (y − f)² ≤ 1/(2λ), so the bank's loss is at most the mix loss
    −(1/λ) ln Σ w̄ₚ exp(−λ (y − fₚ)²). These add up to at most min_p Lₚ + (ln P)/λ. With several
    targets the same holds for ‖y − f‖².

    Parameters
    ----------
    n_members : int
        P.
    largest_error : float
        Largest squared error of a member; for "auto", B².
    weight_step : float or "auto", default="auto"
        λ.

    Returns
    -------
    float
        (ln P)/λ for a given λ ≤ 1/(2B²), and infinity for a larger λ, for which the proof does
        not hold. For "auto" 2 B² (1 + ln P): an error above B lowers λ, which costs at most the
        new B², and B² at least doubles each time.

    Examples
    --------
    >>> from gradraker.linear.hedge import compute_regret_bound
    >>> compute_regret_bound(1, 1.0, weight_step=0.5)
    0.0
    >>> round(compute_regret_bound(16, 1.0, weight_step=0.5), 3)
    5.545
    >>> compute_regret_bound(16, 1.0, weight_step=0.6)
    inf
    """
    if weight_step == AUTO:
        safe = compute_safe_step(float(largest_error))
        return 0.0 if safe == 0.0 or n_members == 1 else (1.0 + math.log(n_members)) / safe
    step = float(weight_step)
    if n_members == 1:
        return 0.0
    return math.log(n_members) / step if 2.0 * step * largest_error <= 1.0 else math.inf


def check_weight_step(weight_step: Any) -> float | str:
    """Return a positive number or "auto"."""
    if is_auto(weight_step):
        return AUTO
    return check_positive("weight_step", weight_step, otherwise=" or 'auto'")


def check_regularization(regularization: Any, learning_rate: float) -> float:
    """Return a number μ ≥ 0 with η (1 + 2μ) < 1, where the update is stable."""
    if is_number(regularization) and regularization >= 0.0:
        # Then a step shrinks θ by less than half of what would change its sign.
        if learning_rate * (1.0 + 2.0 * regularization) < 1.0:
            return float(regularization)
        most = (1.0 / learning_rate - 1.0) / 2.0
        raise ValueError(
            f"regularization must be below (1 / learning_rate - 1) / 2 = {most:g}, where the "
            f"update is stable, got {regularization!r}"
        )
    raise ValueError(f"regularization must be a number of at least 0, got {regularization!r}")


def combine_predictions(member_weights: ArrayLike, predictions: Floats) -> Floats:
    """Σ w̄ₚ fₚ of predictions (P, n, K), added in the order of the members."""
    total: Any = 0.0
    for weight, prediction in zip(np.asarray(member_weights), predictions, strict=True):
        total = total + weight * prediction
    return np.asarray(total, dtype=np.float64)
