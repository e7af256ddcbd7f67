"""``gradraker explain``: why a model predicts what it predicts for a node."""

from typing import Any

import click

from gradraker.cli.inputs import check_streams, read_edges_file
from gradraker.cli.models import load_model
from gradraker.cli.options import FileName, edges_of_skg_option, top_option
from gradraker.cli.output import console, echo_json, printable
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import facts_table, rows_table, short


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
@edges_of_skg_option
@click.option("--node", required=True, metavar="NAME", help="The node to explain.")
@top_option(10)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def explain(model: str, edges: str | None, node: str, top: int, as_json: bool) -> None:
    """Say which known values the prediction of a node comes from.

    The prediction is exactly the mean plus the sum of weight × (value − mean) over all
    nodes that the model has learned.
    """
    check_streams(model=None, edges=edges)
    if model == "-":
        raise click.UsageError("--model cannot be '-': give the name of a file")
    with Waiting() as waiting:
        waiting.stage("reading the model")
        saved = load_model(model)
        if edges is None and not saved.knows_its_graph:
            raise click.UsageError("--edges is needed: a model of SKG does not hold the graph")
        if edges is not None and saved.knows_its_graph:
            raise click.UsageError(
                "--edges is for models of SKG: this one holds its graph, and update teaches it more"
            )
        graph = None if edges is None else read_edges_file(edges, waiting)
        waiting.stage("explaining")
        facts = _explanation(saved, graph, node, top)
    if as_json:
        echo_json(facts)
        return
    page = console()
    page.print(
        facts_table(
            f"Node {printable(node)}",
            [
                ("Prediction", short(facts["prediction"])),
                ("Mean", f"{short(facts['mean'])}, which values are compared with"),
                (
                    "Sum of weights",
                    f"{short(facts['sum_of_weights'])} over {facts['observed']} nodes",
                ),
                ("Listed", f"{short(facts['listed_part'])} of what moves it from the mean"),
            ],
        )
    )
    headings = {"node": "Known node", "weight": "Weight", "value": "Value"}
    headings |= {"contribution": "Contribution", "squared_distance": "Squared distance"}
    shown = [key for key in headings if key in facts["contributors"][0]]
    rows = [[one[key] for key in shown] for one in facts["contributors"]]
    page.print(rows_table("The nodes that count most", [headings[key] for key in shown], rows))


def _explanation(saved: Any, graph: Any, node: str, top: int) -> dict[str, Any]:
    from gradraker.report.summary import tidy

    found, mean = _of_node_model(saved, node) if graph is None else _of_skg(saved, graph, node)
    weights, values = found.weights[0], found.values - mean + saved.offset  # relative to the mean
    order = found.heaviest(top)[0]
    moved = float(weights @ values)
    listed = float(weights[order] @ values[order])
    return {
        "node": node,
        "prediction": float(found.prediction[0]) + saved.offset,
        "mean": mean,
        "observed": int(weights.size),
        "sum_of_weights": float(weights.sum()),
        "listed_part": listed / moved if moved != 0.0 else 1.0,
        "contributors": [
            {
                "node": str(found.observed_names[i]),
                "weight": float(weights[i]),
                "value": tidy(float(values[i]) + mean),
                "contribution": float(weights[i] * values[i]),
            }
            | _distance(found, i)
            for i in order.tolist()
        ],
    }


def _distance(found: Any, i: int) -> dict[str, float]:
    """Distance of an observed node, where the model compares adjacency vectors."""
    if not hasattr(found, "squared_distances"):
        return {}
    return {"squared_distance": float(found.squared_distances[0, i])}


def _of_node_model(saved: Any, node: str) -> tuple[Any, float]:
    """The explanation, and the mean of the known values; since weights sum to 1, any will do."""
    if node not in set(saved.model.nodes_.tolist()):
        raise ValueError(f"--node: {node!r} is not in the graph that the model has learned")
    return saved.model.explain([node]), float(saved.model.known_values_.mean())


def _of_skg(saved: Any, graph: Any, node: str) -> tuple[Any, float]:
    """The explanation, whose values are relative to the mean, and that mean."""
    import numpy as np

    from gradraker import adjacency_vectors
    from gradraker.workflow.contributors import explained

    if node not in set(graph.nodes.tolist()):
        raise ValueError(f"--node: {node!r} is not in the graph")
    vectors = adjacency_vectors(graph, nodes=[node], **saved.vectors)
    strangers = _strangers(saved, vectors)
    if strangers:
        raise ValueError(
            f"--edges: {node!r} has {strangers} neighbours, and the model knows none of them: "
            "these are not the edges of the graph that it was trained on"
        )
    return explained(saved.model, vectors, np.array([0])), saved.offset


def _strangers(saved: Any, vectors: Any) -> int:
    """Number of neighbours of the node, if the model knows none of them."""
    neighbours = set(vectors.references[vectors.rows.indices].tolist())
    return 0 if neighbours & set(saved.model.references_) else len(neighbours)
