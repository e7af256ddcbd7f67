"""What a node model chose, as JSON of its file."""

import math
from typing import Any

from gradraker._validation import to_json_number
from gradraker.models.walks.blocks import Kernel, Term, check_block
from gradraker.models.walks.choice import Choice, Tried


def dump_choice(choice: Choice) -> dict[str, Any]:
    """Return a choice as JSON can hold it."""
    return {
        "kernel": [list(term) for term in choice.kernel],
        "alpha": to_json_number(choice.alpha),
        "tried": [[[list(term) for term in t.kernel], t.nats] for t in choice.tried],
        "n_used": choice.n_used,
    }


def restore_choice(item: dict[str, Any]) -> Choice:
    """Make the choice that a file describes."""
    kernel = _restore_kernel(item["kernel"])
    alpha = math.inf if item["alpha"] is None else float(item["alpha"])
    if not alpha > 0.0 or math.isinf(alpha) != (not kernel):
        raise ValueError("the choice is not consistent")
    tried = tuple(Tried(_restore_kernel(terms), float(nats)) for terms, nats in item["tried"])
    return Choice(kernel, alpha, tried, int(item["n_used"]))


def _restore_kernel(terms: list[Any]) -> Kernel:
    kernel = tuple(Term(check_block(b), float(width), float(share)) for b, width, share in terms)
    if not all(0.0 < term.width < math.inf and term.share > 0.0 for term in kernel):
        raise ValueError("a width or a share is not a positive number")
    if kernel and not math.isclose(sum(term.share for term in kernel), 1.0, rel_tol=1e-6):
        raise ValueError("the shares do not sum to 1")
    return kernel
