"""Rows that attributes give to nodes: their own, their neighbours', those of a whole region.

========================= =====================================================================
``attributes``            x: numbers standardised (linear) or as normal scores (Gaussian); words
                          as rows of length 1
``neighbour_attributes1`` means over a node and its neighbours, Px; of words SX
``neighbour_attributes2`` the same twice, P²x; of words S²X
``neighbour_attributes``  words only: PageRank means with damping 0.9, a region that fades
``joint_attributes``      numbers only, Gaussian: x and Px together, so that a node is alike if both
                          are
========================= =====================================================================

P is the walk on A + Aᵀ + I and S its symmetric form. Numbers are standardised again after a walk.
Rows of words are divided by the root of their length, and then by a number for all of them, so
that squared lengths are 1 in the mean.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from gradraker.attributes.table import AttributeTable, find_repeats
from gradraker.features.walks import Walks
from gradraker.models.walks.attributes.scaling import (
    compute_normal_scores,
    find_directions,
    fit_scale,
    is_words,
    scale_words,
)

Matrix = NDArray[Any]
NUMBER_BLOCKS = ("attributes", "neighbour_attributes1", "neighbour_attributes2")
WORD_BLOCKS = (*NUMBER_BLOCKS, "neighbour_attributes")
JOINT_BLOCK = "joint_attributes"
_JOINED = NUMBER_BLOCKS[:2]
# Steps of each block; None: PageRank.
_STEPS = {
    "attributes": 0,
    "neighbour_attributes1": 1,
    "neighbour_attributes2": 2,
    "neighbour_attributes": None,
}
DAMPING, _PAGERANK_STEPS = 0.9, 30


class AttributeRows:
    """Rows of attribute blocks, made when they are first needed; scales are those of old nodes.

    With ``most_columns``, wide words are projected to fewer columns.
    """

    def __init__(
        self, table: AttributeTable, walks: Walks, *, most_columns: int | None = None
    ) -> None:
        self.table, self.walks, self._most_columns = table, walks, most_columns
        old = table.matrix[: walks.n_old]
        are_numbers = all(column.kind == "number" for column in table.columns or ())
        self.has_words = are_numbers and is_words(old)  # numbers may be counts of words
        self._is_used = np.ones(len(table.names), dtype=np.bool_)
        if not issparse(old):
            varies = fit_scale(old[table.given[: walks.n_old]]).inverse > 0.0
            self._is_used = varies & ~find_repeats(old)
        self._raw: dict[tuple[str, bool], Matrix] = {}
        self._scaled: dict[tuple[str, bool], Matrix] = {}
        self._units: dict[str, float] = {}

    @property
    def names(self) -> list[str]:
        """Names of the attributes that are used."""
        used = zip(self.table.names, self._is_used, strict=True)
        return [name for name, is_used in used if is_used]

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Groups (d,) of the numbers of categories and texts, and of all columns of a frame.

        Numbers of a category or text share a spread; all of a column count like one number.
        """
        sources, d = self.table.sources[self._is_used], int(self._is_used.sum())
        is_split = self.table.are_apart[self._is_used]
        apart = np.where(is_split, sources.max(initial=0) + 1 + np.arange(d), sources)
        return apart, sources

    def get_spreads(self, block: str) -> Matrix:
        """Standard deviations (d,) of the columns of linear rows of old nodes, before the unit."""
        old = self.get_raw_rows(block, is_linear=True)[: self.walks.n_old]
        return np.asarray(self._standardise(block, old, is_linear=True).std(axis=0))

    @property
    def blocks(self) -> tuple[str, ...]:
        """Blocks that there are."""
        if not self._is_used.any():
            return ()
        if not self._edges.nnz:  # nobody has neighbours
            return ("attributes",)
        return WORD_BLOCKS if self.has_words else (*NUMBER_BLOCKS, JOINT_BLOCK)

    def get_linear_rows(self, block: str) -> Matrix:
        """Rows (n, d) whose inner products are the linear kernel of a block."""
        return self._get_rows(block, is_linear=True)

    def get_gaussian_rows(self, block: str) -> Matrix:
        """Rows (n, d) whose distances the Gaussian kernel of a block is made of."""
        if block == JOINT_BLOCK:
            return np.hstack([self.get_gaussian_rows(one) for one in _JOINED])
        return self._get_rows(block, is_linear=self.has_words)

    def _get_rows(self, block: str, *, is_linear: bool) -> Matrix:
        key = block, is_linear
        if key not in self._scaled:
            raw = self.get_raw_rows(block, is_linear=is_linear)
            self._scaled[key] = self.scale_rows(block, raw, is_linear=is_linear)
        return self._scaled[key]

    def scale_rows(self, block: str, raw: Matrix, *, is_linear: bool) -> Matrix:
        """Scale rows of a block, of any nodes, as those of old nodes are scaled."""
        rows = self._standardise(block, raw, is_linear=is_linear)
        if not is_linear:
            return rows
        return np.asarray(rows * rows.dtype.type(self.get_unit(block)))

    def get_unit(self, block: str) -> float:
        """What linear rows are multiplied with, so that their squares are 1 in the mean."""
        if block not in self._units:
            old = self.get_raw_rows(block, is_linear=True)[: self.walks.n_old]
            rows = self._standardise(block, old, is_linear=True)
            mean = float(np.mean(np.einsum("ij,ij->i", rows, rows)))
            self._units[block] = 1.0 / np.sqrt(mean) if mean > 0.0 else 0.0
        return self._units[block]

    def _standardise(self, block: str, raw: Matrix, *, is_linear: bool) -> Matrix:
        if self.has_words:
            return _divide_by_root_of_length(raw)
        old = self.get_raw_rows(block, is_linear=is_linear)[: self.walks.n_old]
        return fit_scale(old, self._groups[1]).apply(raw)

    def get_raw_rows(self, block: str, *, is_linear: bool) -> Matrix:
        """Rows of a block before they are scaled."""
        key = block, is_linear
        if key not in self._raw:
            self._raw[key] = self._walk(
                block, self.encode_own(self.table.matrix, is_linear=is_linear)
            )
        return self._raw[key]

    def encode_own(self, matrix: Any, *, is_linear: bool) -> Matrix:
        """Own attributes of nodes, in the scale that walks average."""
        if self.has_words:
            words = scale_words(matrix if issparse(matrix) else matrix[:, self._is_used])
            if self.directions is None:
                return np.asarray(words.toarray(), dtype=np.float32)
            return np.asarray(words.astype(np.float32) @ self.directions)
        used = matrix[:, self._is_used]
        old = self.table.matrix[: self.walks.n_old, self._is_used]
        found = fit_scale(old, self._groups[0]).apply(used)
        if not is_linear:
            apart = self.table.are_apart[self._is_used]
            scores = compute_normal_scores(used[:, apart], old[:, apart])
            found[:, apart] = np.where(np.isnan(scores), 0.0, scores)
        return found

    def _walk(self, block: str, X: Matrix) -> Matrix:
        steps, step = _STEPS[block], self._step
        if steps is not None:
            for _ in range(steps):
                X = step @ X
            return X
        found = X
        for _ in range(_PAGERANK_STEPS):
            found = X.dtype.type(DAMPING) * (step @ found) + X.dtype.type(1.0 - DAMPING) * X
        return found

    @cached_property
    def directions(self) -> NDArray[np.float32] | None:
        """Directions (d, r) that wide words are projected to; None if they are not."""
        matrix = self.table.matrix[: self.walks.n_old]
        words = scale_words(matrix if issparse(matrix) else matrix[:, self._is_used])
        options: dict[str, Any] = {"most_columns": self._most_columns, "seed": self.walks.seed}
        if not self.table.is_named:
            return find_directions(words, **options)
        # The same directions whoever came first with a word.
        order = np.argsort(np.array(self.names, dtype=object))
        found = find_directions(words[:, order], **options)
        return None if found is None else found[np.argsort(order)]

    @cached_property
    def _totals(self) -> NDArray[np.float64]:
        """Weights of edges of each node, with a loop of weight 1."""
        return np.asarray(self._edges.sum(axis=1) + 1.0)

    @cached_property
    def _edges(self) -> csr_array:
        """Weights of edges; hidden nodes are left out of others' rows."""
        return self.walks.matrices.get_edges(self.walks.matrices.direction)

    @cached_property
    def _step(self) -> csr_array:
        """P, or S for words."""
        loops = diags_array(np.ones(self.walks.n))
        left, right = self._split_scale(self._totals)
        scaled = diags_array(left) @ (self._edges + loops) @ diags_array(right)
        return csr_array(scaled).astype(np.float32 if self.has_words else np.float64)

    def _split_scale(self, totals: NDArray[np.float64]) -> tuple[Matrix, Matrix]:
        if self.has_words:
            return 1.0 / np.sqrt(totals), 1.0 / np.sqrt(totals)
        return 1.0 / totals, np.ones_like(totals)

    def take_region(self, nodes: NDArray[np.int64], walks: Walks) -> "AttributeRows":
        """Rows of a part of the graph, scaled by themselves."""
        return AttributeRows(self.table.select(nodes), walks, most_columns=self._most_columns)

    def describe_new(self, table: AttributeTable, links: csr_array) -> "NewAttributeRows":
        """Rows of nodes that are not in the graph, from edges (new, n) and their attributes."""
        totals = np.asarray(links.sum(axis=1) + 1.0)
        left, loops = self._split_scale(totals)
        _, right = self._split_scale(self._totals)
        return NewAttributeRows(
            self,
            table.matrix,
            csr_array(diags_array(left) @ links @ diags_array(right)),
            (left * loops)[:, np.newaxis],
        )


