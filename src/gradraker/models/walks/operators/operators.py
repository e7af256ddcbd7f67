"""The kernel of a large graph as a sum of operators, each a product of sparse or thin matrices.

==================== =========================================================== ================
block                 kernel                                                      kind
==================== =========================================================== ================
``hop1``, ``hop2``, … chain of that length over the walk on A + Aᵀ + I            near up to 4
                                                                                  steps, else region
``lazy1``, …          the same over a walk that stays with probability ½          as ``hop1``, …
``centred1``, …       the same less where walks from all nodes end                region
``alternating1``, …   the same over I − A − Aᵀ: neighbours differ                 alternating
``same_targets``      chain of length 1 over A: nodes that link to the same nodes direction
``same_sources``      chain of length 1 over Aᵀ: the same nodes link to them      direction
``degree``            Gaussian of degrees and neighbours' degrees, in low rank    degrees
``community``         Gaussian of where walks of 16 steps end, in low rank        region
``attributes``, …     linear, or Gaussian in low rank; see ``attributes.rows``    attributes
==================== =========================================================== ================

Each kernel has ones on its diagonal, linear ones in the mean. The kernel of a model is
Σ share · kernel.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gradraker.attributes.table import AttributeTable
from gradraker.features.engine import CpuEngine, Engine, split_range, tell_progress
from gradraker.features.walks import Structure, Walks, draw_vectors, measure_structure
from gradraker.models.walks.attributes.rows import AttributeRows, NewAttributeRows
from gradraker.models.walks.choice import ATTRIBUTE_BLOCKS, Kernel, Term, split_block
from gradraker.models.walks.operators.centred_chains import CentredChains
from gradraker.models.walks.operators.chains import (
    Chains,
    build_meeting_walk,
    invert_root,
    make_chains,
    scale_both,
    scale_walk,
    weigh_lazy_loops,
)
from gradraker.models.walks.operators.disk_walk import build_disk_walk
from gradraker.models.walks.operators.low_rank import (
    N_LANDMARKS,
    GaussianFeatures,
    make_gaussian_features,
    scale_to_unit,
)
from gradraker.models.walks.operators.mixes import WIDTHS

Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]
# Random vectors that norms of long chains are estimated with: off by 9 % (one standard deviation).
N_PROBES = 64
_PROBE_SEED = 0x70726F6265
# Columns that words are projected to.
MOST_COLUMNS = 384
# Half of the steps of walks that tell the group of a node: few enough that powers are exact.
_HALF = 8
# Walks over edges of both directions and loops.
_WITH_LOOPS = ("hop", "lazy", "alternating", "centred")
# Unit vectors that are multiplied at once.
_COLUMNS = 64
# Blocks of exact kernels that have another one in their place here.
_IN_PLACE = {
    "far": "hop64",
    "wide": "hop128",
    "commute": "hop256",
    "pagerank": "hop16",
    "alternating": "alternating4",
    "local_attributes": "joint_attributes",
}


def to_operator_block(block: str) -> str:
    """Return the block of operators that is nearest to a block of exact kernels."""
    return _IN_PLACE.get(block, block)


def is_low_rank(block: str) -> bool:
    """Whether the kernel of a block is a product of thin matrices."""
    return block in WIDTHS or block in ATTRIBUTE_BLOCKS


class NewRows(NamedTuple):
    """Nodes that are not in the graph: their rows of each walk, and numbers that describe them."""

    walks: dict[str, csr_array]  # [new, n]
    columns: Matrix  # [new, f]
    attributes: NewAttributeRows | None = None


class Operators:
    """The operators of one graph, made when they are first needed."""

    def __init__(
        self,
        walks: Walks,
        *,
        dtype: Any = np.float32,
        engine: Engine | None = None,
        attributes: AttributeRows | None = None,
    ) -> None:
        self.walks, self.dtype, self.attributes = walks, dtype, attributes
        self.engine: Any = CpuEngine() if engine is None else engine
        self._chains: dict[str, Chains] = {}
        self._low_rank: dict[tuple[str, float | None], Any] = {}
        self._gaussians: dict[tuple[str, float], GaussianFeatures | None] = {}
        self._sums: dict[str, Matrix] = {}
        self._sketches: dict[str, dict[int, Matrix]] = {}  # of new rows, by walk and length

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.walks.n

    # -- products ------------------------------------------------------------------

    def multiply(self, X: Any, kernel: Kernel) -> Any:
        """K X for X (n, k), as many columns at a time as the engine's memory has room for."""
        some, k = self.engine.count_columns(self.n, self.dtype, 4 * len(kernel)), X.shape[1]
        if some >= k:
            return self._multiply_columns(X, kernel)
        total = self.engine.xp.empty_like(X)
        for own in split_range(k, some):
            columns = self.engine.xp.ascontiguousarray(X[:, own])
            total[:, own] = self._multiply_columns(columns, kernel)
        return total

    def _multiply_columns(self, X: Any, kernel: Kernel) -> Any:
        total = self.engine.xp.zeros_like(X)
        for walk, terms in _group_terms(kernel).items():
            if is_low_rank(walk):
                for term in terms.values():
                    Z = self.get_features(term)
                    total += Z @ (self.dtype(term.share) * (Z.T @ X))
            else:
                shares = {length: term.share for length, term in terms.items()}
                total += self._get_chains(walk, tuple(terms)).multiply_sum(X, shares)
        return total

    def multiply_terms(self, X: Any, kernel: Kernel) -> Iterator[tuple[Term, Any]]:
        """Yield each term and its own product with X, without its share."""
        for walk, terms in _group_terms(kernel).items():
            if is_low_rank(walk):
                for term in terms.values():
                    Z = self.get_features(term)
                    yield term, Z @ (Z.T @ X)
            else:
                chains = self._get_chains(walk, tuple(terms))
                for length, product in chains.multiply(X, tuple(terms)):
                    yield terms[length], product

    def compute_rows(self, rows: Rows, term: Term, others: Rows) -> NDArray[Any]:
        """Rows of the kernel of one term between nodes and others, (rows, others)."""
        return self.compute_rows_of_terms(rows, (term,), others)[0]

    def compute_rows_of_terms(
        self, rows: Rows, terms: Sequence[Term], others: Rows
    ) -> list[NDArray[Any]]:
        """The same for several terms; walks of several lengths are taken together."""
        thin = [term for term in terms if is_low_rank(term.block)]
        found = {term: self._compute_low_rank(rows, term, others) for term in thin}
        for walk, own in _group_terms([term for term in terms if term not in found]).items():
            chains = self._get_chains(walk, tuple(own))
            parts = {length: np.empty((rows.size, others.size), dtype=self.dtype) for length in own}
            loaded = self.engine.load_rows(others)
            for some in split_range(rows.size, _COLUMNS):
                tell_progress("walking from known nodes", some.start, rows.size)
                units = self.make_units(rows[some])
                for length, product in chains.multiply_units(units, rows[some], tuple(own)):
                    parts[length][some] = self.engine.fetch(product[loaded]).T
            found |= {term: parts[length] for length, term in own.items()}
        return [found[term] for term in terms]

    def _compute_low_rank(self, rows: Rows, term: Term, others: Rows) -> NDArray[Any]:
        Z, load_rows = self.get_features(term), self.engine.load_rows
        return np.asarray(self.engine.fetch(Z[load_rows(rows)] @ Z[load_rows(others)].T))

    def make_units(self, rows: Rows) -> Any:
        """Unit vectors (n, len(rows)) on the engine."""
        units = np.zeros((self.n, rows.size), dtype=self.dtype)
        units[rows, np.arange(rows.size)] = 1.0
        return self.engine.load(units, self.dtype)

    # -- nodes that are not in the graph ---------------------------------------------

    def list_remainders(self, X: Any, kernel: Kernel) -> Iterator[tuple[Term, Matrix, Matrix]]:
        """Yield each chain, its product with X after the first step, and its sketch of norms."""
        for walk, terms in _group_terms(kernel).items():
            if is_low_rank(walk):
                continue
            lengths = tuple(terms)
            chains = self._get_chains(walk, lengths)
            if self._sketches.get(walk, {}).keys() != terms.keys():
                self._sketches[walk] = chains.sketch_rows(lengths, self._probes)
            sketches = self._sketches[walk]
            for length, product in chains.multiply(X, lengths, after_step=True):
                yield terms[length], self.engine.fetch(product), sketches[length]

    def describe_new(
        self, out: csr_array, into: csr_array, attributes: AttributeTable | None = None
    ) -> NewRows:
        """Describe new nodes by the weights of their edges to and from the graph, (new, n)."""
        matrices = self.walks.matrices
        out, into = abs(out), abs(into)
        if matrices.hidden is not None:
            seen = diags_array((~matrices.hidden).astype(np.float64))
            out, into = csr_array(out @ seen), csr_array(into @ seen)
        links = {"out": out, "in": into, "both": csr_array(out + into)}[matrices.direction]
        meetings = {"same_targets": ("out", out), "same_sources": ("in", into)}
        columns = [self._structure.describe(links)]
        if self._centre.size > columns[0].shape[1]:
            columns += [np.log1p(out.sum(axis=1)), np.log1p(into.sum(axis=1))]
        ends = self._sum_columns(matrices.direction) + 1.0  # with the loop
        walks = {"hop": scale_both(links, links.sum(axis=1), ends)}
        walks |= {"alternating": csr_array(-walks["hop"]), "centred": walks["hop"]}
        walks["lazy"] = scale_both(links, 2.0 * links.sum(axis=1), self._lazy_columns)
        for walk, (direction, edges) in meetings.items():
            walks[walk] = scale_both(edges, edges.sum(axis=1), self._sum_columns(direction))
        standardised = (np.column_stack(columns) - self._centre) * self._spread
        described = None
        if attributes is not None and self.attributes is not None:
            described = self.attributes.describe_new(attributes, links)
        return NewRows(walks, standardised, described)

    def _sum_columns(self, direction: str) -> Matrix:
        """Weights of edges that lead to each node, over which its column of a walk is scaled."""
        if direction not in self._sums:
            edges = self.walks.matrices.get_edges(direction)
            self._sums[direction] = np.asarray(edges.sum(axis=0))
        return self._sums[direction]

    @cached_property
    def _lazy_columns(self) -> Matrix:
        """The same of the lazy walk, with its loops."""
        direction = self.walks.matrices.direction
        sums = self.walks.matrices.sum_edges(direction)
        return self._sum_columns(direction) + weigh_lazy_loops(np.ones(self.n), sums)

    def compute_new_features(self, term: Term, new: NewRows) -> Matrix:
        """Features (new, r) of a term in low rank, of nodes that are not in the graph."""
        if term.block == "degree":
            return self._compute_gaussian(term, new.columns)
        if term.block == "community":
            ends = multiply_linked(new.walks["hop"], self._community_remainder)
            return self._compute_gaussian(term, scale_to_unit(ends))
        assert new.attributes is not None
        rows = new.attributes.compute_rows(term.block, is_linear=term.width is None)
        return rows if term.width is None else self._compute_gaussian(term, rows)

    def _compute_gaussian(self, term: Term, columns: Matrix) -> Matrix:
        gaussian = self._get_gaussian(term)
        return np.zeros((len(columns), 1)) if gaussian is None else gaussian.compute(columns)

    def compute_diagonal(self, kernel: Kernel) -> Matrix:
        """The kernel of each node with itself, (n,): 1 but for linear terms."""
        total = np.zeros(self.n)
        for term in kernel:
            if term.block in ATTRIBUTE_BLOCKS and term.width is None:
                Z = self.engine.fetch(self.get_features(term))
                total += term.share * np.einsum("ij,ij->i", Z, Z, dtype=np.float64)
            else:
                total += term.share
        return total

    # -- parts ---------------------------------------------------------------------

    def _get_chains(self, walk: str, lengths: Sequence[int]) -> Chains:
        if walk not in self._chains:
            self._chains[walk] = self._make_chains(walk)
        self._chains[walk].set_norms(lengths, self._probes)
        return self._chains[walk]

    def _make_chains(self, walk: str) -> Chains:
        T, engine, matrices = self._build_walk(walk), self.engine, self.walks.matrices
        is_undirected = matrices.direction == "both" and matrices.hidden is None
        if walk == "centred":
            return CentredChains(T, engine, self.dtype, matrices, is_symmetric=is_undirected)
        is_symmetric = is_undirected and walk in _WITH_LOOPS
        return make_chains(T, engine, self.dtype, is_symmetric=is_symmetric)

    def _build_walk(self, walk: str) -> csr_array:
        matrices = self.walks.matrices
        if matrices.folder is not None and walk in _WITH_LOOPS:
            name = "hop" if walk == "centred" else walk
            return build_disk_walk(matrices.folder, matrices.A, name, self.dtype)
        if walk in ("same_targets", "same_sources"):
            direction = "out" if walk == "same_targets" else "in"
            return build_meeting_walk(matrices.A, direction, matrices.hidden)
        return scale_walk(matrices, -1.0 if walk == "alternating" else 1.0, is_lazy=walk == "lazy")

    @cached_property
    def _probes(self) -> Any:
        vectors = self.engine.make_array((self.n, N_PROBES), np.float32)
        seed = self.walks.seed ^ _PROBE_SEED
        return draw_vectors(self.walks.identities, N_PROBES, seed, vectors)

    def get_features(self, term: Term) -> Any:
        """Features (n, r) of a term in low rank, on the engine."""
        key = term.block, term.width
        if key not in self._low_rank:
            self._low_rank[key] = self._make_features(term)
        return self._low_rank[key]

    def _make_features(self, term: Term) -> Any:
        engine = self.engine
        if term.block in ATTRIBUTE_BLOCKS and term.width is None:
            rows = self._get_attributes().get_linear_rows(term.block)
            return engine.load(rows, self.dtype)
        gaussian = self._get_gaussian(term)
        if gaussian is None:
            return engine.xp.zeros((self.n, 1), dtype=self.dtype)
        return gaussian.compute_on(engine, self._get_columns(term.block), self.dtype)

    def _get_columns(self, block: str) -> Matrix:
        """Numbers (n, f) that the Gaussian kernel of a block compares."""
        if block == "degree":
            return self._columns
        if block == "community":
            return self._communities
        return self._get_attributes().get_gaussian_rows(block)

    def _get_attributes(self) -> AttributeRows:
        if self.attributes is None:
            raise ValueError("blocks names attributes, but the model was given none")
        return self.attributes

    def _get_gaussian(self, term: Term) -> GaussianFeatures | None:
        key = term.block, term.width or WIDTHS[term.block]
        if key not in self._gaussians:
            landmarks = self._get_columns(term.block)[self.walks.order[:N_LANDMARKS]]
            self._gaussians[key] = make_gaussian_features(landmarks, key[1])
        return self._gaussians[key]

    @cached_property
    def _links(self) -> csr_array:
        return self.walks.matrices.get_edges(self.walks.matrices.direction)

    @cached_property
    def _structure(self) -> Structure:
        return measure_structure(self._links)

    @cached_property
    def _columns(self) -> Matrix:
        """Standardised numbers that describe each node by its degrees, (n, f)."""
        return (self._raw_columns - self._centre) * self._spread

    @cached_property
    def _raw_columns(self) -> Matrix:
        return np.column_stack([self._structure.describe(self._links), self._describe_directions()])

    def _describe_directions(self) -> Matrix:
        """log(1 + edges out) and log(1 + edges in), where there are both and they differ."""
        matrices = self.walks.matrices
        out, into = matrices.sum_edges("out"), matrices.sum_edges("in")
        if matrices.direction != "both" or np.array_equal(out, into):
            return np.empty((self.n, 0))
        return np.column_stack([np.log1p(out), np.log1p(into)])

    @cached_property
    def _communities(self) -> Matrix:
        """Where walks from each node end, (n, probes): nodes of a group are close together."""
        return scale_to_unit(self._get_chains("hop", ()).project_rows(_HALF, self._halfway))

    @cached_property
    def _halfway(self) -> Matrix:
        return self._get_chains("hop", ()).project_rows(_HALF, self._probes)

    @cached_property
    def _community_remainder(self) -> Matrix:
        """The same after the first step, which nodes that are not in the graph take, not scaled."""
        return self._get_chains("hop", ()).sketch_rows((_HALF,), self._halfway)[_HALF]

    @cached_property
    def _centre(self) -> Matrix:
        return np.asarray(self._raw_columns.mean(axis=0))

    @cached_property
    def _spread(self) -> Matrix:
        """1 / standard deviation; 0 of a column that does not vary."""
        return invert_root(self._raw_columns.var(axis=0))


def multiply_linked(T: csr_array, X: Matrix) -> Matrix:
    """T X of few rows, in double precision; nodes that no row leads to are not touched."""
    columns, places = np.unique(T.indices, return_inverse=True)
    few = csr_array((T.data, places, T.indptr), shape=(T.shape[0], columns.size))
    return np.asarray(few @ X[columns].astype(np.float64))


def _group_terms(kernel: Sequence[Term]) -> dict[str, dict[int, Term]]:
    groups: dict[str, dict[int, Term]] = {}
    for number, term in enumerate(kernel):
        walk, length = split_block(term.block)
        groups.setdefault(walk, {})[number if is_low_rank(walk) else length] = term
    return groups
