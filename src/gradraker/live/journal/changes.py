"""Changes of a graph and its values, and the effect of several of them taken together."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, get_args

Op = Literal[
    "put_edge",
    "put_value",
    "put_attributes",
    "remove_edge",
    "remove_value",
    "remove_attributes",
    "remove_node",
]
OPS: tuple[Op, ...] = get_args(Op)
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
        """Return the change as it is written in NDJSON."""
        if self.op in ("put_edge", "remove_edge"):
            found: dict[str, Any] = {"op": self.op, "source": self.node, "target": self.target}
            return found | ({"weight": self.value} if self.op == "put_edge" else {})
        found = {"op": self.op, "node": self.node}
        if self.op == "put_value":
            found["value"] = self.value
        if self.op == "put_attributes":
            found["attributes"] = self.value
        return found


@dataclass(frozen=True, slots=True)
class Numbered:
    """A change in the journal: its number, and when it was written (seconds since 1970)."""

    seq: int
    change: Change
    time: float


def compute_digest(changes: Iterable[Change]) -> str:
    """Return a digest that equal lists of changes share."""
    plain = [[one.op, one.node, one.target, one.value] for one in changes]
    return sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


@dataclass
class Effect:
    """The net effect of changes: first things are forgotten, then things are put."""

    forgotten_nodes: dict[str, None] = field(default_factory=dict)
    forgotten_edges: dict[Edge, None] = field(default_factory=dict)
    forgotten_values: dict[str, None] = field(default_factory=dict)
    forgotten_attributes: dict[str, None] = field(default_factory=dict)
    nodes: dict[str, None] = field(default_factory=dict)  # those that edges name
    edges: dict[Edge, float] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def forgets(self) -> bool:
        """Whether a model has to forget nodes, edges or values."""
        return bool(self.forgotten_nodes or self.forgotten_edges or self.forgotten_values)


def compute_effect(changes: Iterable[Change]) -> Effect:
    """Return the net effect of changes, which came in this order.

    Examples
    --------
    >>> from gradraker.live.journal.changes import Change, compute_effect
    >>> changes = [Change("put_value", "a", value=1), Change("put_value", "a", value=2)]
    >>> compute_effect(changes).values
    {'a': 2}
    """
    effect = Effect()
    for change in changes:
        _APPLY[change.op](effect, change)
    return effect


def _put_edge(effect: Effect, change: Change) -> None:
    assert change.target is not None
    edge = change.node, change.target
    effect.forgotten_edges.pop(edge, None)  # the new weight replaces the old one
    effect.edges[edge] = change.value
    effect.nodes |= dict.fromkeys(edge)


def _remove_edge(effect: Effect, change: Change) -> None:
    assert change.target is not None
    edge = change.node, change.target
    effect.edges.pop(edge, None)
    effect.forgotten_edges[edge] = None


def _put_value(effect: Effect, change: Change) -> None:
    effect.forgotten_values.pop(change.node, None)
    effect.values[change.node] = change.value


def _remove_value(effect: Effect, change: Change) -> None:
    effect.values.pop(change.node, None)
    effect.forgotten_values[change.node] = None


def _put_attributes(effect: Effect, change: Change) -> None:
    effect.forgotten_attributes.pop(change.node, None)
    effect.attributes[change.node] = change.value


def _remove_attributes(effect: Effect, change: Change) -> None:
    effect.attributes.pop(change.node, None)
    effect.forgotten_attributes[change.node] = None


def _remove_node(effect: Effect, change: Change) -> None:
    node = change.node
    for edges in (effect.edges, effect.forgotten_edges):
        for edge in [edge for edge in edges if node in edge]:
            del edges[edge]
    for kept in (effect.nodes, effect.values, effect.forgotten_values, effect.attributes):
        kept.pop(node, None)
    effect.forgotten_nodes[node] = None


_APPLY = {
    "put_edge": _put_edge,
    "put_value": _put_value,
    "put_attributes": _put_attributes,
    "remove_edge": _remove_edge,
    "remove_value": _remove_value,
    "remove_attributes": _remove_attributes,
    "remove_node": _remove_node,
}
