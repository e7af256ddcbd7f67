"""How linear terms count attributes: coefficients, with their direction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.models.walks.attributes.rows import AttributeRows
from gradraker.models.walks.choice import Kernel

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AttributeCoefficients:
    """Coefficients of linear terms.

    Attributes
    ----------
    names : list of str
        Attributes.
    blocks : tuple of str
        Linear terms of the kernel: a node's own attributes, those of its neighbours.
    values : array of shape (blocks, attributes, targets)
        What a prediction gains when an attribute, averaged as the block says, is larger by one
        standard deviation; for words, by the whole of a row that has no other word.
    """

    names: list[str]
    blocks: tuple[str, ...]
    values: Matrix

    def list_top(self, n: int = 10, target: int = 0) -> list[tuple[str, str, float]]:
        """Return (block, attribute, coefficient) of the largest coefficients of a target."""
        values = self.values[:, :, target]
        order = np.argsort(-np.abs(values), axis=None, kind="stable")[:n]
        places = (np.unravel_index(i, values.shape) for i in order)
        return [(self.blocks[b], self.names[j], float(values[b, j])) for b, j in places]

    def to_dict(self, n: int = 10) -> list[dict[str, Any]]:
        """Return the largest coefficients of each target, as JSON can hold them."""
        return [
            {"block": block, "attribute": name, "target": target, "coefficient": value}
            for target in range(self.values.shape[2])
            for block, name, value in self.list_top(n, target)
        ]

    def __repr__(self) -> str:
        if not self.blocks:
            return "AttributeCoefficients: no linear term of attributes"
        lines = [f"AttributeCoefficients of {', '.join(self.blocks)}; the largest:"]
        lines += [f"  {value:+10.4g}  {name} ({block})" for block, name, value in self.list_top()]
        return "\n".join(lines)


def compute_coefficients(
    rows: AttributeRows | None, kernel: Kernel, known: NDArray[np.int64], C: Matrix
) -> AttributeCoefficients:
    """Coefficients of linear terms, from dual coefficients C (N, K) of the known nodes."""
    if rows is None:
        return AttributeCoefficients([], (), np.zeros((0, 0, C.shape[1])))
    terms = [t for t in kernel if t.block in rows.blocks and t.width is None]
    found = []
    for term in terms:
        Z = rows.get_linear_rows(term.block)
        own = term.share * rows.get_unit(term.block) * np.asarray(Z[known].T @ C, dtype=np.float64)
        if not rows.has_words:
            own *= rows.get_spreads(term.block)[:, np.newaxis]
        elif rows.directions is not None:
            own = rows.directions @ own
        found.append(own)
    values = np.stack(found) if found else np.zeros((0, len(rows.names), C.shape[1]))
    return AttributeCoefficients(rows.names, tuple(t.block for t in terms), values)
