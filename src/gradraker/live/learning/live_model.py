"""A model of graphs that learns the effect of changes, through the common protocol only."""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone

from gradraker.graph.labels import LABELS
from gradraker.graph.values import NUMBERS
from gradraker.live.journal.changes import Effect
from gradraker.models import NodeClassifier, NodeModel, NodeRegressor, load


@dataclass(eq=False)
class LiveModel:
    """A model of graphs whose nodes are named by text."""

    model: NodeModel  # fitted, unless ``is_empty``
    _: KW_ONLY
    is_directed: bool  # whether an edge leads one way only
    has_integer_names: bool = False  # whether the model's own names are integers
    is_empty: bool = False  # whether the model has not learned a graph yet

    def __post_init__(self) -> None:
        self._find_nodes()

    @property
    def attributes_are_learned(self) -> bool:
        """Whether the model started with attributes, so that it has learned their meaning."""
        return not self.is_empty and self.model.attributes_ is not None

    @property
    def has_labels(self) -> bool:
        """Whether values are labels."""
        return self.model.value_kind is LABELS

    @property
    def n_known(self) -> int:
        """Number of known values."""
        return 0 if self.is_empty else len(self.model.known_nodes_)

    def to_names(self, texts: Iterable[str]) -> list[Any]:
        """Return the model's own names of nodes."""
        return [int(text) for text in texts] if self.has_integer_names else list(texts)

    def _find_nodes(self) -> None:
        names: list[Any] = [] if self.is_empty else self.model.nodes_.tolist()
        self.names = [str(name) for name in names]
        self.positions = {name: i for i, name in enumerate(self.names)}

    # -- learning ----------------------------------------------------------------

    def forget(self, effect: Effect) -> None:
        """Forget nodes, edges and values; those that the model does not have are skipped."""
        if self.is_empty or not effect.forgets:
            return
        at, matrix = self.positions, self.model.adjacency_.tocsr()
        is_known = self.model.value_kind.is_known(self.model.values_)
        nodes = [name for name in effect.forgotten_nodes if name in at]
        values = [name for name in effect.forgotten_values if name in at and is_known[at[name]]]
        edges = [edge for edge in effect.forgotten_edges if set(edge) <= at.keys()]
        if not self.is_directed:
            edges = list(dict.fromkeys(edges + [(b, a) for a, b in edges]))
        edges = [(a, b) for a, b in edges if matrix[at[a], at[b]] != 0.0]
        if not nodes and not edges and not values:
            return
        keep = ~np.isin(np.arange(len(self.names)), [at[name] for name in nodes])
        left = keep & is_known
        left[[at[name] for name in values]] = False
        if not keep.any():
            self._start_again()
        elif left.any():
            pairs = [tuple(self.to_names(edge)) for edge in edges]
            parts = {"values": self.to_names(values), "nodes": self.to_names(nodes), "edges": pairs}
            self.model.forget(**{name: part for name, part in parts.items() if part})
        else:
            self._fit_without(keep, left, edges)
        self._find_nodes()

    def _start_again(self) -> None:
        self.model = clone(self.model).set_params(random_state=self.model.seed_)
        self.is_empty = True

    def _fit_without(
        self, keep: NDArray[np.bool_], left: NDArray[np.bool_], edges: Sequence[tuple[str, str]]
    ) -> None:
        """Fit again on the nodes of ``keep`` and the values of ``left``, without some edges."""
        matrix = self.model.adjacency_.tolil(copy=True)
        for source, target in edges:
            matrix[self.positions[source], self.positions[target]] = 0.0
        graph = csr_array(matrix.tocsr()[keep][:, keep])
        graph.eliminate_zeros()
        names = self.model.nodes_[keep]
        values = dict(
            zip(self.model.nodes_[left].tolist(), self.model.values_[left].tolist(), strict=True)
        )
        self._start_again()
        # If no value is left, only the graph is learned.
        self.model.partial_fit(graph, values or None, names=names)
        self.is_empty = False

    def learn_graph(self, effect: Effect) -> None:
        """Learn nodes and edges."""
        if not effect.nodes:
            return
        names = list(effect.nodes)
        row = {name: i for i, name in enumerate(names)}
        edges = effect.edges
        if not self.is_directed:
            edges = edges | {(b, a): weight for (a, b), weight in edges.items()}
        ends = np.array([(row[a], row[b]) for a, b in edges], dtype=np.int64).reshape(-1, 2)
        weights = np.fromiter(edges.values(), dtype=np.float64, count=len(edges))
        n = len(names)
        graph = csr_array((weights, (ends[:, 0], ends[:, 1])), shape=(n, n))
        self.model.partial_fit(graph, names=self.to_names(names))
        self.is_empty = False
        if not effect.nodes.keys() <= self.positions.keys():
            self._find_nodes()

    def learn_values(self, effect: Effect) -> None:
        """Learn values, and attributes if the model takes them."""
        options: dict[str, Any] = {}
        put: dict[str, Any] = {node: {} for node in effect.forgotten_attributes}
        put |= effect.attributes
        attributes = {node: own for node, own in put.items() if node in self.positions}
        if self.attributes_are_learned and attributes:
            names = self.to_names(attributes)
            options["attributes"] = dict(zip(names, attributes.values(), strict=True))
        values = dict(zip(self.to_names(effect.values), effect.values.values(), strict=True))
        if values or options:
            self.model.partial_fit(values=values or None, **options)

    # -- files -------------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """Return the model file, empty if nothing was learned."""
        if self.is_empty:
            return b""
        with tempfile.TemporaryDirectory(prefix="gradraker-") as folder:
            return self.model.save(Path(folder) / "model.gr").read_bytes()


def read_live_model(content: bytes, facts: dict[str, str]) -> LiveModel:
    """Return the model of a snapshot; ``facts`` are those of the journal."""
    options = {
        "is_directed": facts["edges"] == "directed",
        "has_integer_names": facts["names"] == "integers",
    }
    if not content:
        model = NodeClassifier() if facts["values"] == "labels" else NodeRegressor()
        return LiveModel(model, is_empty=True, **options)
    with tempfile.TemporaryDirectory(prefix="gradraker-") as folder:
        path = Path(folder) / "model.gr"
        path.write_bytes(content)
        return LiveModel(load(path), **options)


def describe_base(model: NodeModel | None, *, has_labels: bool = False) -> dict[str, str]:
    """Return the facts of a journal that starts with a model, or empty.

    The names of the model must be texts or integers.
    """
    if model is None:
        kind = "labels" if has_labels else "numbers"
        return {"values": kind, "edges": "directed", "names": "text"}
    names = set(map(type, model.nodes_.tolist()))
    if not names <= {str} and not names <= {int}:
        raise TypeError(
            "model has nodes whose names are neither all texts nor all integers; a live service "
            "names nodes by text"
        )
    return {
        "values": "numbers" if model.value_kind is NUMBERS else "labels",
        "edges": "directed" if model.is_directed_ else "undirected",
        "names": "integers" if names == {int} else "text",
    }


def dump_base(model: NodeModel | None) -> tuple[bytes, list[str]]:
    """Return the file and the node names of the model that a journal starts with."""
    if model is None:
        return b"", []
    live = LiveModel(model, is_directed=True)
    return live.to_bytes(), live.names
