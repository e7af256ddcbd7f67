"""``gradraker predict``: edges and known values in, predictions, a report and a model out."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import gradraker
from gradraker._columns import ColumnNumber
from gradraker.cli import options as shared
from gradraker.cli.inputs import (
    FileOptions,
    check_files,
    print_attributes,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    read_weights,
    take_file_options,
    to_graph_options,
    watch_training,
)
from gradraker.cli.nodes import several_targets
from gradraker.cli.option_groups import (
    FILE_OPTIONS,
    GRAPH_OPTIONS,
    LEARNER_OPTIONS,
    PAGE_OPTIONS,
    WALK_OPTIONS,
    GroupedCommand,
)
from gradraker.cli.output import (
    BOUND_OPTIONS,
    N_SHOWN,
    Results,
    StatusLine,
    format_graph,
    make_facts_table,
    make_predictions_table,
    make_printable,
    shorten,
    show_facts,
    split_units,
    take_page_options,
    write_results,
)

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
@shared.add_file("--model", "Save the trained model here.")
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

    Nodes are compared by where walks from them end and by their degrees; the details are
    chosen on the known nodes. With at least 10 of them, the output shows the error on known nodes
    that were left out, and the error if every node got the mean.
    """
    how = take_file_options(options)
    page_options = take_page_options(options)
    files = {"edges": edges, "values": values, "attributes": options["attributes"]}
    outputs = {"out": out, "report": report, "model": model}
    if model == "-":
        raise click.UsageError("--model cannot be '-': a model is read again from a file")
    check_files(files | {"explain-nodes": page_options.explain_nodes}, outputs, as_json=as_json)
    targets = [] if how.value is None else several_targets.list_targets(how.value)
    with StatusLine() as status:
        status.show_stage("starting")
        kinds = _check_method(ctx, options["method"], how.task)
        if targets:
            _check_targets(kinds, how.task)
            split_units(page_options.unit, targets)
            how = replace(how, value=[ColumnNumber(name) for name in targets])
        settings = to_graph_options(options, how)
        results = _fit_files(files, how, kinds, options, settings, status)
        status.show_stage("summarizing")
        inputs = {name: file for name, file in files.items() if file is not None}
        facts: Any = {"inputs": inputs, "n_contributors": top, "settings": settings}
        summarize = gradraker.report.summarize_predictions
        summaries = {name: summarize(result, **facts) for name, result in results.items()}
        notes = {name: options[name] for name in BOUND_OPTIONS} | page_options.to_notes()
        trained = next(iter(results.values())).model
        write_results(
            results,
            lambda: summaries,
            outputs,
            page_options,
            top=top,
            raw_names=raw_names,
            write_model=lambda file: trained.write_to(file, notes=notes),
            status=status,
        )
    written = {"Predictions": out, "Report": report, "Model": model}
    if targets:
        facts = gradraker.report.summarize_targets(results, summaries)
        show_facts(facts, several_targets.list_tables, as_json=as_json, files=written)
    else:
        show_facts(summaries[None], _list_tables, as_json=as_json, files=written)


# How messages name the methods of --method.
_METHODS = {"nodes": "--method nodes", "skg": "SKG: add --method skg"}
Kinds = Mapping[str, "type[NodeModel]"]  # models of a method, by task


def _list_kinds(method: str) -> Kinds:
    from gradraker.models.loading import MODELS

    kinds = [kind for kind in MODELS.values() if issubclass(kind, gradraker.models.NodeModel)]
    return {kind.value_kind.task: kind for kind in kinds if kind.method == method}


def _check_method(ctx: click.Context, method: str, task: str | None) -> Kinds:
    """Return the models of a method; refuse options that only models of another method take."""
    kinds_of = {name: _list_kinds(name) for name in _METHODS}
    for param in ctx.command.params:
        name = param.name or ""
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        takers = [
            m for m, kinds in kinds_of.items() if any(k.can_take(name) for k in kinds.values())
        ]
        if takers and method not in takers:
            raise click.UsageError(f"{param.opts[0]} is an option of {_METHODS[takers[0]]}")
    if task is not None and task not in kinds_of[method]:
        takers = [m for m, kinds in kinds_of.items() if task in kinds]
        raise click.UsageError(f"--task {task} is an option of {_METHODS[takers[0]]}")
    return kinds_of[method]


def _check_targets(kinds: Kinds, task: str | None) -> None:
    """Refuse several columns for models and tasks that take one."""
    if not kinds[task or "values"].takes_several_targets:
        raise click.UsageError(
            "--value names several columns: --method nodes predicts them, as numbers"
        )


def _fit_files(
    files: dict[str, Any],
    how: FileOptions,
    kinds: Kinds,
    options: dict[str, Any],
    settings: dict[str, Any],
    status: StatusLine,
) -> Results:
    """Read the files, fit the model of --method and predict all nodes."""
    graph = read_edges_file(files["edges"], status, how)
    known = read_values_file(files["values"], status, how)
    weights = replace(how, value=options["sample_weight"])
    given = {
        "sample_weight": read_weights(files["values"], status, weights),
        "attributes": read_attributes_table(files["attributes"], status),
        "unknown_nodes": options["unknown_nodes"],
    }
    with watch_training(files["values"], status):
        model = _make_model(kinds, known.task, options)
        given |= {name: options[name] for name in BOUND_OPTIONS}
        results: Any = gradraker.workflow.predict_targets(
            graph, known, model=model, task=known.task, **given, **settings
        )
    print_attributes(files["attributes"], next(iter(results.values())).model, status)
    return results  # type: ignore[no-any-return]