class NewAttributeRows(NamedTuple):
    """Rows of attribute blocks of nodes that are not in the graph."""

    rows: AttributeRows
    matrix: Any  # [new, attributes]
    links: csr_array  # [new, n]: the step from new nodes to those of the graph
    loops: Matrix  # [new, 1]: the step to themselves

    def compute_rows(self, block: str, *, is_linear: bool) -> Matrix:
        """Rows (new, d) of a block."""
        if block == JOINT_BLOCK:
            return np.hstack([self.compute_rows(one, is_linear=is_linear) for one in _JOINED])
        is_linear = is_linear or self.rows.has_words
        return self.rows.scale_rows(block, self._walk(block, is_linear), is_linear=is_linear)

    def _walk(self, block: str, is_linear: bool) -> Matrix:
        X = self.rows.encode_own(self.matrix, is_linear=is_linear)
        steps = _STEPS[block]
        if steps is None:  # of the region, where it no longer changes
            around = self.links @ self.rows.get_raw_rows(block, is_linear=is_linear)
            return np.asarray(
                ((1.0 - DAMPING) * X + DAMPING * around) / (1.0 - DAMPING * self.loops)
            )
        for number in range(steps):
            old = self.rows.get_raw_rows(NUMBER_BLOCKS[number], is_linear=is_linear)
            X = self.loops * X + self.links @ old
        return np.asarray(X)


def _divide_by_root_of_length(rows: Matrix) -> Matrix:
    roots = np.sqrt(np.linalg.norm(rows, axis=1))[:, np.newaxis]
    return np.asarray(rows / np.where(roots > 0.0, roots, 1.0))
