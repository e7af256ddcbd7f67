"""``gradraker predict``: edges and known values in, predictions, a report and a model out."""

from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    VECTOR_OPTIONS,
    check_distinct,
    check_streams,
    in_words_of_the_command_line,
    read_edges_file,
    read_values_file,
    vector_settings,
)
from gradraker.cli.options import (
    SIGMA2_RULES,
    FileName,
    NumberOrWord,
    edges_option,
    kernel_options,
    output_options,
    part,
    refuse_skg_options,
    top_option,
    unknown_or_isolated_option,
    values_option,
    vector_options,
)
from gradraker.cli.output import (
    check_writable,
    console,
    echo_json,
    predictions_table,
    write_csv,
    write_text,
)
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import facts_table, first_predictions, prediction_facts

if TYPE_CHECKING:
    from gradraker.workflow.node_predictions import NodePredictions


@click.command(
    short_help="Predict the unknown values of a graph's nodes.",
    epilog="Example: gradraker predict --edges edges.csv --values known.csv --out predicted.csv",
)
@edges_option
@values_option(required=True, text="Known values: a table of nodes and numbers.")
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
    callback=part,
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
@top_option(0)
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
        result, n_edges, settings = _predicted(edges, values, waiting, options)
        waiting.stage("summing up")
        from gradraker.report import prediction_report, prediction_summary

        summary = prediction_summary(
            result,
            n_edges=n_edges,
            n_contributors=top,
            inputs={"edges": edges, "values": values},
            settings=settings,
        )
        # Everything is made before anything is written: an error leaves all files as they were.
        page = None if report is None else prediction_report(summary)
        rows = (
            None if out is None else list(predictions_table(result, top=top, raw_names=raw_names))
        )
        waiting.stage("writing")
        if model is not None:
            save_model(result, model, settings)
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


def _predicted(
    edges: str, values: str, waiting: Waiting, options: dict[str, Any]
) -> "tuple[NodePredictions, int, dict[str, Any]]":
    """Read, train and predict; return the result, the number of edges and the settings."""
    waiting.stage("starting")
    from gradraker import NodeRegressor, SKGRegressor
    from gradraker.workflow import predict_unknown

    graph = read_edges_file(edges, waiting)
    known = read_values_file(values, waiting)
    waiting.stage("training")
    settings = vector_settings(**{name: options[name] for name in VECTOR_OPTIONS})
    learner: NodeRegressor | SKGRegressor
    if options["method"] == "nodes":
        # The model itself knows about directions and walks.
        settings = {name: settings[name] for name in ("weight", "self_loops")}
        learner = NodeRegressor(
            direction=options["direction"] or "both", random_state=options["seed"]
        )
    else:
        learner = SKGRegressor(
            sigma2=options["sigma2"],
            kernel=options["kernel"],
            n_frequencies=options["frequencies"],
            learning_rate=options["learning_rate"],
            n_epochs=options["epochs"],
            random_state=options["seed"],
        )
    with in_words_of_the_command_line(values, isolated=True):
        result = predict_unknown(
            graph,
            known,
            unknown_nodes=options["unknown_nodes"],
            model=learner,
            coverage=options["coverage"],
            random_state=options["seed"],
            **settings,
        )
    return result, len(graph), settings


def save_model(result: "NodePredictions", path: str, settings: dict[str, Any]) -> None:
    """Save the model with what ``update`` and ``explain`` need to go on with it."""
    result.model.save(path, notes={"offset": result.offset, "vectors": settings})


def _print_tables(summary: dict[str, Any], *, to_stderr: bool) -> None:
    page = console(to_stderr=to_stderr)
    page.print(facts_table("Predicted from known values", prediction_facts(summary)))
    first = first_predictions(summary["predictions"])
    if first is not None:
        page.print(first)