def _make_model(kinds: Kinds, task: str, options: dict[str, Any]) -> "NodeModel":
    """Make a model of numbers or classes from the options that are its parameters."""
    if task not in kinds:
        raise click.UsageError(
            "the values are classes, and SKG predicts numbers: leave --method out"
        )
    if task == "classes":
        shared.refuse_number_options(options)
    names = kinds[task]().get_params()
    given = {name: options[name] for name in names if options.get(name) is not None}
    return kinds[task](**given)


def _list_tables(summary: dict[str, Any]) -> "Iterator[Table]":
    yield make_facts_table("Predicted from known values", _list_prediction_facts(summary))
    yield from make_predictions_table(summary["predictions"])


def _list_prediction_facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """List the main facts of a summary of predictions."""
    graph, values = summary["graph"], summary["values"]
    facts = [
        ("Graph", format_graph(graph)),
        ("Values", f"{shorten(values['known'])} known, {shorten(values['unknown'])} to predict"),
    ]
    if "classes" in values:
        names = [make_printable(entry["class"]) for entry in values["classes"]]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        facts.append(("Classes", f"{shorten(len(names))}: {', '.join(names[:6])}{more}"))
    if summary["coverage"] is not None:
        facts.append(("Intervals", f"hold {100 * summary['coverage']:g} % of the true values"))
    if summary["choice"] is not None:
        facts += _list_choice_facts(summary["choice"])
    facts += _list_attribute_facts(summary["attributes"])
    sigma2 = summary["sigma2"]
    if sigma2 is None:
        return facts + _list_held_out_facts(summary["held_out"])
    rule = "as given" if sigma2["rule"] == "given" else f"chosen by rule '{sigma2['rule']}'"
    facts.append(("σ² of the kernel", f"{shorten(sigma2['value'])} ({rule})"))
    if sigma2["range"] is not None:
        facts.append(("Range of σ²", f"{sigma2['range']}: {sigma2['meaning']}"))
    return (
        facts
        + _list_held_out_facts(summary["held_out"])
        + _list_transfer_facts(summary["transfer"])
    )


def _list_choice_facts(choice: dict[str, Any]) -> list[tuple[str, str]]:
    """List how nodes are compared, and how that was chosen."""
    if not choice["kernel"]:
        return [("Compared by", "nothing: every node gets about the mean of the known values")]
    text = ", ".join(dict.fromkeys(term["block"] for term in choice["kernel"]))
    if choice["n_tried"]:
        text += f"; the best of {choice['n_tried']} candidates"
    facts = [("Compared by", text)]
    if choice.get("device") == "cuda":
        facts.append(("Computed on", "the GPU"))
    if choice.get("transform", "none") != "none":
        facts.append(("Weights add up in", choice["formula"]))
    if choice.get("statistic") == "median":
        facts.append(("Predicted", "medians"))
    return facts


def _list_attribute_facts(attributes: dict[str, Any] | None) -> list[tuple[str, str]]:
    """List the kinds of attributes, and those that count most in linear terms."""
    if attributes is None:
        return []
    kinds = ", ".join(f"{kind}: {shorten(n)}" for kind, n in attributes["kinds"].items())
    facts = [("Attributes", f"{shorten(attributes['n_columns'])} numbers per node ({kinds})")]
    if listed := attributes["coefficients"]:
        largest = sorted(listed, key=lambda entry: -abs(entry["coefficient"]))[:N_SHOWN]
        facts.append(("Count most", ", ".join(map(_format_coefficient, largest))))
    return facts


def _format_coefficient(entry: dict[str, Any]) -> str:
    """Format an attribute, whose it is, its coefficient, and its class or target."""
    whose = "" if entry["whose"] == "of the node" else f" {entry['whose']}"
    target = f" for {make_printable(entry['target'])}" if "target" in entry else ""
    return f"{make_printable(entry['attribute'])}{whose} ({entry['coefficient']:+.3g}{target})"


def _list_held_out_facts(held_out: dict[str, Any] | None) -> list[tuple[str, str]]:
    """List errors, with those of the mean or of the most common class."""
    if held_out is None:
        return [("Held out", "none: too few known nodes to estimate the error")]
    if "accuracy" in held_out:
        share, common = shorten(held_out["accuracy"]), shorten(held_out["accuracy_of_most_common"])
        return [
            ("Left out", f"{shorten(held_out['nodes'])} known nodes, one at a time"),
            ("Accuracy", f"{share} ({common} by the most common class)"),
            ("Calibration error", shorten(held_out["calibration_error"])),
        ]
    facts = [
        (
            "Left out" if held_out["one_at_a_time"] else "Held out",
            f"{shorten(held_out['nodes'])} of the known nodes, "
            f"{'one at a time, ' if held_out['one_at_a_time'] else ''}for the errors below",
        ),
        ("RMSE", f"{shorten(held_out['rmse'])} ({shorten(held_out['rmse_of_mean'])} by the mean)"),
    ]
    if held_out["gnmse"] is not None:
        gnmse, of_mean = shorten(held_out["gnmse"]), shorten(held_out["gnmse_of_mean"])
        facts.append(("GNMSE", f"{gnmse} ({of_mean} by the mean), values scaled to [0, 1]"))
    return facts


def _list_transfer_facts(transfer: dict[str, Any] | None) -> list[tuple[str, str]]:
    if transfer is None:
        return [("Similarity transfer", "not measured: too few known nodes, or equal values")]
    return [("Similarity transfer", transfer["verdict"])]
