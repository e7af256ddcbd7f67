"""Schemas of requests and answers, by which FastAPI checks requests and describes the API."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    TypeAdapter,
    WithJsonSchema,
)

from gradraker.live.journal.changes import Change
from gradraker.live.settings import MAX_ITEMS, MAX_NAME_LENGTH, MAX_NUMBER

_PRINTABLE = r"^[^\x00-\x1f\x7f]+$"
Name = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=MAX_NAME_LENGTH, pattern=_PRINTABLE),
]
Number = Annotated[float, Field(strict=True, ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
Weight = Annotated[
    Number, Field(default=1.0, description="Edge weight, not 0; without it 1.", examples=[1.0])
]


def _check_value(value: Any) -> Any:
    """Return a finite number or a short text; errors of a union type would list all its parts."""
    if isinstance(value, str) and 0 < len(value) <= MAX_NAME_LENGTH and re.match(_PRINTABLE, value):
        value.encode()  # UnicodeEncodeError, a ValueError, for half a surrogate pair
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) <= MAX_NUMBER:  # False for NaN
            # Integers that a float cannot represent exactly are numbers, not labels.
            return value if isinstance(value, float) or abs(value) <= 2**53 else float(value)
        raise ValueError(f"must be a finite number of at most {MAX_NUMBER:g}")
    raise ValueError(f"must be a finite number, or a label of 1 to {MAX_NAME_LENGTH} characters")


def _check_attribute(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else _check_value(value)


# A number or a label, depending on the model.
Value = Annotated[
    Any, PlainValidator(_check_value), WithJsonSchema(TypeAdapter(Number | Name).json_schema())
]
Attribute = Annotated[
    Any,
    PlainValidator(_check_attribute),
    WithJsonSchema(TypeAdapter(Number | Name | bool | None).json_schema()),
]
Attributes = Annotated[dict[Name, Attribute], Field(max_length=1000)]
Coverage = Annotated[
    float | None,
    Field(ge=1e-6, le=1.0 - 1e-6, description="Share of true values that intervals should hold."),
]
# The kind of change of each field of a request.
_KINDS = {"edges": "edge", "values": "value", "attributes": "attributes", "nodes": "node"}
_SOME: Any = {"min_length": 1, "max_length": MAX_ITEMS}


class Body(BaseModel):
    """A request; a field that does not exist is refused."""

    model_config = ConfigDict(extra="forbid")


class EdgeEnds(Body):
    """An edge, without its weight."""

    source: Name
    target: Name


class Edge(EdgeEnds):
    """An edge from one node to another; nodes that do not exist are created."""

    weight: Weight = 1.0


class PutEdges(Body):
    """Edges to add; the weight of an edge that exists is replaced."""

    edges: Annotated[list[Edge], Field(**_SOME)]


class PutValues(Body):
    """Values by node; a second value replaces the first."""

    values: Annotated[dict[Name, Value], Field(**_SOME)]


class PutAttributes(Body):
    """Attributes by node; they replace all attributes of the node."""

    attributes: Annotated[dict[Name, Attributes], Field(**_SOME)]


class Remove(Body):
    """Edges, values or attributes of nodes, or whole nodes to remove."""

    edges: Annotated[list[EdgeEnds], Field(max_length=MAX_ITEMS)] = []
    values: Annotated[list[Name], Field(max_length=MAX_ITEMS)] = []
    attributes: Annotated[list[Name], Field(max_length=MAX_ITEMS)] = []
    nodes: Annotated[list[Name], Field(max_length=MAX_ITEMS)] = []


class OneEdge(Edge):
    """Put an edge."""

    op: Literal["put_edge"]


class OneValue(Body):
    """Put a value."""

    op: Literal["put_value"]
    node: Name
    value: Value


class OneNodesAttributes(Body):
    """Put attributes."""

    op: Literal["put_attributes"]
    node: Name
    attributes: Attributes


class OneEdgeLess(EdgeEnds):
    """Remove an edge."""

    op: Literal["remove_edge"]


class OneNodeLess(Body):
    """Remove a value, attributes or a node."""

    op: Literal["remove_value", "remove_attributes", "remove_node"]
    node: Name


OneChange = Annotated[
    OneEdge | OneValue | OneNodesAttributes | OneEdgeLess | OneNodeLess, Field(discriminator="op")
]


class Changes(Body):
    """Changes of any kind, in their order; all are accepted or none."""

    changes: Annotated[list[OneChange], Field(**_SOME)]


def to_change(item: Any, op: Any = None) -> Change:
    """Return the change that an item of a request describes; without ``op``, the item has one."""
    if isinstance(item, str):
        return Change(op, item)
    given = vars(item)
    node = given.get("source", given.get("node"))
    value = given.get("weight", given.get("value", given.get("attributes")))
    return Change(given.get("op", op), node, given.get("target"), value)


def list_changes(body: Body) -> list[tuple[str, Change]]:
    """Return the changes that a request describes, each with the field that it comes from."""
    verb = "remove" if isinstance(body, Remove) else "put"
    found: list[tuple[str, Change]] = []
    for field, given in body:
        op: Any = f"{verb}_{_KINDS.get(field)}"
        if isinstance(given, dict):
            found += [(f"{field}.{n}", Change(op, n, value=value)) for n, value in given.items()]
        else:
            found += [(f"{field}.{i}", to_change(item, op)) for i, item in enumerate(given)]
    return found


class PredictNodes(Body):
    """Nodes of the graph; default all unknown nodes."""

    nodes: Annotated[list[Name] | None, Field(max_length=MAX_ITEMS)] = None
    coverage: Coverage = None
    probabilities: bool = False


class PredictNew(Body):
    """New nodes by their links: neighbours, or neighbours and edge weights."""

    links: Annotated[
        dict[
            Name,
            Annotated[list[Name], Field(max_length=MAX_ITEMS)]
            | Annotated[dict[Name, Number], Field(max_length=MAX_ITEMS)],
        ],
        Field(min_length=1, max_length=1000),
    ]
    attributes: Annotated[dict[Name, Attributes], Field(max_length=1000)] = {}
    coverage: Coverage = None
    probabilities: bool = False


class ExplainNodes(Body):
    """Nodes of the graph, and how many known nodes to list for each."""

    nodes: Annotated[list[Name], Field(min_length=1, max_length=100)]
    top: Annotated[int, Field(ge=1, le=1000)] = 5


# -- answers ---------------------------------------------------------------------


class Kept(BaseModel):
    """The changes are on disk. They are learned when ``state`` has reached ``last_seq``."""

    first_seq: int
    last_seq: int
    repeated: bool = Field(description="Whether a request with the same key was accepted before.")
    state: int | None = Field(description="The last finished state.")


class Prediction(BaseModel):
    """The prediction of one node."""

    node: str
    prediction: float | int | str | None
    known: bool | None = None
    value: float | int | str | None = None
    lower: float | None = None
    upper: float | None = None
    probabilities: dict[str, float] | None = None


class Predictions(BaseModel):
    """Predictions of one state."""

    state: int
    predictions: list[Prediction]


class FieldProblem(BaseModel):
    """A field of the request, and its problem."""

    field: str
    problem: str


class Problem(BaseModel):
    """Why a request was refused."""

    error: str
    fields: list[FieldProblem] = []
