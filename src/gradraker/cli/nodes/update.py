"""``gradraker update``: teach a saved model new edges and values."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    FileOptions,
    check_distinct,
    check_streams,
    load_node_model,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    reword_errors,
    take_file_options,
    tell_warnings,
)
from gradraker.cli.option_groups import FILE_OPTIONS, PAGE_OPTIONS, GroupedCommand
from gradraker.cli.options import (
    FileName,
    add_top_option,
    add_values_option,
    attributes_option,
    device_option,
    file_options,
    new_edges_option,
    output_options,
    prediction_options,
    refuse_number_options,
    report_options,
    unknown_or_isolated_option,
)
from gradraker.cli.output import (
    check_writable,
    echo_json,
    list_prediction_rows,
    make_console,
)
from gradraker.cli.page import Outputs, make_page, take_page_options
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import (
    format_graph,
    make_facts_table,
    make_predictions_table,
    shorten,
)

if TYPE_CHECKING:
    from gradraker.models import NodeModel
    from gradraker.workflow import Update


@click.command(
    cls=GroupedCommand,
    groups={"Reading files": FILE_OPTIONS, "The page of --report": PAGE_OPTIONS},
    short_help="Go on training a saved model on new values.",
    epilog="Example: gradraker update --model model.gr --values new.csv --out predicted.csv",
)
@click.option(
    "--model", type=FileName(), required=True, metavar="FILE", help="Model that predict wrote."
)
@new_edges_option
@add_values_option(required=False, text="New values; those already learned are passed over.")
@attributes_option
@click.option(
    "--forget-value",
    "forget_values",
    multiple=True,
    metavar="NODE",
    help="Take back the value of a node; may be given several times.",
)
@click.option(
    "--forget-node",
    "forget_nodes",
    multiple=True,
    metavar="NODE",
    help="Remove a node with its edges and its value.",
)
@click.option(
    "--forget-edge",
    "forget_edges",
    multiple=True,
    nargs=2,
    metavar="SOURCE TARGET",
    help="Remove an edge.",
)
@click.option("--again", is_flag=True, help="Learn also what was already learned, once more.")
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@click.option(
    "--save-as",
    type=FileName(),
    metavar="FILE",
    help="Write the model here; default the file of --model.",
)
@device_option
@report_options
@prediction_options
@file_options
@add_top_option(0)
@unknown_or_isolated_option
@output_options
def update(
    model: str,
    edges: str | None,
    values: str | None,
    attributes: str | None,
    forget_values: tuple[str, ...],
    forget_nodes: tuple[str, ...],
    forget_edges: tuple[tuple[str, str], ...],
    again: bool,
    out: str | None,
    report: str | None,
    save_as: str | None,
    device: str | None,
    top: int,
    unknown_nodes: Any,
    raw_names: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Teach a saved model new edges, values and attributes, or let it forget, and predict.

    The model holds its graph, and takes the edges as more of it. New values are predicted
    before they are learned, which gives an honest error. What --forget-value, --forget-node and
    --forget-edge name is removed first, as if it had never been there. With none of these, the
    model only predicts. Intervals, bounds, title and unit are those of predict, unless they are
    given anew. A model of several columns takes those of its columns that --value names, or all.
    """
    if "-" in (model, save_as):
        raise click.UsageError("--model and --save-as cannot be '-': give the name of a file")
    how = take_file_options(options)
    inputs = {"edges": edges, "values": values, "attributes": attributes}
    check_streams(**inputs, explain_nodes=options["explain_nodes"])
    check_streams(out=out, report=report, json="-" if as_json else None)
    check_distinct(inputs | {"model": model}, {"out": out, "report": report})
    check_distinct(inputs | {"out": out, "report": report}, {"save-as": save_as})
    target = model if save_as is None else save_as
    check_writable(out, report, target)
    from gradraker._files import lock_file

    def say_waiting() -> None:
        waiting.show_stage("waiting for another process that writes the model")

    # Nobody else writes the file between the moments when it is read and written.
    with Waiting() as waiting, lock_file(target, on_wait=say_waiting):
        waiting.show_stage("reading the model")
        from gradraker.cli.nodes import several_targets
        from gradraker.report import summarize_predictions, summarize_update
        from gradraker.workflow import predict_all

        saved = load_node_model(model, device=device)
        if saved.value_kind.task == "classes":
            refuse_number_options(options)
        if not saved.target_names_:
            several_targets.refuse_targets(how.value)
        options, kept = _take_notes(options, model)
        if again and not saved.learns_by_steps:
            raise click.UsageError("--again is for models of SKG: this one holds each value once")
        how = replace(how, task=saved.value_kind.task, directed=saved.is_directed_)
        removed = {"values": forget_values, "nodes": forget_nodes, "edges": forget_edges}
        _check_forgotten(saved, removed)
        if saved.target_names_:
            options |= {"unknown_nodes": unknown_nodes, "forget": removed}
            results = several_targets.update_targets(saved, inputs, how, options, waiting)
            shown: dict[str, Any] = {"top": top, "raw_names": raw_names, "as_json": as_json}
            files = {"out": out, "report": report, "model": target}
            page_options = take_page_options(options)
            shown |= {"notes": kept, "inputs": inputs, "waiting": waiting}
            several_targets.write_targets(results, files, page_options, **shown)
            return
        found = _learn_files(saved, inputs, how, removed, again, unknown_nodes, waiting)
        result = predict_all(saved, **{name: options[name] for name in _SHAPE})
        facts = summarize_update(found, result, n_contributors=top)
        waiting.show_stage("explaining")

        def make_text() -> str:
            files = {name: file for name, file in inputs.items() if file is not None}
            summary = summarize_predictions(result, n_contributors=top, inputs=files)
            return make_page(result, summary, take_page_options(options), model_file=target)

        outputs = Outputs(out, report)
        outputs.make(list_prediction_rows(result, top=top, raw_names=raw_names), make_text)
        waiting.show_stage("writing")
        changed = bool(found.learned) or found.graph_changed or found.n_forgotten > 0
        is_written = changed or save_as is not None
        outputs.write(target if is_written else None, lambda file: saved.write_to(file, notes=kept))
    if as_json:
        echo_json(facts)
        return
    _print_tables(facts, changed=changed, to_stderr=outputs.to_stderr)
    outputs.echo(target if changed else save_as)


