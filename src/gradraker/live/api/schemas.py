"""The form of requests and answers; FastAPI checks requests and describes both by it."""

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
from gradraker.live.settings import LARGEST_NUMBER, LONGEST_NAME, MOST_IN_BATCH

_PRINTABLE = r"^[^\x00-\x1f\x7f]+$"
Name = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=LONGEST_NAME, pattern=_PRINTABLE),
]
Number = Annotated[
    float, Field(strict=True, ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False)
]
Weight = Annotated[
    Number, Field(default=1.0, description="Edge weight, not 0; without it 1.", examples=[1.0])
]


def _check_value(value: Any) -> Any:
    """Return a finite number or a short text; a union would name each of its parts."""
    if isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and re.match(_PRINTABLE, value):
        value.encode()  # UnicodeEncodeError, which is a ValueError, for half a character
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) <= LARGEST_NUMBER:  # False for NaN
            # Integers that a float cannot hold exactly are numbers, not labels.
            return value if isinstance(value, float) or abs(value) <= 2**53 else float(value)
        raise ValueError(f"must be a finite number of at most {LARGEST_NUMBER:g}")
    raise ValueError(f"must be a finite number, or a label of 1 to {LONGEST_NAME} characters")


def _check_attribute(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else _check_value(value)


# A number, or a label: which one, the model says.
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
# What the fields of a request change, as the names of changes say it.
_KINDS = {"edges": "edge", "values": "value", "attributes": "attributes", "nodes": "node"}
_MANY: Any = {"min_length": 1, "max_length": MOST_IN_BATCH}


class Body(BaseModel):
    """A request; a field that does not exist is refused."""

    model_config = ConfigDict(extra="forbid")


class EdgeEnds(Body):
    """An edge, without its weight."""

    source: Name
    target: Name


class Edge(EdgeEnds):
    """An edge from one node to another; nodes that do not exist are made."""

    weight: Weight = 1.0


class PutEdges(Body):
    """Edges to add; the weight of an edge that exists is replaced."""

    edges: Annotated[list[Edge], Field(**_MANY)]


class PutValues(Body):
    """Values by node; a second value replaces the first."""

    values: Annotated[dict[Name, Value], Field(**_MANY)]


class PutAttributes(Body):
    """Attributes by node; they replace all attributes that the node had."""

    attributes: Annotated[dict[Name, Attributes], Field(**_MANY)]


class Remove(Body):
    """What to remove: edges, the values or attributes of nodes, or whole nodes."""

    edges: Annotated[list[EdgeEnds], Field(max_length=MOST_IN_BATCH)] = []
    values: Annotated[list[Name], Field(max_length=MOST_IN_BATCH)] = []
    attributes: Annotated[list[Name], Field(max_length=MOST_IN_BATCH)] = []
    nodes: Annotated[list[Name], Field(max_length=MOST_IN_BATCH)] = []


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
    """Changes of any kind, in their order; all are kept or none."""

    changes: Annotated[list[OneChange], Field(**_MANY)]


def to_change(one: Any, op: Any = None) -> Change:
    """Return the change that an item of a request describes; without ``op``, it says which."""
    if isinstance(one, str):
        return Change(op, one)
    given = vars(one)
    node = given.get("source", given.get("node"))
    value = given.get("weight", given.get("value", given.get("attributes")))
    return Change(given.get("op", op), node, given.get("target"), value)


def list_changes(body: Body) -> list[tuple[str, Change]]:
    """Return the changes that a request asks for, each with the field that it comes from."""
    verb = "remove" if isinstance(body, Remove) else "put"
    found: list[tuple[str, Change]] = []
    for field, given in body:
        op: Any = f"{verb}_{_KINDS.get(field)}"
        if isinstance(given, dict):
            found += [(f"{field}.{n}", Change(op, n, value=one)) for n, one in given.items()]
        else:
            found += [(f"{field}.{i}", to_change(one, op)) for i, one in enumerate(given)]
    return found


class PredictNodes(Body):
    """Nodes of the graph; without them all whose values are unknown."""

    nodes: Annotated[list[Name] | None, Field(max_length=MOST_IN_BATCH)] = None
    coverage: Coverage = None
    probabilities: bool = False


class PredictNew(Body):
    """New nodes by their links: neighbours, or neighbours and edge weights."""

    links: Annotated[
        dict[
            Name,
            Annotated[list[Name], Field(max_length=MOST_IN_BATCH)]
            | Annotated[dict[Name, Number], Field(max_length=MOST_IN_BATCH)],
        ],
        Field(min_length=1, max_length=1000),
    ]
    attributes: Annotated[dict[Name, Attributes], Field(max_length=1000)] = {}
    coverage: Coverage = None
    probabilities: bool = False


class ExplainNodes(Body):
    """Nodes of the graph, and how many known nodes to name for each."""

    nodes: Annotated[list[Name], Field(min_length=1, max_length=100)]
    top: Annotated[int, Field(ge=1, le=1000)] = 5


# -- answers ---------------------------------------------------------------------


class Kept(BaseModel):
    """The changes are on disk. They are learned when ``state`` has reached ``last_seq``."""

    first_seq: int
    last_seq: int
    repeated: bool = Field(description="Whether a request with the same key was kept before.")
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
    """A field of the request, and what is wrong with it."""

    field: str
    problem: str


class Problem(BaseModel):
    """Why a request was refused."""

    error: str
    fields: list[FieldProblem] = []
