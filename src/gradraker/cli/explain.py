"""``gradraker explain``: why a model predicts what it predicts for a node."""

import click

from gradraker.cli.inputs import load_node_model
from gradraker.cli.options import FileName, add_top_option
from gradraker.cli.output import echo_json, make_console, make_printable
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten


@click.command(
    short_help="Say which known values a prediction comes from.",
    epilog="Example: gradraker explain --model model.gr --node Pilatus",
)
@click.option(
    "--model",
    type=FileName(),
    required=True,
    metavar="FILE",
    help="Model that predict or update wrote.",
)
@click.option("--node", required=True, metavar="NAME", help="The node to explain.")
@add_top_option(10)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def explain(model: str, node: str, top: int, as_json: bool) -> None:
    """Say which known values the prediction of a node comes from.

    The prediction is exactly the mean plus the sum of weight × (value − mean) over all
    nodes that the model has learned.
    """
    if model == "-":
        raise click.UsageError("--model cannot be '-': give the name of a file")
    with Waiting() as waiting:
        waiting.show_stage("reading the model")
        from gradraker.exceptions import UnknownNodesError
        from gradraker.report import summarize_explanation

        saved = load_node_model(model)
        waiting.show_stage("explaining")
        try:
            explanation = saved.explain([node])
        except UnknownNodesError as error:
            raise ValueError(
                f"--node: {node!r} is not in the graph that the model has learned"
            ) from error
        facts = summarize_explanation(explanation, mean=saved.mean_, k=top)
    if as_json:
        echo_json(facts)
        return
    page = make_console()
    listed = [
        ("Prediction", shorten(facts["prediction"])),
        ("Mean", f"{shorten(facts['mean'])}, which values are compared with"),
        ("Sum of weights", f"{shorten(facts['sum_of_weights'])} over {facts['observed']} nodes"),
        ("Listed", f"{shorten(facts['listed_part'])} of what moves it from the mean"),
    ]
    page.print(make_facts_table(f"Node {make_printable(node)}", listed))
    headings = {"node": "Known node", "weight": "Weight", "value": "Value"}
    headings |= {"contribution": "Contribution", "squared_distance": "Squared distance"}
    shown = [key for key in headings if key in facts["contributors"][0]]
    rows = [[one[key] for key in shown] for one in facts["contributors"]]
    page.print(make_rows_table("The nodes that count most", [headings[key] for key in shown], rows))
