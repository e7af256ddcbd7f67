"""Mixes of operators: a few numbers from which the shares of all terms follow."""

from collections.abc import Sequence
from typing import NamedTuple

from gradraker.models.walks.choice import Kernel, Term

# Walks that nodes are compared by: their shares lean to near or far nodes, or one has all.
LEANS = {
    "even": {"hop1": 0.25, "hop4": 0.25, "hop16": 0.25, "hop64": 0.25},
    "broad": {"hop1": 0.2, "hop4": 0.2, "hop16": 0.2, "hop64": 0.2, "hop256": 0.2},
    "near": {"hop1": 0.55, "hop4": 0.25, "hop16": 0.15, "hop64": 0.05},
    "far": {"hop1": 0.05, "hop4": 0.15, "hop16": 0.25, "hop64": 0.55},
    "farther": {"hop1": 0.05, "hop4": 0.1, "hop16": 0.15, "hop64": 0.25, "hop256": 0.45},
    "farthest": {"hop4": 0.1, "hop16": 0.15, "hop64": 0.2, "hop256": 0.25, "hop999": 0.3},
    "lazy": {"lazy1": 0.5, "lazy4": 0.5},
    "groups": {"hop1": 0.2, "hop8": 0.8},
    "centred": {"centred8": 0.5, "centred16": 0.5},
    "regions": {"hop64": 1.0},
    "wide": {"hop256": 1.0},
}
ALTERNATING = ("alternating1", "alternating4")
DIRECTION = ("same_targets", "same_sources")
# σ² of Gaussian kernels, in median squared distances: smooth in degrees; of groups of nodes, only
# those in the same group are alike.
WIDTHS = {"degree": 4.0, "community": 0.125}
# Shares that a kind may have, tried from the first on for as long as they are better.
LADDERS = {
    "degrees": (0.2, 0.5, 0.9),
    "communities": (0.3, 0.7, 0.95),
    "alternating": (0.3, 0.7),
    "direction": (0.3, 0.6),
    "attributes": (0.5, 0.75, 0.95),
}
_SMALLEST_SHARE = 1e-9
_KINDS = ("degrees", "communities", "alternating", "direction", "attributes")


class Mix(NamedTuple):
    """Shares by kind of similarity; walks have the rest, and lean to near or far nodes."""

    degrees: float = 0.0
    communities: float = 0.0
    alternating: float = 0.0
    direction: float = 0.0
    lean: str = "even"
    attributes: float = 0.0
    attribute_kernel: Kernel = ()  # terms of attributes, with shares that sum to 1

    def to_kernel(self) -> Kernel:
        """Return the terms of the mix.

        Examples
        --------
        >>> from gradraker.models.walks.operators.mixes import Mix
        >>> [f"{term.block} {term.share:.3g}" for term in Mix(degrees=0.2).to_kernel()]
        ['hop1 0.2', 'hop4 0.2', 'hop16 0.2', 'hop64 0.2', 'degree 0.2']
        """
        rest = 1.0 - sum(getattr(self, kind) for kind in _KINDS)
        shares = [(block, rest * part) for block, part in LEANS[self.lean].items()]
        shares += [(block, self.alternating / len(ALTERNATING)) for block in ALTERNATING]
        shares += [(block, self.direction / len(DIRECTION)) for block in DIRECTION]
        terms = [Term(block, None, share) for block, share in shares]
        terms.append(Term("degree", WIDTHS["degree"], self.degrees))
        terms.append(Term("community", WIDTHS["community"], self.communities))
        terms += [t._replace(share=self.attributes * t.share) for t in self.attribute_kernel]
        return tuple(term for term in terms if term.share > _SMALLEST_SHARE)

    def set_share(self, kind: str, share: float) -> "Mix":
        """Return the mix with one kind at this share, and the others scaled to the rest."""
        others = set(_KINDS) - {kind}
        old = getattr(self, kind)
        scale = (1.0 - share) / (1.0 - old) if old < 1.0 else 0.0
        return self._replace(
            **{kind: share, **{other: scale * getattr(self, other) for other in others}}
        )


def list_mixes(leans: Sequence[str]) -> list[Mix]:
    """Walks that lean this way or that, without degrees and with three shares of them.

    Examples
    --------
    >>> from gradraker.models.walks.operators.mixes import list_mixes
    >>> [(mix.lean, mix.degrees) for mix in list_mixes(["even"])]
    [('even', 0.0), ('even', 0.2), ('even', 0.5), ('even', 0.9)]
    """
    shares = (0.0, *LADDERS["degrees"])
    return [Mix(degrees=share, lean=lean) for lean in leans for share in shares]


def list_attribute_kernels(*, has_words: bool) -> tuple[Kernel, ...]:
    """Kernels of attributes to choose from: mostly neighbours', both, and a node's own.

    Examples
    --------
    >>> from gradraker.models.walks.operators.mixes import list_attribute_kernels
    >>> [(term.block, term.share) for term in list_attribute_kernels(has_words=True)[0]]
    [('attributes', 0.1), ('neighbour_attributes', 0.9)]
    """
    around: Kernel = (Term("neighbour_attributes", None, 1.0),)
    own: Kernel = (Term("attributes", None, 1.0),)
    if not has_words:
        names = ("neighbour_attributes1", "neighbour_attributes2")
        apart = tuple(Term(block, width, 0.125) for block in names for width in (None, 1.0))
        around = (*apart, Term("joint_attributes", 1.0, 0.5))
        own = tuple(Term("attributes", width, 0.5) for width in (None, 1.0))
    return tuple(
        (
            *(term._replace(share=share * term.share) for term in own),
            *(term._replace(share=(1.0 - share) * term.share) for term in around if share < 1.0),
        )
        for share in (0.1, 0.5, 1.0)
    )
