"""Mixes of operators: a few numbers from which the shares of all terms follow."""

from typing import NamedTuple

from gradraker.models.walks.terms import Kernel, Term

# Lengths of the walks that nodes are compared by, and how their shares may lean.
HOPS = ("hop1", "hop4", "hop8", "hop16", "hop64")
LEANS = {
    "even": (0.25, 0.25, 0.0, 0.25, 0.25),
    "near": (0.55, 0.25, 0.0, 0.15, 0.05),
    "far": (0.05, 0.15, 0.0, 0.25, 0.55),
    "groups": (0.0, 0.0, 1.0, 0.0, 0.0),
    "regions": (0.0, 0.0, 0.0, 0.0, 1.0),
}
ALTERNATING = ("alternating1", "alternating4")
DIRECTION = ("same_targets", "same_sources")
# σ² of the kernel of degrees, in median squared distances.
DEGREE_WIDTH = 4.0
_SMALLEST_SHARE = 1e-9


class Mix(NamedTuple):
    """Shares by kind of similarity; walks have the rest, and lean to near or far nodes."""

    degrees: float = 0.0
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
        rest = 1.0 - self.degrees - self.alternating - self.direction - self.attributes
        shares = [(block, rest * part) for block, part in zip(HOPS, LEANS[self.lean], strict=True)]
        shares += [(block, self.alternating / len(ALTERNATING)) for block in ALTERNATING]
        shares += [(block, self.direction / len(DIRECTION)) for block in DIRECTION]
        terms = [Term(block, None, share) for block, share in shares]
        terms.append(Term("degree", DEGREE_WIDTH, self.degrees))
        terms += [t._replace(share=self.attributes * t.share) for t in self.attribute_kernel]
        return tuple(term for term in terms if term.share > _SMALLEST_SHARE)

    def set_share(self, kind: str, share: float) -> "Mix":
        """Return the mix with one kind at this share, and the others scaled to the rest."""
        others = {"degrees", "alternating", "direction", "attributes"} - {kind}
        old = getattr(self, kind)
        scale = (1.0 - share) / (1.0 - old) if old < 1.0 else 0.0
        return self._replace(
            **{kind: share, **{other: scale * getattr(self, other) for other in others}}
        )


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
