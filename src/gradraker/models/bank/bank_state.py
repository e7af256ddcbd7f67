"""What of a bank of kernels goes into its file."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from gradraker.kernels.shift_invariant import Sigma2Ranges, get_kernel
from gradraker.models.bank.frequency_tables import FamilyTables
from gradraker.models.bank.members import (
    WHOLE,
    BankMember,
    check_kernels,
    check_view_widths,
    check_views,
)
from gradraker.models.persistence.saving import Arrays, State
from gradraker.models.row_state import (
    check_coef,
    dump_row_state,
    restore_names,
    restore_row_state,
)
from gradraker.models.sigma2 import check_sigma2

if TYPE_CHECKING:
    from gradraker.models.bank.fitted_bank import LearnedBank
    from gradraker.models.bank.gradraker_regressor import GradrakerRegressor


def dump_bank_state(model: "LearnedBank") -> tuple[State, Arrays]:
    """Return what the file of a fitted bank holds besides its parameters."""
    state, arrays = dump_row_state(model)
    state |= {
        "members": [asdict(member) for member in model.members_],
        "ranges": [[view, family, asdict(r)] for (view, family), r in model._ranges.items()],
        "has_history": model._history is not None,
    }
    arrays |= {"losses": model._hedge.losses, "totals": model._hedge.totals}
    if model._history is not None:
        arrays["weights_history_"] = model.weights_history_
    return state, arrays


def restore_bank(model: "GradrakerRegressor", state: State, arrays: Arrays) -> None:
    """Give a new model the state of a file."""
    model.check_parameters()
    members = [BankMember(**member) for member in state["members"]]
    families = {family for family, _ in check_kernels(model.kernels)}
    views = check_views(model.views)
    if not members or not all(_is_sound(member, views, families) for member in members):
        raise ValueError("a member is none of the kernels and views")
    seed, n_numbered, named = restore_names(state)
    table = FamilyTables(
        seed,
        model.n_frequencies,
        [member.kernel for member in members],
        n_numbered=n_numbered,
        named=named,
    )
    if views is not None:
        check_view_widths(views, len(table))
    coef = check_coef(arrays, model.n_frequencies, (2, 3))
    ranges = {
        (view, get_kernel(family).name): Sigma2Ranges(**found)
        for view, family, found in state["ranges"]
    }
    model._set_initial_state(table, members, ranges, coef.shape[1:-1])
    if coef.shape != model.coef_.shape:
        raise ValueError(f"coef_ has shape {coef.shape} for {len(members)} members")
    model.coef_ = coef
    restore_row_state(model, state, arrays)
    _restore_losses(model, state, arrays)


def _is_sound(member: BankMember, views: dict[str, int] | None, families: set[str]) -> bool:
    known = {WHOLE} if views is None else set(views)
    # A file may hold anything, whatever the types of a member are.
    types = type(member.sigma2), type(member.rule)
    check_sigma2(member.sigma2)
    return types == (float, str) and member.view in known and member.kernel in families


def _restore_losses(model: "GradrakerRegressor", state: State, arrays: Arrays) -> None:
    hedge = model._hedge
    for name in ("losses", "totals"):
        found, shape = arrays[name], getattr(hedge, name).shape
        sound = found.dtype == np.float64 and found.shape == shape and np.isfinite(found).all()
        if not sound or found.min() < 0.0:
            raise ValueError(f"{name} are not sums of squares")
        setattr(hedge, name, found)
    model._history = None
    if state["has_history"]:
        history = arrays["weights_history_"]
        if history.dtype != np.float64 or history.shape[1:] != hedge.losses.shape:
            raise ValueError(f"weights_history_ has shape {history.shape}")
        model._history = [history]
