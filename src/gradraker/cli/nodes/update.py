"""``gradraker update``: teach a saved model new edges and values."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli import options as shared
from gradraker.cli.inputs import (
    FileOptions,
    check_distinct,
    check_files,
    check_writable,
    load_node_model,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    take_file_options,
    watch_training,
)
from gradraker.cli.option_groups import FILE_OPTIONS, PAGE_OPTIONS, GroupedCommand
from gradraker.cli.output import (
    BOUND_OPTIONS,
    StatusLine,
    Summaries,
    format_graph,
    make_facts_table,
    make_predictions_table,
    shorten,
    show_facts,
    take_page_options,
    write_results,
)

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.models import NodeModel
    from gradraker.workflow import Update


def _add_forgotten(kind: str, text: str, **more: Any) -> shared.Decorator:
    settings: Any = {"multiple": True, "metavar": "NODE", "help": text} | more
    return click.option(f"--forget-{kind}", f"forget_{kind}s", **settings)


@click.command(
    cls=GroupedCommand,
    groups={"Reading files": FILE_OPTIONS, "The page of --report": PAGE_OPTIONS},
    short_help="Teach a saved model new values, and predict.",
    epilog="Example: gradraker update --model model.gr --values new.csv --out predicted.csv",
)
@shared.add_file("--model", "Model that predict saved.", required=True)
@shared.add_edges(more=" They are added to the model's graph.")
@shared.add_values("New values; those already learned are skipped.")
@shared.attributes_option
@_add_forgotten("value", "Remove the value of a node; may be repeated.")
@_add_forgotten("node", "Remove a node with its edges and its value.")
@_add_forgotten("edge", "Remove an edge.", nargs=2, metavar="SOURCE TARGET")
@click.option("--again", is_flag=True, help="Learn values that were already learned again.")
@shared.out_option
@shared.add_file("--save-as", "Write the model here; default the file of --model.")
@shared.device_option
@shared.report_options
@shared.prediction_options
@shared.file_options
@shared.add_top(0)
@shared.add_unknown_nodes()
@shared.output_options
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

    The model holds its graph, to which the edges are added. New values are predicted before they
    are learned, which gives an honest error. Values, nodes and edges of the --forget options are
    removed first, as if they had never existed. With none of these options, the model only
    predicts. Intervals, bounds, title and unit are those of predict, unless they are given again.
    For a model of several columns, --value names the columns to learn; default all.
    """
    if "-" in (model, save_as):
        raise click.UsageError("--model and --save-as cannot be '-': give the name of a file")
    how = take_file_options(options)
    inputs = {"edges": edges, "values": values, "attributes": attributes}
    read = inputs | {"model": model, "explain-nodes": options["explain_nodes"]}
    files = {"out": out, "report": report}
    check_files(read, files, as_json=as_json)
    check_distinct(inputs | files, {"save-as": save_as})
    target = model if save_as is None else save_as
    check_writable({"model": target})
    from gradraker._locks import lock_file

    def show_wait() -> None:
        status.show_stage("waiting for another process that writes the model")

    # No other process may write the file between reading and writing it.
    with StatusLine() as status, lock_file(target, on_wait=show_wait):
        status.show_stage("reading the model")
        from gradraker.cli.nodes import several_targets
        from gradraker.report import summarize_predictions, summarize_update

        saved = load_node_model(model, device=device)
        if saved.value_kind.task == "classes":
            shared.refuse_number_options(options)
        if not saved.target_names_:
            several_targets.refuse_targets(how.value)
        options, notes = _take_notes(options, model)
        if again and not saved.learns_by_steps:
            raise click.UsageError("--again is for models of SKG: this one holds each value once")
        how = replace(how, task=saved.value_kind.task, directed=saved.is_directed_)
        removed = {"values": forget_values, "nodes": forget_nodes, "edges": forget_edges}
        _check_forgotten(saved, removed)
        learned = _learn_files(saved, inputs, how, removed, again, unknown_nodes, status)
        results = several_targets.predict_results(saved, options)

        @cache
        def summarize() -> Summaries:
            used: Any = {name: file for name, file in inputs.items() if file is not None}
            return {
                name: summarize_predictions(result, n_contributors=top, inputs=used)
                for name, result in results.items()
            }

        changed = learned is None or learned.has_changed
        if learned is None:
            facts = several_targets.summarize_targets(results, summarize())
        else:
            facts = summarize_update(learned, results[None], n_contributors=top)
        is_written = changed or save_as is not None
        write_results(
            results,
            summarize,
            files | {"model": target},
            take_page_options(options),
            top=top,
            raw_names=raw_names,
            write_model=(lambda file: saved.write_to(file, notes=notes)) if is_written else None,
            status=status,
        )
    show_facts(
        facts,
        several_targets.list_tables if learned is None else partial(_list_tables, changed=changed),
        as_json=as_json,
        files={"Predictions": out, "Report": report, "Model": target if is_written else None},
    )


def _check_forgotten(model: "NodeModel", removed: Mapping[str, Any]) -> None:
    """Refuse to forget nodes and values that the model does not have."""
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
    status: StatusLine,
) -> "Update | None":
    """Teach the model the content of the files; return None for a model of several targets."""
    from gradraker.cli.nodes.several_targets import list_targets, read_targets
    from gradraker.workflow import update_nodes

    edges, values, targets = files["edges"], files["values"], model.target_names_
    graph = None if edges is None else read_edges_file(edges, status, how)
    known: Any = None
    if values is not None and targets:
        own = [str(name) for name in targets] if how.value is None else [how.value]
        known = read_targets(values, list_targets(how.value) or own, status, how)
    elif values is not None:
        known = read_values_file(values, status, how)
    described = read_attributes_table(files["attributes"], status)
    more: Any = {"attributes": described, "unknown_nodes": unknown_nodes}
    with watch_training(values, status):
        if not targets:
            return update_nodes(model, graph, known, **more, relearn=again, forget=removed)
        forgotten = {name: list(items) for name, items in removed.items() if items}
        if forgotten:
            model.forget(**forgotten)
        if graph is not None or known is not None or described is not None:
            model.partial_fit(graph, known, **more)
    return None


# Options of predict that a model keeps for predictions and pages.
_KEPT_OPTIONS = (*BOUND_OPTIONS, "title", "unit")


def _take_notes(options: dict[str, Any], model: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options, completed with those kept from predict, and the new notes."""
    from gradraker.models import read_notes

    notes = read_notes(model)
    chosen = {n: notes.get(n) if options[n] is None else options[n] for n in _KEPT_OPTIONS}
    return options | chosen, notes | chosen


def _list_tables(facts: dict[str, Any], *, changed: bool) -> "Iterator[Table]":
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
        listed.append(("Skipped", f"{shorten(facts['passed_over'])} values, learned before"))
    if facts.get("accuracy_before") is not None:
        share, common = shorten(facts["accuracy_before"]), shorten(facts["accuracy_of_most_common"])
        text = f"{share} on the new values before learning ({common} by the most common class)"
        listed.append(("Accuracy", text))
    if facts.get("rmse_before") is not None:
        before, mean = shorten(facts["rmse_before"]), shorten(facts["rmse_of_mean"])
        listed.append(("RMSE", f"{before} on the new values before learning ({mean} by the mean)"))
    yield make_facts_table("Model updated" if changed else "Model unchanged", listed)
    yield from make_predictions_table(facts["predictions"])
