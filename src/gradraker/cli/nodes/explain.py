"""``gradraker explain``: the reasons for the prediction of a node."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker.cli import options as shared
from gradraker.cli.output import (
    StatusLine,
    make_facts_table,
    make_printable,
    make_rows_table,
    shorten,
    show_facts,
)
from gradraker.exceptions import UnknownNodesError

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.models import NodeModel


@click.command(
    short_help="Show which known values a prediction comes from.",
    epilog="Example: gradraker explain --model model.gr --node Pilatus",
)
@shared.add_file("--model", "Model that predict or update wrote.", required=True)
@click.option("--node", required=True, metavar="NAME", help="The node to explain.")
@click.option(
    "--target",
    "--value",
    "target",
    metavar="NAME",
    help="The column of values, if there are several.",
)
@shared.add_top(10)
@shared.json_option
def explain(model: str, node: str, target: str | None, top: int, as_json: bool) -> None:
    """Show which known values the prediction of a node comes from.

    A predicted number is exactly the mean plus the sum of weight × (value − mean) over all
    known nodes; if the model predicts in another scale, such as logarithms, that holds for values
    in this scale, and the table says so. The score of a class is the sum of the weights of the
    known nodes of that class. For a model with attributes, those that count most in its linear
    terms are listed as well.
    """
    if model == "-":
        raise click.UsageError("--model cannot be '-': give the name of a file")
    with StatusLine() as status:
        status.show_stage("reading the model")
        from gradraker.models.loading import load_node_model

        saved = load_node_model(model)
        chosen = _choose_target(saved, target)
        status.show_stage("explaining")
        try:
            explanation = saved.explain([node], **chosen)
        except UnknownNodesError as error:
            raise ValueError(
                f"--node: {node!r} is not in the graph that the model has learned"
            ) from error
        facts = gradraker.report.summarize_explanation(saved, explanation, k=top, **chosen)
    show_facts(facts, _list_tables, as_json=as_json)


def _list_tables(facts: dict[str, Any]) -> "Iterator[Table]":
    listed = _list_class_facts(facts) if "classes" in facts else _list_value_facts(facts)
    yield make_facts_table(f"Node {make_printable(facts['node'])}", listed)
    if facts["parts"]:
        rows = [[name, part] for name, part in facts["parts"].items()]
        yield make_rows_table("Kinds of similarity", ["Similarity", "Adds"], rows)
    if facts["attributes"]:
        rows = [[a["attribute"], a["whose"], a["coefficient"]] for a in facts["attributes"]]
        title = "Attributes: gain of the prediction per standard deviation"
        yield make_rows_table(title, ["Attribute", "Whose", "Adds"], rows)
    headings = {"node": "Known node", "weight": "Weight", "value": "Value"}
    if "classes" in facts:
        headings["value"] = "Class"
    headings |= {"scaled_value": "In the scale"}
    headings |= {"contribution": "Contribution", "squared_distance": "Squared distance"}
    shown = [key for key in headings if key in facts["contributors"][0]]
    rows = [[entry[key] for key in shown] for entry in facts["contributors"]]
    yield make_rows_table("Nodes that count most", [headings[key] for key in shown], rows)


def _choose_target(model: "NodeModel", target: str | None) -> dict[str, Any]:
    """Return the argument that names one of several targets."""
    names = {str(name): name for name in model.target_names_}
    if not names and target is None:
        return {}
    if not names:
        raise click.UsageError("--value is for models of several columns of values: leave it out")
    if target not in names:
        given = ", ".join(make_printable(name) for name in names)
        raise click.UsageError(f"--value must name one of the model's targets: {given}")
    return {"target": names[target]}


def _list_value_facts(facts: dict[str, Any]) -> list[tuple[str, str]]:
    scale = []
    if "scale" in facts:
        scale.append(("Weights add up in", f"{facts['scale']}, to {shorten(facts['sum'])}"))
    return [
        ("Prediction", shorten(facts["prediction"])),
        *scale,
        ("Mean", f"{shorten(facts['mean'])} of the known values"),
        ("Sum of weights", f"{shorten(facts['sum_of_weights'])} over {facts['observed']} nodes"),
        ("Listed", f"{shorten(facts['listed_part'])} of the difference from the mean"),
    ]


def _list_class_facts(facts: dict[str, Any]) -> list[tuple[str, str]]:
    others = [
        f"{make_printable(entry['class'])} ({shorten(entry['probability'])})"
        for entry in facts["classes"][1:4]
    ]
    predicted = f"{make_printable(facts['prediction'])} ({shorten(facts['probability'])})"
    listed = [("Class (probability)", predicted)]
    if others:
        listed.append(("Runners-up", ", ".join(others)))
    return [
        *listed,
        ("Sum of weights", f"{shorten(facts['sum_of_weights'])} over {facts['observed']} nodes"),
        ("Listed", f"{shorten(facts['listed_part'])} of the weights"),
    ]
