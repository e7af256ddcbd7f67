"""The members of a bank: checked kernels and variances, and views of the columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from gradraker._fields import describe_fields
from gradraker._validation import is_number
from gradraker.kernels.shift_invariant import KERNELS, Sigma2Ranges
from gradraker.models.sigma2 import SIGMA2_RULES, RuleInput, check_sigma2, choose_sigma2

RANGES = "ranges"
# The view of a bank that has no views.
WHOLE = "all"
_FAMILY = "gaussian"


@describe_fields
@dataclass(frozen=True)
class BankMember:
    """One single-kernel Gradraker of a bank.

    Examples
    --------
    >>> from gradraker import GradrakerRegressor
    >>> bank = GradrakerRegressor(kernels=[0.5, 2.0], random_state=0)
    >>> bank = bank.fit([[1, 0], [1, 1]], [1.0, 2.0])
    >>> [member.label for member in bank.members_]
    ['σ² = 0.5', 'σ² = 2']
    """

    view: Annotated[str, 'The columns it uses; ``"all"`` for a bank without views.']
    kernel: Annotated[str, "Family of its kernel."]
    sigma2: Annotated[float, "Its variance."]
    rule: Annotated[str, 'The rule that chose the variance, ``"ranges"``, or ``"given"``.']

    @property
    def label(self) -> str:
        """A short text that distinguishes it from other members."""
        parts = [] if self.view == WHOLE else [self.view]
        parts += [] if self.kernel == _FAMILY else [self.kernel]
        return ", ".join([*parts, f"σ² = {self.sigma2:.3g}"])


def check_kernels(kernels: Any) -> list[tuple[str, float | str]]:
    """Return (family, variance or rule) of each entry of a dictionary of kernels."""
    if isinstance(kernels, str):
        kernels = [kernels]
    # Neither sets, which have no order, nor iterators, which can be read once only.
    if not isinstance(kernels, Sequence | np.ndarray) or isinstance(kernels, bytes):
        raise ValueError(
            f"kernels must be a rule or a sequence of kernels, such as [0.5, 2.0], got {kernels!r}"
        )
    entries = [_check_entry(entry) for entry in kernels]
    if not entries:
        raise ValueError("kernels must have at least one kernel, got an empty sequence")
    return entries


def _check_entry(entry: Any) -> tuple[str, float | str]:
    family, sigma2 = _FAMILY, entry
    if isinstance(entry, tuple | list):
        if len(entry) != 2 or not isinstance(entry[0], str) or entry[0] not in KERNELS:
            families = ", ".join(map(repr, KERNELS))
            raise ValueError(
                f"kernels must have pairs of a family, one of {families}, and a variance "
                f"or a rule, got {entry!r}"
            )
        family, sigma2 = entry
    if isinstance(sigma2, str) and (sigma2 == RANGES or sigma2 in SIGMA2_RULES):
        return family, sigma2
    if is_number(sigma2) and 0.0 < sigma2 < np.inf:
        return family, float(sigma2)
    rules = ", ".join(map(repr, (RANGES, *SIGMA2_RULES)))
    is_family = isinstance(sigma2, str) and sigma2 in KERNELS
    raise ValueError(
        f"kernels must have positive variances or one of {rules}, got {sigma2!r}"
        + (f": a family needs a variance, as in [({sigma2!r}, 2.0)]" if is_family else "")
    )


def is_sound(member: BankMember, views: dict[str, int] | None, families: set[str]) -> bool:
    """Whether a member of a file is one of the kernels and views."""
    known = {WHOLE} if views is None else set(views)
    # A file may hold other types than a member has.
    types = type(member.sigma2), type(member.rule)
    check_sigma2(member.sigma2)
    return types == (float, str) and member.view in known and member.kernel in families


def check_views(views: Any) -> dict[str, int] | None:
    """Return the number of columns of each view, in the order of the columns."""
    if views is None:
        return None
    if isinstance(views, Mapping):
        named = dict(views)
    elif isinstance(views, Sequence | np.ndarray) and not isinstance(views, str | bytes):
        named = {f"view {number}": width for number, width in enumerate(views)}
    else:
        raise ValueError(
            "views must be a mapping of names to numbers of columns, a sequence of numbers of "
            f"columns, or None, got {views!r}"
        )
    if not named:
        raise ValueError("views must have at least one view, got none: use None for no views")
    for name, width in named.items():
        if not isinstance(name, str):
            raise ValueError(f"views must have strings as names, got {name!r}")
        if not isinstance(width, int | np.integer) or isinstance(width, bool):
            raise ValueError(f"views must have whole numbers of columns, got {width!r}")
        if width < 1:
            raise ValueError(f"views must have at least one column each, got {width} for {name!r}")
    return {name: int(width) for name, width in named.items()}


def assign_views(views: dict[str, int], n_columns: int) -> NDArray[np.int64]:
    """Return the number of the view of each column, or raise if the widths do not add up."""
    check_view_widths(views, n_columns)
    widths = list(views.values())
    return np.repeat(np.arange(len(widths)), widths)


def check_view_widths(views: dict[str, int], n_columns: int) -> None:
    """Refuse views whose numbers of columns do not add up; a forged file may have very many."""
    widths = list(views.values())
    if sum(widths) != n_columns:
        raise ValueError(
            f"views have {' + '.join(map(str, widths))} = {sum(widths)} columns, "
            f"but X has {n_columns}"
        )


def choose_members(
    kernels: list[tuple[str, float | str]], samples: dict[tuple[str, str], RuleInput]
) -> tuple[list[BankMember], dict[tuple[str, str], Sigma2Ranges]]:
    """Return the members of a bank, and the ranges that rules needed.

    ``samples`` has the training rows of each (view, family); views come one after the other,
    each with all kernels.
    """
    members: list[BankMember] = []
    ranges: dict[tuple[str, str], Sigma2Ranges] = {}
    for view in dict.fromkeys(view for view, _ in samples):
        for family, sigma2 in kernels:
            sample = samples[view, family]
            if sigma2 == RANGES:
                variances = _place_by_ranges(sample)
                ranges[view, family] = sample.ranges
            else:
                choice = choose_sigma2(sigma2, sample)
                variances = [choice.sigma2]
                if choice.ranges is not None:
                    ranges.setdefault((view, family), choice.ranges)
            rule = sigma2 if isinstance(sigma2, str) else "given"
            members += [BankMember(view, family, variance, rule) for variance in variances]
    return members, ranges


def _place_by_ranges(sample: RuleInput) -> list[float]:
    """σ²_ce, σ²_ed, σ²_da and the geometric means of neighbours; equal ones once."""
    if sample.X.shape[0] < 2:
        raise ValueError(
            "kernels='ranges' needs at least two distinct rows of X to choose from, got "
            "n_samples = 1: give variances as numbers, or a larger first chunk"
        )
    ce, ed, da = sample.ranges.boundaries
    placed = [ce, float(np.sqrt(ce) * np.sqrt(ed)), ed, float(np.sqrt(ed) * np.sqrt(da)), da]
    return list(dict.fromkeys(placed)) if ce < ed else placed[2:]
