"""What a node model was given and what it chose: a kernel of terms, a penalty, other candidates."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradraker._html import render_box, render_facts, render_rows
from gradraker._validation import is_number, to_json_number
from gradraker.features.walks import REACHES

# Known nodes below which classes are predicted by what is assumed of graphs: where each class has
# few nodes, leaving one out tells little.
FEW_CLASSES = 60
_MOST_LISTED = 8  # candidates that a summary lists
_CHAIN = re.compile(r"(hop|lazy|centred|alternating)([1-9][0-9]{0,2})")
_NEAR = 4  # steps
_KINDS = {
    "hop": "region",
    "lazy": "region",
    "centred": "region",
    "community": "region",
    "pagerank": "region",
    "far": "region",
    "wide": "region",
    "commute": "region",
    "alternating": "alternating",
    "same_targets": "direction",
    "same_sources": "direction",
    "degree": "degrees",
    "attributes": "attributes",
    "neighbour_attributes": "attributes of neighbours",
    "neighbour_attributes1": "attributes of neighbours",
    "neighbour_attributes2": "attributes of neighbours",
    "joint_attributes": "attributes of neighbours",
    "local_attributes": "attributes within a region",
}
ATTRIBUTE_BLOCKS = (
    "attributes",
    "neighbour_attributes1",
    "neighbour_attributes2",
    "neighbour_attributes",
    "joint_attributes",
    "local_attributes",
)
_WALKS_OF_OPERATORS = ("lazy", "centred", "alternating")
_OPERATORS = tuple(f"{walk}{k}" for walk in _WALKS_OF_OPERATORS for k in range(1, 1000))


class Term(NamedTuple):
    """A block in a kernel: its width w (None for kernels of operators) and its share of the sum."""

    block: str
    width: float | None
    share: float


Kernel = tuple[Term, ...]


def check_block(block: Any) -> str:
    """Return the name of a block, or say which there are.

    Examples
    --------
    >>> from gradraker.models.walks.choice import check_block
    >>> check_block("hop0")
    Traceback (most recent call last):
    ValueError: blocks must be 'degree', 'commute', ..., 'same_sources' or 'hop1', 'hop2', …, got
    'hop0'
    """
    others = ("degree", "commute", *ATTRIBUTE_BLOCKS)
    if isinstance(block, str) and block in (*others, *REACHES, *_OPERATORS):
        return block
    names = ", ".join(map(repr, (*others, *REACHES[: REACHES.index("hop1")])))
    raise ValueError(f"blocks must be {names} or 'hop1', 'hop2', …, got {block!r}")


def split_block(block: str) -> tuple[str, int]:
    """Return the walk of a block and its number of steps, 1 for a block without a number.

    Examples
    --------
    >>> from gradraker.models.walks.choice import split_block
    >>> split_block("hop30"), split_block("same_targets")
    (('hop', 30), ('same_targets', 1))
    """
    chain = _CHAIN.fullmatch(block)
    return (chain[1], int(chain[2])) if chain else (block, 1)


def get_kind(block: str) -> str:
    """Return the kind of similarity that a block stands for, in words for explanations.

    Examples
    --------
    >>> from gradraker.models.walks.choice import get_kind
    >>> get_kind("hop2"), get_kind("hop16"), get_kind("degree")
    ('near neighbours', 'region', 'degrees')
    """
    walk, length = split_block(block)
    if walk in ("hop", "lazy") and length <= _NEAR:
        return "near neighbours"
    return _KINDS[walk]


def check_blocks(blocks: Any) -> tuple[str, ...] | None:
    """Return a tuple of block names, or None for "auto"."""
    if isinstance(blocks, str):
        return None if blocks == "auto" else (check_block(blocks),)
    try:
        names = tuple(check_block(block) for block in blocks)
    except TypeError:
        raise ValueError(f"blocks must be 'auto' or names of blocks, got {blocks!r}") from None
    if not names or len(set(names)) != len(names):
        raise ValueError(f"blocks must be 'auto' or distinct names of blocks, got {blocks!r}")
    return names


def share_equally(blocks: Sequence[str], width: float | None) -> Kernel:
    """Return the mean of the kernels of some blocks at one width."""
    return tuple(Term(block, width, 1.0 / len(blocks)) for block in blocks)


def format_kernel(kernel: Kernel, most: int = 6) -> str:
    """The terms in words, the largest share first, and of many the first few.

    Examples
    --------
    >>> from gradraker.models.walks.choice import Term, format_kernel
    >>> format_kernel((Term("degree", 8.0, 0.25), Term("hop2", 1.0, 0.5), Term("hop4", None, 0.25)))
    '0.5 hop2 (width 1) + 0.25 degree (width 8) + 0.25 hop4'
    """
    terms = sorted(kernel, key=lambda term: -term.share)
    words = []
    for term in terms[:most]:
        width = "" if term.width is None else f" (width {term.width:g})"
        words.append(f"{term.share:.2g} {term.block}{width}")
    more = len(terms) - most
    return " + ".join([*words, f"{more} more"] if more > 0 else words)


# -- what is given and chosen ----------------------------------------------------------------------


class FixedParameters(NamedTuple):
    """Parameters that are given; None is to be chosen."""

    blocks: tuple[str, ...] | None
    width: float | None
    alpha: float | None

    @property
    def are_complete(self) -> bool:
        """Whether nothing is left to choose."""
        return None not in self


def check_parameters(blocks: Any, width: Any, alpha: Any) -> FixedParameters:
    """Return parameters as a user gave them, "auto" or not, checked."""
    return FixedParameters(
        check_blocks(blocks), _check_number("width", width), _check_number("alpha", alpha)
    )


def _check_number(name: str, value: Any) -> float | None:
    if isinstance(value, str) and value == "auto":
        return None
    if not is_number(value) or not 0.0 < value < math.inf:
        raise ValueError(f"{name} must be 'auto' or a positive number, got {value!r}")
    return float(value)


def check_tolerance(name: str, value: Any) -> float:
    """Return a relative residual in [10⁻¹², 0.1]."""
    if not is_number(value) or not 1e-12 <= value <= 0.1:
        raise ValueError(f"{name} must be a number from 1e-12 to 0.1, got {value!r}")
    return float(value)


class TriedTransform(NamedTuple):
    """A transform of the values, and its left-out error in units of the constant's."""

    name: str
    error: float


