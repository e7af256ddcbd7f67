"""``gradraker predict``: edges and known values in, predictions, a report and a model out."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    FileOptions,
    check_distinct,
    check_streams,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    read_weights,
    reword_errors,
    take_file_options,
    tell_attributes,
    tell_warnings,
    to_graph_options,
)
from gradraker.cli.option_groups import (
    FILE_OPTIONS,
    GRAPH_OPTIONS,
    LEARNER_OPTIONS,
    PAGE_OPTIONS,
    WALK_OPTIONS,
    GroupedCommand,
)
from gradraker.cli.options import (
    SIGMA2_RULES,
    FileName,
    NumberOrWord,
    add_top_option,
    add_values_option,
    attributes_option,
    device_option,
    directed_option,
    edges_option,
    file_options,
    kernel_options,
    make_direction_option,
    output_options,
    prediction_options,
    refuse_number_options,
    refuse_skg_options,
    report_options,
    transform_options,
    unknown_or_isolated_option,
    vector_options,
)
from gradraker.cli.output import (
    check_writable,
    echo_json,
    list_prediction_rows,
    make_console,
)
from gradraker.cli.page import Outputs, PageOptions, make_page, split_units, take_page_options
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import list_prediction_facts, make_facts_table, make_predictions_table

if TYPE_CHECKING:
    from gradraker.graph import EdgeList
    from gradraker.io.readers import NodeValues
    from gradraker.models import NodeModel
    from gradraker.workflow import NodePredictions


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
@edges_option
@add_values_option(
    required=True, text="Known values: a table of nodes and numbers, or texts that name classes."
)
@attributes_option
@click.option(
    "--task",
    type=click.Choice(["values", "classes"]),
    help="Whether values are numbers or names of classes; default classes if they are texts.",
)
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@report_options
@click.option("--model", type=FileName(), metavar="FILE", help="Keep the trained model here.")
@click.option(
    "--method",
    type=click.Choice(["nodes", "skg"]),
    default="nodes",
    show_default=True,
    help="The node model, which compares nodes by walks and degrees, or the paper's SKG.",
)
@device_option
@transform_options
@prediction_options
@file_options
@directed_option
@make_direction_option("both, and out for --method skg")
@click.option(
    "--sigma2",
    type=NumberOrWord(SIGMA2_RULES),
    default="cv",
    show_default=True,
    metavar=f"[{'|'.join(SIGMA2_RULES)}|NUMBER]",
    help="Variance σ² of the kernel, or the rule that chooses it.",
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
    _check_method(ctx, options)
    how = take_file_options(options)
    page_options = take_page_options(options)
    attributes = options["attributes"]
    files = {"edges": edges, "values": values, "attributes": attributes}
    check_streams(**files, explain_nodes=page_options.explain_nodes)
    check_streams(out=out, report=report, json="-" if as_json else None)
    if model == "-":
        raise click.UsageError("--model cannot be '-': a model is read again from a file")
    check_distinct(files, {"out": out, "report": report, "model": model})
    check_writable(out, report, model)
    shown = {"top": top, "raw_names": raw_names, "as_json": as_json}
    outputs_to = {"out": out, "report": report, "model": model}
    if _predict_several(files, how, options, page_options, outputs_to, shown):
        return
    with Waiting() as waiting:
        waiting.show_stage("starting")
        from gradraker.models import watch_progress
        from gradraker.report import summarize_predictions

        graph = read_edges_file(edges, waiting, how)
        known = read_values_file(values, waiting, how)
        trust = replace(how, value=options["sample_weight"])
        options["sample_weight"] = read_weights(values, waiting, trust)
        options["attributes"] = read_attributes_table(attributes, waiting)
        waiting.show_stage("training")
        settings = _take_graph_options(options, how)
        with reword_errors(values, isolated=True), tell_warnings(waiting):
            waiting.set_file("")
            with watch_progress(waiting.show_progress):
                result = _train(graph, known, options, settings)
        tell_attributes(attributes, result.model, waiting)
        waiting.show_stage("summing up")
        summary = summarize_predictions(
            result,
            n_contributors=top,
            inputs=_list_inputs(edges=edges, values=values, attributes=attributes),
            settings=settings,
        )
        # Everything is made before anything is written: an error leaves all files as they were.
        waiting.show_stage("explaining")
        outputs = Outputs(out, report)
        outputs.make(
            list_prediction_rows(result, top=top, raw_names=raw_names),
            lambda: make_page(result, summary, page_options, model_file=model),
        )
        waiting.show_stage("writing")
        notes = _take_shape(options) | page_options.to_notes()
        outputs.write(model, lambda file: result.model.write_to(file, notes=notes))
    if as_json:
        echo_json(summary)
        return
    _print_tables(summary, to_stderr=outputs.to_stderr)
    outputs.echo(model)


def _take_graph_options(options: dict[str, Any], how: FileOptions) -> dict[str, Any]:
    return to_graph_options(
        self_loops=options["self_loops"],
        unweighted=options["unweighted"],
        directed=how.directed,
    )


def _list_inputs(**files: str | None) -> dict[str, str]:
    return {name: file for name, file in files.items() if file is not None}


def _predict_several(
    files: dict[str, str | None],
    how: FileOptions,
    options: dict[str, Any],
    page_options: PageOptions,
    outputs: dict[str, str | None],
    shown: dict[str, Any],
) -> bool:
    """Predict several columns of values, if --value names several."""
    # Loads numpy, which --help does without.
    from gradraker.cli.nodes import several_targets

    targets = several_targets.list_targets(how.value)
    if not targets:
        return False
    several_targets.check_method(options["method"], how.task)
    split_units(page_options.unit, targets)
    notes = _take_shape(options) | page_options.to_notes()
    with Waiting() as waiting:
        results = several_targets.fit_targets(targets, files, how, options, waiting)
        several_targets.write_targets(
            results, outputs, page_options, **shown, notes=notes, inputs=files, waiting=waiting
        )
    return True


def _check_method(ctx: click.Context, options: dict[str, Any]) -> None:
    """Refuse options that belong to the other method."""
    if options["method"] == "nodes":
        refuse_skg_options(ctx)
        return
    for name in ("coverage", "attributes", "transform", "statistic", "sample_weight", "device"):
        if options[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is an option of --method nodes")
    if options["task"] == "classes":
        raise click.UsageError("--task classes is an option of --method nodes")


def _train(
    graph: "EdgeList", known: "NodeValues", options: dict[str, Any], settings: dict[str, Any]
) -> "NodePredictions":
    """Fit the model of --method and predict all nodes."""
    from gradraker import predict_nodes

    _check_task(known, options)
    return predict_nodes(
        graph,
        known,
        attributes=options["attributes"],
        sample_weight=options["sample_weight"],
        model=_MODELS[options["method"]](known, options),
        unknown_nodes=options["unknown_nodes"],
        **_take_shape(options),
        **settings,
    )


def _take_shape(options: dict[str, Any]) -> dict[str, Any]:
    """Return what predictions look like: intervals and bounds."""
    return {name: options[name] for name in ("coverage", "lower", "upper")}


def _check_task(known: "NodeValues", options: dict[str, Any]) -> None:
    """Refuse options of numbers where values are classes."""
    if known.task == "values":
        return
    if options["method"] == "skg":
        raise click.UsageError(
            "the values are classes, and SKG predicts numbers: leave --method out"
        )
    refuse_number_options(options)


def _make_node_model(known: "NodeValues", options: dict[str, Any]) -> "NodeModel":
    from gradraker import NodeClassifier, NodeRegressor

    settings = {"direction": options["direction"] or "both", "random_state": options["seed"]}
    settings["device"] = options["device"] or "cpu"
    if known.task == "classes":
        return NodeClassifier(**settings)
    scale = {"transform": options["transform"], "statistic": options["statistic"]}
    return NodeRegressor(**settings, **{name: one for name, one in scale.items() if one})


def _make_skg(known: "NodeValues", options: dict[str, Any]) -> "NodeModel":
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
