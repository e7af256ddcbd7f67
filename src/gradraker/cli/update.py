"""``gradraker update``: go on training a saved model on new nodes and values."""

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    check_distinct,
    check_streams,
    in_words_of_the_command_line,
    read_edges_file,
    read_values_file,
)
from gradraker.cli.models import SavedModel, load_model
from gradraker.cli.options import (
    FileName,
    edges_option,
    output_options,
    top_option,
    unknown_nodes_option,
    values_option,
)
from gradraker.cli.output import check_writable, console, echo_json, predictions_table, write_csv
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import facts_table, first_predictions, short

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gradraker.graph import AdjacencyVectors, EdgeList
    from gradraker.workflow.node_predictions import NodePredictions


@click.command(
    short_help="Go on training a saved model on new values.",
    epilog="Example: gradraker update --model model.gr --edges edges.csv --values new.csv",
)
@click.option(
    "--model", type=FileName(), required=True, metavar="FILE", help="Model that predict wrote."
)
@edges_option
@values_option(required=False, text="New values; those already learned are passed over.")
@click.option("--again", is_flag=True, help="Learn also what was already learned, once more.")
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@click.option(
    "--save-as",
    type=FileName(),
    metavar="FILE",
    help="Write the model here; default the file of --model.",
)
@top_option(0)
@unknown_nodes_option
@output_options
def update(
    model: str,
    edges: str,
    values: str | None,
    again: bool,
    out: str | None,
    save_as: str | None,
    top: int,
    unknown_nodes: Any,
    raw_names: bool,
    as_json: bool,
) -> None:
    """Go on training a saved model on new nodes and values, and predict the others.

    A node model holds its graph, and takes the edges as more of it. For a model of SKG the
    file of edges must hold all edges of the nodes that are to be learned or predicted; those
    of others may be missing. New values are predicted before they are
    learned, which gives an honest error. Without --values, the model only predicts.
    """
    if "-" in (model, save_as):
        raise click.UsageError("--model and --save-as cannot be '-': give the name of a file")
    check_streams(edges=edges, values=values)
    check_streams(out=out, json="-" if as_json else None)
    check_distinct({"edges": edges, "values": values, "model": model}, {"out": out})
    check_distinct({"edges": edges, "values": values, "out": out}, {"save-as": save_as})
    target = model if save_as is None else save_as
    check_writable(out, target)
    with Waiting() as waiting:
        waiting.stage("reading the model")
        saved = load_model(model)
        graph = read_edges_file(edges, waiting)
        given = {} if values is None else read_values_file(values, waiting)
        waiting.stage("training")
        with in_words_of_the_command_line(values or "-"):
            result, facts = _updated(saved, graph, given, again, unknown_nodes)
        from gradraker.report.summary import listed_predictions

        facts["predictions"] = listed_predictions(result, top)
        table = predictions_table(result, top=top, raw_names=raw_names)
        rows = None if out is None else list(table)
        waiting.stage("writing")
        changed = facts["learned"] > 0 or facts.get("graph_changed", False)
        if changed or save_as is not None:
            saved.save(target)
        if rows is not None and out is not None:
            write_csv(out, rows)
    if as_json:
        echo_json(facts)
        return
    _print(facts, changed=changed, to_stderr=out == "-")
    for what, file in (("Predictions", out), ("Model", target if changed else save_as)):
        if file not in (None, "-"):
            click.echo(f"{what}: {file}", err=out == "-")


def _updated(
    saved: SavedModel,
    graph: "EdgeList",
    given: dict[Hashable, float],
    again: bool,
    unknown_nodes: Any,
) -> "tuple[NodePredictions, dict[str, Any]]":
    """Train on what is new; return predictions for all nodes of the graph, and facts."""
    if saved.knows_its_graph:
        if again:
            raise click.UsageError("--again is for models of SKG: this one holds each value once")
        return _updated_nodes(saved.model, saved.vectors, graph, given, unknown_nodes)
    return _updated_skg(saved, graph, given, again, unknown_nodes)


