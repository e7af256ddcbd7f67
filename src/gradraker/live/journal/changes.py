"""Changes of a graph and its values, and their combined effect."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Op = Literal[
    "put_edge",
    "put_value",
    "put_attributes",
    "remove_edge",
    "remove_value",
    "remove_attributes",
    "remove_node",
]
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One change; nodes are named by text.

    ``node`` is the source of an edge; ``value`` is an edge weight, a value, a label or a dict of
    attributes.
    """

    op: Op
    node: str
    target: str | None = None
    value: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return the change as in NDJSON."""
        ends = {"node": self.node}
        if self.target is not None:
            ends = {"source": self.node, "target": self.target}
        fields = {"put_edge": "weight", "put_value": "value", "put_attributes": "attributes"}
        return {"op": self.op} | ends | ({fields[self.op]: self.value} if self.op in fields else {})


@dataclass(frozen=True, slots=True)
class Numbered:
    """A change in the journal: its number, and when it was written (seconds since 1970)."""

    seq: int
    change: Change
    time: float


@dataclass
class Effect:
    """The net effect of changes: removals come first, then additions."""

    forgotten_nodes: dict[str, None] = field(default_factory=dict)
    forgotten_edges: dict[Edge, None] = field(default_factory=dict)
    forgotten_values: dict[str, None] = field(default_factory=dict)
    forgotten_attributes: dict[str, None] = field(default_factory=dict)
    nodes: dict[str, None] = field(default_factory=dict)  # ends of the edges
    edges: dict[Edge, float] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def forgets(self) -> bool:
        """Whether a model has to forget nodes, edges or values."""
        return bool(self.forgotten_nodes or self.forgotten_edges or self.forgotten_values)


def compute_effect(changes: Iterable[Change]) -> Effect:
    """Return the net effect of changes in their order."""
    effect = Effect()
    parts: dict[str, tuple[dict[Any, Any], dict[Any, None]]] = {
        "edge": (effect.edges, effect.forgotten_edges),
        "value": (effect.values, effect.forgotten_values),
        "attributes": (effect.attributes, effect.forgotten_attributes),
    }
    for change in changes:
        verb, _, kind = change.op.partition("_")
        if kind == "node":
            _remove_node(effect, change.node)
            continue
        key = change.node if change.target is None else (change.node, change.target)
        kept, forgotten = parts[kind]
        if verb == "put":
            forgotten.pop(key, None)  # the new one replaces the old one
            kept[key] = change.value
        else:
            kept.pop(key, None)
            forgotten[key] = None
        if change.op == "put_edge":
            effect.nodes |= dict.fromkeys(key)
    return effect


def _remove_node(effect: Effect, node: str) -> None:
    for edges in (effect.edges, effect.forgotten_edges):
        for edge in [edge for edge in edges if node in edge]:
            del edges[edge]
    for kept in (effect.nodes, effect.values, effect.forgotten_values, effect.attributes):
        kept.pop(node, None)
    effect.forgotten_nodes[node] = None
