"""``gradraker predict``: edges and known values in, predictions, a report and a model out."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli import options as shared
from gradraker.cli.inputs import (
    FileOptions,
    check_files,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    read_weights,
    take_file_options,
    tell_attributes,
    to_graph_options,
    to_learner_options,
    watch_training,
)
from gradraker.cli.option_groups import (
    FILE_OPTIONS,
    GRAPH_OPTIONS,
    LEARNER_OPTIONS,
    PAGE_OPTIONS,
    WALK_OPTIONS,
    GroupedCommand,
)
from gradraker.cli.output import (
    SHAPE,
    Results,
    show_facts,
    split_units,
    take_page_options,
    write_results,
)
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import list_prediction_facts, make_facts_table, make_predictions_table

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.models import NodeModel


@click.command(
    cls=GroupedCommand,
    groups={
        "Reading files": FILE_OPTIONS,
        "Graph": GRAPH_OPTIONS,
        "The page of --report": PAGE_OPTIONS,
        "Only with --method skg": (*LEARNER_OPTIONS, *WALK_OPTIONS),
    },
    short_help="Predict the unknown values of a graph's nodes.",
    epilog="Example: gradraker predict --edges edges.csv --values known.csv --out predicted.csv",
)
@shared.add_edges(required=True)
@shared.add_values(
    "Known values: a table of nodes and numbers, or texts that name classes.", required=True
)
@shared.attributes_option
@shared.add_choice(
    "--task",
    ("values", "classes"),
    "Whether values are numbers or names of classes; default classes if they are texts.",
)
@shared.out_option
@shared.report_options
@shared.add_file("--model", "Keep the trained model here.")
@shared.add_choice(
    "--method",
    ("nodes", "skg"),
    "The node model, which compares nodes by walks and degrees, or the paper's SKG.",
    default="nodes",
)
@shared.device_option
@shared.transform_options
@shared.prediction_options
@shared.file_options
@shared.directed_option
@shared.add_direction("both, and out for --method skg")
@shared.sigma2_option
@shared.vector_options
@shared.kernel_options
@shared.add_top(0)
@shared.add_unknown_nodes()
@shared.output_options
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
    _check_method(ctx, options)
    how = take_file_options(options)
    page_options = take_page_options(options)
    files = {"edges": edges, "values": values, "attributes": options["attributes"]}
    outputs = {"out": out, "report": report, "model": model}
    if model == "-":
        raise click.UsageError("--model cannot be '-': a model is read again from a file")
    check_files(files | {"explain-nodes": page_options.explain_nodes}, outputs, as_json=as_json)
    # Loads numpy, which --help does without.
    from gradraker.cli.nodes import several_targets

    targets = [] if how.value is None else several_targets.list_targets(how.value)
    if targets:
        several_targets.check_method(options["method"], how.task)
        split_units(page_options.unit, targets)
    with Waiting() as waiting:
        waiting.show_stage("starting")
        from gradraker.report import summarize_predictions

        settings = to_graph_options(options, how)
        results = _fit_files(files, how, targets, options, settings, waiting)
        waiting.show_stage("summing up")
        told: Any = {"inputs": {name: file for name, file in files.items() if file is not None}}
        told |= {"n_contributors": top, "settings": settings}
        summaries = {name: summarize_predictions(one, **told) for name, one in results.items()}
        notes = {name: options[name] for name in SHAPE} | page_options.to_notes()
        trained = next(iter(results.values())).model
        write_results(
            results,
            lambda: summaries,
            outputs,
            page_options,
            top=top,
            raw_names=raw_names,
            write_model=lambda file: trained.write_to(file, notes=notes),
            waiting=waiting,
        )
    written = {"Predictions": out, "Report": report, "Model": model}
    if targets:
        facts = several_targets.summarize_targets(results, summaries)
        show_facts(facts, several_targets.list_tables, as_json=as_json, files=written)
    else:
        show_facts(summaries[None], _list_tables, as_json=as_json, files=written)


def _check_method(ctx: click.Context, options: dict[str, Any]) -> None:
    """Refuse options that belong to the other method."""
    if options["method"] == "nodes":
        shared.refuse_skg_options(ctx)
        return
    for name in ("coverage", "attributes", "transform", "statistic", "sample_weight", "device"):
        if options[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is an option of --method nodes")
    if options["task"] == "classes":
        raise click.UsageError("--task classes is an option of --method nodes")


def _fit_files(
    files: dict[str, Any],
    how: FileOptions,
    targets: list[str],
    options: dict[str, Any],
    settings: dict[str, Any],
    waiting: Waiting,
) -> Results:
    """Read the files, fit the model of --method and predict all nodes."""
    from gradraker import predict_nodes
    from gradraker.cli.nodes.several_targets import predict_results, read_targets

    values, known = files["values"], None
    graph = read_edges_file(files["edges"], waiting, how)
    if targets:
        columns = read_targets(values, targets, waiting, how)
    else:
        known = read_values_file(values, waiting, how)
    given = {
        "sample_weight": read_weights(
            values, waiting, replace(how, value=options["sample_weight"])
        ),
        "attributes": read_attributes_table(files["attributes"], waiting),
        "unknown_nodes": options["unknown_nodes"],
    }
    with watch_training(values, waiting):
        task = "values" if known is None else known.task
        _check_task(task, options)
        model = _MODELS[options["method"]](task, options)
        results: Results
        if known is None:
            results = predict_results(model.fit(graph, columns, **given, **settings), options)
        else:
            shape = {name: options[name] for name in SHAPE}
            one = predict_nodes(graph, known, model=model, task=task, **shape, **given, **settings)
            results = {None: one}
    tell_attributes(files["attributes"], next(iter(results.values())).model, waiting)
    return results


def _check_task(task: str, options: dict[str, Any]) -> None:
    """Refuse options of numbers where values are classes."""
    if task == "values":
        return
    if options["method"] == "skg":
        raise click.UsageError(
            "the values are classes, and SKG predicts numbers: leave --method out"
        )
    shared.refuse_number_options(options)


def _make_node_model(task: str, options: dict[str, Any]) -> "NodeModel":
    from gradraker import NodeClassifier, NodeRegressor

    names = ("device",) if task == "classes" else ("device", "transform", "statistic")
    settings = {name: options[name] for name in names if options[name]}
    settings |= {"direction": options["direction"] or "both"}
    kind = NodeClassifier if task == "classes" else NodeRegressor
    return kind(random_state=options["random_state"], **settings)


def _make_skg(task: str, options: dict[str, Any]) -> "NodeModel":
    from gradraker import SKGNodeRegressor

    settings = to_learner_options(options, "sigma2", "hops", "hop_weights")
    return SKGNodeRegressor(direction=options["direction"] or "out", **settings)


# The models of --method, each made from the options.
_MODELS = {"nodes": _make_node_model, "skg": _make_skg}


def _list_tables(summary: dict[str, Any]) -> "Iterator[Table]":
    yield make_facts_table("Predicted from known values", list_prediction_facts(summary))
    yield from make_predictions_table(summary["predictions"])