def _updated_nodes(
    model: Any,
    settings: dict[str, Any],
    graph: "EdgeList",
    given: dict[Hashable, float],
    unknown_nodes: Any,
) -> "tuple[NodePredictions, dict[str, Any]]":
    import numpy as np

    from gradraker.workflow.node_job import all_predictions, update_by_nodes

    mean = float(model.known_values_.mean())
    old = model.adjacency_
    new, before = update_by_nodes(model, graph, given, unknown_nodes=unknown_nodes, **settings)
    values, predicted = np.array(list(new.values())), np.array(list(before.values()))
    in_graph = set(model.nodes_.tolist())
    return all_predictions(model), {
        "command": "update",
        "method": "nodes",
        "nodes": len(model.nodes_),
        "edges": int(model.adjacency_.nnz),
        "graph_changed": old.shape != model.adjacency_.shape or (old != model.adjacency_).nnz > 0,
        "learned": len(new),
        "passed_over": sum(node in in_graph for node in given) - len(new),
        "known": len(model.known_nodes_),
        "rmse_before": _rmse(values, predicted),
        "rmse_of_mean": _rmse(values, np.full(values.size, mean)),
        "mean": mean,
    }


def _updated_skg(
    saved: SavedModel,
    graph: "EdgeList",
    given: dict[Hashable, float],
    again: bool,
    unknown_nodes: Any,
) -> "tuple[NodePredictions, dict[str, Any]]":
    import numpy as np

    from gradraker import SKGRegressor, adjacency_vectors
    from gradraker.graph import known_values
    from gradraker.workflow import NodePredictions
    from gradraker.workflow.skg_job import update_by_skg

    assert isinstance(saved.model, SKGRegressor)
    vectors = adjacency_vectors(graph, **saved.vectors)
    aligned = known_values(given, vectors.nodes, unknown_nodes=unknown_nodes)
    learned = _learned(saved, vectors)  # NaN at nodes that were not
    already = aligned - saved.offset == learned
    new = ~np.isnan(aligned) & (again | ~already)
    references = vectors.references.tolist()
    before = saved.model.predict(vectors.rows, references=references) + saved.offset
    names = vectors.nodes[new].tolist()
    update_by_skg(
        saved.model,
        graph,
        dict(zip(names, aligned[new].tolist(), strict=True)),
        offset=saved.offset,
        **saved.vectors,
    )
    after = saved.model.predict(vectors.rows, references=references) + saved.offset
    values = np.where(np.isnan(aligned), _with_offset(learned, saved.offset), aligned)
    result = NodePredictions(vectors, values, after, saved.offset, saved.model, None)
    facts = {
        "command": "update",
        "method": "skg",
        "nodes": len(vectors.nodes),
        "edges": len(graph),
        "learned": int(new.sum()),
        "passed_over": int((already & ~new).sum()),
        "steps": int(saved.model.n_seen_),
        "rmse_before": _rmse(aligned[new], before[new]),
        "rmse_of_mean": _rmse(aligned[new], np.full(int(new.sum()), saved.offset)),
        "mean": saved.offset,
        "sigma2": float(saved.model.sigma2_),
    }
    return result, facts


def _learned(saved: SavedModel, vectors: "AdjacencyVectors") -> "NDArray[np.float64]":
    """Values, relative to the offset, that the model learned last at each node, or NaN."""
    import numpy as np

    from gradraker.workflow.contributors import explained

    seen = explained(saved.model, vectors, np.array([0]))
    last = dict(zip(seen.observed_names, seen.values.tolist(), strict=True))
    return np.array([last.get(node, math.nan) for node in vectors.nodes.tolist()])


def _with_offset(relative: "NDArray[np.float64]", offset: float) -> "NDArray[np.float64]":
    import numpy as np

    from gradraker.report.summary import tidy

    return np.array([value if math.isnan(value) else tidy(value + offset) for value in relative])


def _rmse(values: "NDArray[np.float64]", predictions: "NDArray[np.float64]") -> float | None:
    if values.size == 0:
        return None
    return math.sqrt(float(((values - predictions) ** 2).mean()))


def _in_all(facts: dict[str, Any]) -> str:
    if facts["method"] == "nodes":
        return f"{short(facts['known'])} known"
    return f"{short(facts['steps'])} steps"


def _print(facts: dict[str, Any], *, changed: bool, to_stderr: bool) -> None:
    listed = [
        ("Graph", f"{short(facts['nodes'])} nodes, {short(facts['edges'])} edges"),
        ("Learned", f"{short(facts['learned'])} new values, {_in_all(facts)} in all"),
    ]
    if facts["passed_over"]:
        listed.append(("Passed over", f"{short(facts['passed_over'])} values, learned before"))
    if facts["rmse_before"] is not None:
        before, mean = short(facts["rmse_before"]), short(facts["rmse_of_mean"])
        listed.append(("RMSE", f"{before} on the new values before learning ({mean} by the mean)"))
    page = console(to_stderr=to_stderr)
    page.print(facts_table("Model updated" if changed else "Model unchanged", listed))
    first = first_predictions(facts["predictions"])
    if first is not None:
        page.print(first)
