"""Attributes of nodes in summaries: what was understood, and which of them count."""

from typing import Any

from gradraker.models.node_model import NodeModel
from gradraker.report.names import to_json_name

_WHOSE = {
    "attributes": "of the node",
    "neighbour_attributes": "of neighbours",
    "neighbour_attributes1": "of neighbours",
    "neighbour_attributes2": "of neighbours of neighbours",
}


def describe_attributes(
    facts: dict[str, Any], model: NodeModel, *, target: object = None
) -> dict[str, Any] | None:
    """Return what a model says about attributes, with names of classes and targets.

    Parameters
    ----------
    facts : dict
        What ``model.describe()`` returned.
    model : model of graphs
        Fitted.
    target : name, optional
        A class, or one of several targets, that coefficients are listed for; default all.

    Returns
    -------
    dict or None
        None for a model without attributes. ``coefficients`` says what a prediction (of a class:
        its score) gains when an attribute is larger by one standard deviation.
    """
    told: dict[str, Any] | None = facts.get("attributes")
    if told is None:
        return None
    named = [_name_coefficient(one, model) for one in told["coefficients"]]
    wanted = None if target is None else to_json_name(target)
    return told | {"coefficients": [one for one in named if wanted in (None, one.get("target"))]}


def list_coefficients(model: NodeModel, target: object, k: int) -> list[dict[str, Any]]:
    """List the attributes that count most for a class or a target (None if there is one only)."""
    told = describe_attributes(model.describe(), model, target=target)
    if told is None:
        return []
    listed = told["coefficients"][:k]
    return [{key: one[key] for key in ("attribute", "whose", "coefficient")} for one in listed]


def _name_coefficient(one: dict[str, Any], model: NodeModel) -> dict[str, Any]:
    is_classes = model.value_kind.task == "classes"
    names = model.classes_.tolist() if is_classes else model.target_names_
    named = {"target": to_json_name(names[one["target"]])} if names else {}
    return {
        "attribute": one["attribute"],
        "whose": _WHOSE.get(one["block"], one["block"]),
        "coefficient": one["coefficient"],
    } | named
