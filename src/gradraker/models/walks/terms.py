"""Terms of a kernel: blocks of the description of a node, each with its share."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gradraker.features.walks import REACHES

_CHAIN = re.compile(r"(hop|alternating)([1-9][0-9]{0,2})")
_NEAR = 4  # steps
_KINDS = {
    "hop": "region",
    "community": "region",
    "pagerank": "region",
    "far": "region",
    "wide": "region",
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
_ALTERNATING = tuple(f"alternating{k}" for k in range(1, 1000))


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
    >>> from gradraker.models.walks.terms import check_block
    >>> check_block("hop0")
    Traceback (most recent call last):
    ValueError: blocks must be 'degree', 'attributes', ..., 'same_sources' or 'hop1', 'hop2', …, got
    'hop0'
    """
    others = ("degree", *ATTRIBUTE_BLOCKS)
    if isinstance(block, str) and block in (*others, *REACHES, *_ALTERNATING):
        return block
    names = ", ".join(map(repr, (*others, *REACHES[: REACHES.index("hop1")])))
    raise ValueError(f"blocks must be {names} or 'hop1', 'hop2', …, got {block!r}")


def split_block(block: str) -> tuple[str, int]:
    """Return the walk of a block and its number of steps, 1 for a block without a number.

    Examples
    --------
    >>> from gradraker.models.walks.terms import split_block
    >>> split_block("hop30"), split_block("same_targets")
    (('hop', 30), ('same_targets', 1))
    """
    chain = _CHAIN.fullmatch(block)
    return (chain[1], int(chain[2])) if chain else (block, 1)


def get_kind(block: str) -> str:
    """Return the kind of similarity that a block stands for, in words for explanations.

    Examples
    --------
    >>> from gradraker.models.walks.terms import get_kind
    >>> get_kind("hop2"), get_kind("hop16"), get_kind("degree")
    ('near neighbours', 'region', 'degrees')
    """
    walk, length = split_block(block)
    if walk == "hop" and length <= _NEAR:
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
    >>> from gradraker.models.walks.terms import Term, format_kernel
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