class Tried(NamedTuple):
    """A candidate: its kernel, and its criterion in nats relative to the mean's."""

    kernel: Kernel
    nats: float


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """What was chosen, and how the candidates fared.

    Attributes
    ----------
    kernel : tuple of Term
        Terms (block, width, share) of the kernel; none for the mean of the known values.
    alpha : float
        Penalty; infinite for the mean.
    tried : tuple of Tried
        All candidates, the best first; empty where all was given.
    n_used : int
        Known nodes that blocks and widths were chosen on.
    offset : float
        Of classes: how much of the frequency of a class its score keeps, in [0, 1].
    rule : str
        How one of the candidates was chosen, in words.
    transform : str
        Of numbers: the scale in which weights add up, such as "none" or "log".
    tried_transforms : tuple of TriedTransform
        Transforms that were compared, the best first; empty where nothing was to be compared.
    """

    kernel: Kernel
    alpha: float
    tried: tuple[Tried, ...]
    n_used: int
    offset: float = 1.0
    rule: str = "given"
    transform: str = "none"
    tried_transforms: tuple[TriedTransform, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """Names of the blocks."""
        return tuple(dict.fromkeys(term.block for term in self.kernel))

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as a dict that JSON can hold, the largest shares first."""
        return {
            "kernel": _to_dicts(self.kernel),
            "alpha": to_json_number(self.alpha),
            "offset": self.offset,
            "rule": self.rule,
            "transform": self.transform,
            "tried_transforms": {one.name: one.error for one in self.tried_transforms},
            "chosen_on": self.n_used,
            "n_tried": len(self.tried),
            "tried": [
                {"kernel": _to_dicts(one.kernel), "nats": to_json_number(-one.nats)}
                for one in self.tried[:_MOST_LISTED]
            ],
        }

    def _repr_html_(self) -> str:
        told = self.to_dict()
        rows = [(term["block"], term["width"], term["share"]) for term in told["kernel"]]
        table = render_rows(rows, ("Nodes are compared by", "Width", "Share"))
        facts = render_facts(
            [
                ("Penalty", float(self.alpha)),
                ("Scale", self.transform),
                ("Candidates", len(self.tried)),
                ("Nodes", self.n_used),
            ]
        )
        return render_box("Choice" if rows else "Choice: the mean", table if rows else "", facts)

    def __repr__(self) -> str:
        text = f"{format_kernel(self.kernel)}, alpha {self.alpha:.3g}"
        if not self.kernel:
            text = "the mean of the known values"
        if self.transform != "none":
            text += f", values in the scale {self.transform!r}"
        if not self.tried:
            return f"Choice: {text}"
        lines = [
            f"Choice: {text}; of {len(self.tried)} kernels on {self.n_used} known nodes",
            f"  rule: {self.rule}",
            "  nats better than the mean",
        ]
        lines += [f"  {-t.nats:8.1f}  {format_kernel(t.kernel)}" for t in self.tried]
        if self.tried_transforms:
            lines.append("  left-out error over that of the constant")
            lines += [f"  {one.error:8.3f}  {one.name}" for one in self.tried_transforms]
        return "\n".join(lines)


def choose_mean(n: int, tried: tuple[Tried, ...] = ()) -> Choice:
    """Return the fallback: predict the mean of the known values."""
    return Choice((), np.inf, tried, n, rule="the mean: no kernel is better")


def dump_choice(choice: Choice) -> dict[str, Any]:
    """Return a choice as JSON can hold it."""
    return {
        "kernel": [list(term) for term in choice.kernel],
        "alpha": to_json_number(choice.alpha),
        "tried": [[[list(term) for term in t.kernel], t.nats] for t in choice.tried],
        "n_used": choice.n_used,
        "offset": choice.offset,
        "rule": choice.rule,
        "transform": choice.transform,
        "tried_transforms": [list(one) for one in choice.tried_transforms],
    }


def restore_choice(item: dict[str, Any]) -> Choice:
    """Make the choice that a file describes."""
    kernel = _restore_kernel(item["kernel"])
    alpha = math.inf if item["alpha"] is None else float(item["alpha"])
    offset = float(item["offset"])
    if not alpha > 0.0 or math.isinf(alpha) != (not kernel) or not 0.0 <= offset <= 1.0:
        raise ValueError("the choice is not consistent")
    tried = tuple(Tried(_restore_kernel(terms), float(nats)) for terms, nats in item["tried"])
    transforms = tuple(TriedTransform(str(t), float(e)) for t, e in item["tried_transforms"])
    return Choice(
        kernel,
        alpha,
        tried,
        int(item["n_used"]),
        offset,
        str(item["rule"]),
        str(item["transform"]),
        transforms,
    )


def _restore_kernel(terms: list[Any]) -> Kernel:
    kernel = tuple(_restore_term(*term) for term in terms)
    if not all((t.width is None or 0.0 < t.width < math.inf) and t.share > 0.0 for t in kernel):
        raise ValueError("a width or a share is not a positive number")
    if kernel and not math.isclose(sum(term.share for term in kernel), 1.0, rel_tol=1e-6):
        raise ValueError("the shares do not sum to 1")
    return kernel


def _restore_term(block: Any, width: Any, share: Any) -> Term:
    return Term(check_block(block), None if width is None else float(width), float(share))


def _to_dicts(kernel: Kernel) -> list[dict[str, Any]]:
    terms = sorted(kernel, key=lambda term: -term.share)
    return [{"block": term.block, "width": term.width, "share": term.share} for term in terms]
