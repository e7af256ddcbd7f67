"""Parts of a graph to show: all nodes, a community, the surroundings of a node, an overview."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.studio.answers.graph_layout import (
    find_communities,
    find_layout,
    fit_square,
    list_edges,
)
from gradraker.studio.studio_options import StudioOptions

if TYPE_CHECKING:
    from gradraker.attributes import AttributeTable
    from gradraker.models import NodeModel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Limits of what a page can pan and zoom; larger graphs are shown in parts.
MAX_NODES = 10_000
MAX_EDGES = 100_000
_MAX_IN_PART = 2_000
_MAX_COMMUNITIES = 300
# Names of coordinates: to the right, and upwards.
_COORDINATE_NAMES = (
    ("x", "y"),
    ("east", "north"),
    ("east_m", "north_m"),
    ("easting", "northing"),
    ("longitude", "latitude"),
    ("lon", "lat"),
    ("long", "lat"),
    ("lng", "lat"),
)


@dataclass(frozen=True, eq=False)
class GraphPart:
    """Some nodes of a graph, or all of them, with positions.

    ``kind`` is "whole", "community", "around" or "overview"; in an overview each point is a
    community, and ``members`` are the communities of all nodes.
    """

    kind: str
    rows: Integers  # [m]: rows of the nodes; of an overview, the numbers of the communities
    positions: Floats  # [m, 2]
    edges: Integers  # [e, 2]: positions in ``rows``
    edge_weights: Floats  # [e]
    sizes: Integers | None = None  # [m]: nodes of each community
    members: Integers | None = None  # [n]
    n_left_out: int = 0
    has_coordinates: bool = False


class GraphParts:
    """The parts of the graph of one model."""

    def __init__(self, model: "NodeModel", names: list[str], options: StudioOptions) -> None:
        A = model.adjacency_
        self._used = csr_array(A + A.T) if model.is_directed_ else A
        self._adjacency = A
        self._names = names
        self._options = options
        self._coordinates, self.coordinate_names = find_coordinates(model.attributes_)
        if options.positions:
            unknown = (np.nan, np.nan)
            self._coordinates = np.array([options.positions.get(name, unknown) for name in names])
            self.coordinate_names = options.position_names
        self._edges = list_edges(A)

    @property
    def is_large(self) -> bool:
        """Whether a page shows an overview and parts instead of the whole graph."""
        return len(self._names) > MAX_NODES or len(self._edges) > MAX_EDGES

    def make_whole(self) -> GraphPart:
        """Return the whole graph, or an overview of a large one."""
        if self.is_large:
            return self._make_overview()
        rows = np.arange(len(self._names))
        return self._make_part("whole", rows)

    def make_community(self, number: int) -> GraphPart:
        """Return the nodes of a community; if it is large, those with most edges."""
        rows = np.flatnonzero(self.members == number)
        if not rows.size:
            raise ValueError(f"community must be from 0 to {self.members.max()}, got {number}")
        left_out = max(0, rows.size - _MAX_IN_PART)
        if left_out:
            degrees = np.diff(self._used.indptr)[rows]
            rows = np.sort(rows[np.argsort(-degrees, kind="stable")[:_MAX_IN_PART]])
        return self._make_part("community", rows, n_left_out=left_out)

    def make_surroundings(self, row: int) -> GraphPart:
        """Return a node and the nodes nearest to it, up to a limit."""
        reached = {row: None}
        ring = [row]
        A = self._used
        while ring and len(reached) < _MAX_IN_PART:
            others = [A.indices[A.indptr[i] : A.indptr[i + 1]] for i in ring]
            found = np.unique(np.concatenate(others)).tolist() if others else []
            ring = [other for other in found if other not in reached]
            ring = ring[: _MAX_IN_PART - len(reached)]
            reached.update(dict.fromkeys(ring))
        rows = np.sort(np.fromiter(reached, dtype=np.int64, count=len(reached)))
        return self._make_part("around", rows, n_left_out=len(self._names) - rows.size)

    @cached_property
    def members(self) -> Integers:
        """The community of each node."""
        return find_communities(len(self._names), self._edges)

    def _make_part(self, kind: str, rows: Integers, *, n_left_out: int = 0) -> GraphPart:
        A = self._adjacency if kind == "whole" else csr_array(self._adjacency[rows][:, rows])
        edges = self._edges if kind == "whole" else list_edges(A)
        coordinates = self._find_coordinates(rows)
        positions = (
            find_layout(A, cache=self._options.cache) if coordinates is None else coordinates
        )
        return GraphPart(
            kind,
            rows,
            positions,
            edges,
            _get_weights(A, edges),
            n_left_out=n_left_out,
            has_coordinates=coordinates is not None,
        )

    def _find_coordinates(self, rows: Integers) -> Floats | None:
        """Return positions by coordinates if most nodes have them; put others near neighbours."""
        if self._coordinates is None:
            return None
        found = self._coordinates[rows]
        is_placed = np.asarray(np.isfinite(found).all(axis=1))
        if is_placed.sum() < max(1, rows.size / 2):
            return None
        middle, placed = found[is_placed].mean(axis=0), rows[is_placed]
        near = csr_array(self._used[rows[~is_placed]][:, placed] != 0.0, dtype=np.float64)
        n_near = near.sum(axis=1)[:, np.newaxis]
        means = near @ found[is_placed] / np.maximum(n_near, 1.0)
        found[~is_placed] = np.where(n_near > 0.0, means, middle)
        found[:, 1] *= -1.0  # y points down in pictures
        return fit_square(found)

    def _make_overview(self) -> GraphPart:
        members = self.members
        sizes = np.bincount(members)
        shown = min(sizes.size, _MAX_COMMUNITIES)
        ends = members[self._edges]  # [e, 2]
        ends = np.sort(ends[(ends[:, 0] != ends[:, 1]) & (ends < shown).all(axis=1)], axis=1)
        numbers, counts = np.unique(ends[:, 0] * shown + ends[:, 1], return_counts=True)
        edges = np.stack([numbers // shown, numbers % shown], axis=1)
        ones = np.ones(len(edges))
        matrix = csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(shown, shown))
        return GraphPart(
            "overview",
            np.arange(shown),
            find_layout(matrix, cache=self._options.cache),
            edges,
            counts.astype(np.float64),
            sizes=sizes[:shown],
            members=members,
            n_left_out=int(sizes[shown:].sum()),
        )


def _get_weights(adjacency: csr_array, edges: Integers) -> Floats:
    """Return the weight of each edge, in the direction in which it is not 0."""
    if not len(edges):
        return np.empty(0)
    A = csr_array(adjacency)
    forward = np.asarray(A[edges[:, 0], edges[:, 1]]).ravel()
    backward = np.asarray(A[edges[:, 1], edges[:, 0]]).ravel()
    return np.where(forward != 0.0, forward, backward)


def find_coordinates(attributes: "AttributeTable | None") -> tuple[Floats | None, tuple[str, str]]:
    """Return coordinates of nodes (n, 2) from attributes with known names, and these names.

    Examples
    --------
    >>> import polars as pl
    >>> from gradraker import NodeRegressor
    >>> from gradraker.studio import find_coordinates
    >>> table = pl.DataFrame({"node": ["a", "b"], "Lat": [47.0, None], "Lon": [8.5, 9.0]})
    >>> model = NodeRegressor().fit([("a", "b")], {"a": 1.0}, attributes=table)
    >>> positions, names = find_coordinates(model.attributes_)
    >>> positions.tolist(), names
    ([[8.5, 47.0], [9.0, nan]], ('Lon', 'Lat'))
    """
    columns = () if attributes is None else attributes.columns or ()
    numbers = {column.name.lower(): column.name for column in columns if column.kind == "number"}
    for right, up in _COORDINATE_NAMES:
        if attributes is not None and right in numbers and up in numbers:
            names = numbers[right], numbers[up]
            at = [attributes.names.index(name) for name in names]
            found = attributes.matrix[:, at]
            return np.asarray(found.toarray() if attributes.is_sparse else found, float), names
    return None, ("x", "y")