def _check_forgotten(model: "NodeModel", removed: Mapping[str, Any]) -> None:
    """Refuse to forget what the model does not hold, by the name of the option."""
    if not any(removed.values()):
        return
    nodes, known = set(model.nodes_.tolist()), set(model.known_nodes_.tolist())
    named = {"value": removed["values"], "node": removed["nodes"]}
    named["edge"] = [name for edge in removed["edges"] for name in edge]
    for kind, names in named.items():
        for name in names:
            if name not in nodes:
                raise ValueError(
                    f"--forget-{kind}: {name!r} is not in the graph that the model has learned"
                )
            if kind == "value" and name not in known:
                raise ValueError(f"--forget-value: the value of {name!r} is not known")


def _learn_files(
    model: "NodeModel",
    files: dict[str, str | None],
    how: FileOptions,
    removed: dict[str, Any],
    again: bool,
    unknown_nodes: Any,
    waiting: Waiting,
) -> "Update":
    """Read the files and teach the model what they hold."""
    from gradraker.models import watch_progress
    from gradraker.workflow import update_nodes

    edges, values = files["edges"], files["values"]
    graph = None if edges is None else read_edges_file(edges, waiting, how)
    given = {} if values is None else read_values_file(values, waiting, how)
    described = read_attributes_table(files["attributes"], waiting)
    waiting.show_stage("training")
    with reword_errors(values, isolated=True), tell_warnings(waiting):
        waiting.set_file("")
        with watch_progress(waiting.show_progress):
            return update_nodes(
                model,
                graph,
                given,
                attributes=described,
                unknown_nodes=unknown_nodes,
                relearn=again,
                forget=removed,
            )


# What predictions look like, and what a model keeps of predict for predictions and pages.
_SHAPE = ("coverage", "lower", "upper")
_KEPT = (*_SHAPE, "title", "unit")


def _take_notes(options: dict[str, Any], model: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return options with what predict was given where nothing is given now, and all notes."""
    from gradraker.models import read_notes

    notes = read_notes(model)
    chosen = {n: notes.get(n) if options[n] is None else options[n] for n in _KEPT}
    return options | chosen, notes | chosen


def _print_tables(facts: dict[str, Any], *, changed: bool, to_stderr: bool) -> None:
    in_all = f"{shorten(facts['known'])} known"
    if "steps" in facts:
        in_all = f"{shorten(facts['steps'])} steps"
    listed = [
        ("Graph", format_graph(facts)),
        ("Learned", f"{shorten(facts['learned'])} new values, {in_all} in all"),
    ]
    if facts["forgotten"]:
        listed.append(("Forgotten", f"{shorten(facts['forgotten'])} values, nodes and edges"))
    if facts["passed_over"]:
        listed.append(("Passed over", f"{shorten(facts['passed_over'])} values, learned before"))
    if facts.get("accuracy_before") is not None:
        right, common = shorten(facts["accuracy_before"]), shorten(facts["accuracy_of_most_common"])
        text = f"{right} on the new values before learning ({common} by the most common class)"
        listed.append(("Accuracy", text))
    if facts.get("rmse_before") is not None:
        before, mean = shorten(facts["rmse_before"]), shorten(facts["rmse_of_mean"])
        listed.append(("RMSE", f"{before} on the new values before learning ({mean} by the mean)"))
    page = make_console(to_stderr=to_stderr)
    page.print(make_facts_table("Model updated" if changed else "Model unchanged", listed))
    first = make_predictions_table(facts["predictions"])
    if first is not None:
        page.print(first)
