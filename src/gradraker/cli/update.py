"""``gradraker update``: teach a saved model new edges and values."""

from typing import Any

import click

from gradraker.cli.inputs import (
    check_distinct,
    check_streams,
    load_node_model,
    read_edges_file,
    read_values_file,
    reword_errors,
)
from gradraker.cli.options import (
    FileName,
    add_top_option,
    add_values_option,
    new_edges_option,
    output_options,
    unknown_nodes_option,
)
from gradraker.cli.output import (
    check_writable,
    echo_json,
    list_prediction_rows,
    make_console,
    write_csv,
)
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_predictions_table, shorten


@click.command(
    short_help="Go on training a saved model on new values.",
    epilog="Example: gradraker update --model model.gr --edges edges.csv --values new.csv",
)
@click.option(
    "--model", type=FileName(), required=True, metavar="FILE", help="Model that predict wrote."
)
@new_edges_option
@add_values_option(required=False, text="New values; those already learned are passed over.")
@click.option("--again", is_flag=True, help="Learn also what was already learned, once more.")
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@click.option(
    "--save-as",
    type=FileName(),
    metavar="FILE",
    help="Write the model here; default the file of --model.",
)
@add_top_option(0)
@unknown_nodes_option
@output_options
def update(
    model: str,
    edges: str | None,
    values: str | None,
    again: bool,
    out: str | None,
    save_as: str | None,
    top: int,
    unknown_nodes: Any,
    raw_names: bool,
    as_json: bool,
) -> None:
    """Teach a saved model new edges and values, and predict all other nodes.

    The model holds its graph, and takes the edges as more of it. New values are predicted
    before they are learned, which gives an honest error. Without --values, the model only
    predicts.
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
        waiting.show_stage("reading the model")
        from gradraker.report import summarize_update
        from gradraker.workflow import predict_all, update_nodes

        saved = load_node_model(model)
        if again and not saved.learns_by_steps:
            raise click.UsageError("--again is for models of SKG: this one holds each value once")
        graph = None if edges is None else read_edges_file(edges, waiting)
        given = {} if values is None else read_values_file(values, waiting)
        waiting.show_stage("training")
        with reword_errors(values):
            found = update_nodes(saved, graph, given, unknown_nodes=unknown_nodes, relearn=again)
        result = predict_all(saved)
        facts = summarize_update(found, result, n_contributors=top)
        table = list_prediction_rows(result, top=top, raw_names=raw_names)
        rows = None if out is None else list(table)
        waiting.show_stage("writing")
        changed = bool(found.learned) or found.graph_changed
        if changed or save_as is not None:
            saved.save(target)
        if rows is not None and out is not None:
            write_csv(out, rows)
    if as_json:
        echo_json(facts)
        return
    _print_tables(facts, changed=changed, to_stderr=out == "-")
    for what, file in (("Predictions", out), ("Model", target if changed else save_as)):
        if file not in (None, "-"):
            click.echo(f"{what}: {file}", err=out == "-")


def _print_tables(facts: dict[str, Any], *, changed: bool, to_stderr: bool) -> None:
    in_all = f"{shorten(facts['known'])} known"
    if "steps" in facts:
        in_all = f"{shorten(facts['steps'])} steps"
    listed = [
        ("Graph", f"{shorten(facts['nodes'])} nodes, {shorten(facts['edges'])} edges"),
        ("Learned", f"{shorten(facts['learned'])} new values, {in_all} in all"),
    ]
    if facts["passed_over"]:
        listed.append(("Passed over", f"{shorten(facts['passed_over'])} values, learned before"))
    if facts["rmse_before"] is not None:
        before, mean = shorten(facts["rmse_before"]), shorten(facts["rmse_of_mean"])
        listed.append(("RMSE", f"{before} on the new values before learning ({mean} by the mean)"))
    page = make_console(to_stderr=to_stderr)
    page.print(make_facts_table("Model updated" if changed else "Model unchanged", listed))
    first = make_predictions_table(facts["predictions"])
    if first is not None:
        page.print(first)
