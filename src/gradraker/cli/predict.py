"""``gradraker predict``: edges and known values in, predictions, a report and a model out."""

from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    check_distinct,
    check_streams,
    read_edges_file,
    read_values_file,
    reword_errors,
    to_graph_options,
)
from gradraker.cli.options import (
    SIGMA2_RULES,
    FileName,
    NumberOrWord,
    add_top_option,
    add_values_option,
    check_fraction,
    edges_option,
    kernel_options,
    output_options,
    refuse_skg_options,
    unknown_or_isolated_option,
    vector_options,
)
from gradraker.cli.output import (
    check_writable,
    echo_json,
    list_prediction_rows,
    make_console,
    write_csv,
    write_text,
)
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import list_prediction_facts, make_facts_table, make_predictions_table

if TYPE_CHECKING:
    from gradraker.models import NodeModel


@click.command(
    short_help="Predict the unknown values of a graph's nodes.",
    epilog="Example: gradraker predict --edges edges.csv --values known.csv --out predicted.csv",
)
@edges_option
@add_values_option(required=True, text="Known values: a table of nodes and numbers.")
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@click.option(
    "--report",
    type=FileName(),
    metavar="FILE",
    help="A page to show, as one HTML file; - is stdout.",
)
@click.option("--model", type=FileName(), metavar="FILE", help="Keep the trained model here.")
@click.option(
    "--method",
    type=click.Choice(["nodes", "skg"]),
    default="nodes",
    show_default=True,
    help="The node model, which compares nodes by walks and degrees, or the paper's SKG.",
)
@click.option(
    "--coverage",
    type=float,
    callback=check_fraction,
    metavar="PART",
    help="Add intervals that hold this part of the true values, such as 0.9.",
)
@click.option(
    "--sigma2",
    type=NumberOrWord(SIGMA2_RULES),
    default="cv",
    show_default=True,
    metavar=f"[{'|'.join(SIGMA2_RULES)}|NUMBER]",
    help="SKG: variance σ² of the kernel, or the rule that chooses it.",
)
@vector_options
@kernel_options
@add_top_option(0)
@unknown_or_isolated_option
@output_options
@click.pass_context
def predict(
    ctx: click.Context,
    /,
    edges: str,
    values: str,
    out: str | None,
    report: str | None,
    model: str | None,
    top: int,
    raw_names: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict the values of all nodes of a graph from those that are known.

    Nodes are compared by where walks from them lead and by their degrees; how exactly is
    chosen on the known nodes. With 10 of them or more, the output says how large the errors are
    on known nodes that were left out, and how large they were if every node got the mean.
    """
    if options["method"] == "nodes":
        refuse_skg_options(ctx)
    elif options["coverage"] is not None:
        raise click.UsageError("--coverage is an option of --method nodes")
    check_streams(edges=edges, values=values)
    check_streams(out=out, report=report, json="-" if as_json else None)
    if model == "-":
        raise click.UsageError("--model cannot be '-': a model is read again from a file")
    check_distinct(
        {"edges": edges, "values": values}, {"out": out, "report": report, "model": model}
    )
    check_writable(out, report, model)
    with Waiting() as waiting:
        waiting.show_stage("starting")
        from gradraker import predict_nodes
        from gradraker.report import render_predictions, summarize_predictions

        graph = read_edges_file(edges, waiting)
        known = read_values_file(values, waiting)
        waiting.show_stage("training")
        settings = to_graph_options(
            self_loops=options["self_loops"], unweighted=options["unweighted"]
        )
        with reword_errors(values, isolated=True):
            result = predict_nodes(
                graph,
                known,
                model=_MODELS[options["method"]](options),
                unknown_nodes=options["unknown_nodes"],
                coverage=options["coverage"],
                **settings,
            )
        waiting.show_stage("summing up")
        summary = summarize_predictions(
            result,
            n_edges=len(graph),
            n_contributors=top,
            inputs={"edges": edges, "values": values},
            settings=settings,
        )
        # Everything is made before anything is written: an error leaves all files as they were.
        page = None if report is None else render_predictions(summary)
        table = list_prediction_rows(result, top=top, raw_names=raw_names)
        rows = None if out is None else list(table)
        waiting.show_stage("writing")
        if model is not None:
            result.model.save(model)
        if page is not None and report is not None:
            write_text(report, page)
        if rows is not None and out is not None:
            write_csv(out, rows)
    if as_json:
        echo_json(summary)
        return
    _print_tables(summary, to_stderr="-" in (out, report))
    for what, file in (("Predictions", out), ("Report", report), ("Model", model)):
        if file not in (None, "-"):
            # Not through rich, which would break a long path into lines.
            click.echo(f"{what}: {file}", err="-" in (out, report))


def _make_node_model(options: dict[str, Any]) -> "NodeModel":
    from gradraker import NodeRegressor

    return NodeRegressor(direction=options["direction"] or "both", random_state=options["seed"])


def _make_skg(options: dict[str, Any]) -> "NodeModel":
    from gradraker import SKGNodeRegressor

    return SKGNodeRegressor(
        sigma2=options["sigma2"],
        kernel=options["kernel"],
        n_frequencies=options["frequencies"],
        learning_rate=options["learning_rate"],
        n_epochs=options["epochs"],
        direction=options["direction"] or "out",
        hops=options["hops"],
        hop_weights=options["hop_weights"],
        random_state=options["seed"],
    )


# The models of --method, each made from the options.
_MODELS = {"nodes": _make_node_model, "skg": _make_skg}


def _print_tables(summary: dict[str, Any], *, to_stderr: bool) -> None:
    page = make_console(to_stderr=to_stderr)
    page.print(make_facts_table("Predicted from known values", list_prediction_facts(summary)))
    first = make_predictions_table(summary["predictions"])
    if first is not None:
        page.print(first)
