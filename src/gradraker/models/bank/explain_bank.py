"""Explain predictions of a bank of kernels: its members' contribution weights, combined."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradraker._validation import to_read_only
from gradraker.explain.bank_explanation import BankExplanation
from gradraker.explain.learned_rows import LearnedRows
from gradraker.explain.linear_explanation import choose_names
from gradraker.features import compute_fourier_features
from gradraker.linear.hedge import combine_predictions
from gradraker.linear.weights import sum_weights_by_node
from gradraker.models.bank.training import Bank
from gradraker.models.rows.row_input import get_learned_rows

if TYPE_CHECKING:
    from gradraker.models.bank.fitted_bank import LearnedBank


def explain_bank(
    model: "LearnedBank",
    tested: Bank,
    node_names: Sequence[Hashable],
    known_names: Sequence[Hashable] | None,
) -> BankExplanation:
    """Explain a fitted bank's predictions for prepared rows; see its ``explain``."""
    learned = get_learned_rows(model)
    seen = model._make_bank(learned.rows, model._table.prepare(learned.rows.indices), np.float64)
    kernel_weights, member_predictions = model.kernel_weights_, model._predict_each(tested)
    weights = np.zeros((tested.n_rows, len(learned)))  # [n, n_known]
    for member, kernel_weight in enumerate(kernel_weights):
        if kernel_weight > 0.0:
            of_member = _compute_member_weights(learned, seen, tested, member, model)
            weights += kernel_weight * of_member
    return BankExplanation(
        weights=weights,
        values=to_read_only(learned.Y.reshape(-1, *model._targets)),
        prediction=combine_predictions(kernel_weights, member_predictions),
        node_names=node_names,
        known_names=choose_names("known_names", known_names, learned.names, len(learned)),
        members=model.members_,
        kernel_weights=kernel_weights,
        member_predictions=member_predictions,
    )


def _compute_member_weights(
    learned: LearnedRows, seen: Bank, tested: Bank, member: int, model: "LearnedBank"
) -> NDArray[np.float64]:
    """Contribution weights of one member by known node, (n, n_known)."""
    Z = _compute_features(seen, member)
    # Features that were float32 in training are rounded the same way here.
    Z[learned.single] = Z[learned.single].astype(np.float32)
    stars = _compute_features(tested, member).astype(np.float64)
    # The step θ ← k θ + 2η (y − θᵀz) z with k = 1 − 2ημ is k times the step of a rate η/k, so
    # that F_t is the weight at that rate times all k from t on.
    keep = 1.0 - 2.0 * learned.rates * model._used["regularization"]  # [T]
    shrinking = np.cumprod(keep[::-1])[::-1]  # [T]
    return sum_weights_by_node(Z, learned.order, stars, learned.rates / keep, shrinking)


def _compute_features(bank: Bank, member: int) -> NDArray[Any]:
    group = next(group for group in bank.groups if member in group.members)
    return compute_fourier_features(group.rows, group.units, bank.scales[member], dtype=bank.dtype)
