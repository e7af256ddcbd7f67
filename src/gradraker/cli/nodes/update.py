"""``gradraker update``: teach a saved model new edges and values."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker._columns import ColumnNumber
from gradraker.cli import options as shared
from gradraker.cli.inputs import (
    FileOptions,
    check_distinct,
    check_files,
    check_writable,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    take_file_options,
    watch_training,
)
from gradraker.cli.nodes.several_targets import list_tables, list_targets, refuse_targets
from gradraker.cli.option_groups import FILE_OPTIONS, PAGE_OPTIONS, GroupedCommand
from gradraker.cli.output import (
    BOUND_OPTIONS,
    StatusLine,
    Summaries,
    format_graph,
    make_facts_table,
    make_predictions_table,
    make_printable,
    shorten,
    show_facts,
    take_page_options,
    write_results,
)

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.models import NodeModel


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
    removed = {"values": forget_values, "nodes": forget_nodes, "edges": forget_edges}
    learning: Any = {"unknown_nodes": unknown_nodes, "relearn": again, "forget": removed}
    with (
        StatusLine() as status,
        watch_training(values, status),
        gradraker.workflow.update_file(
            model,
            lambda saved: _read_changes(saved, inputs, how, options, device, learning, status),
            save_as=save_as,
            notes={name: options[name] for name in _KEPT_OPTIONS},
            on_stage=status.show_stage,
        ) as found,
    ):
        results = {None if t is None else str(t): result for t, result in found.results.items()}

        def summarize() -> Summaries:
            used: Any = {name: file for name, file in inputs.items() if file is not None}
            return {
                name: gradraker.report.summarize_predictions(
                    result, n_contributors=top, inputs=used
                )
                for name, result in results.items()
            }

        facts = gradraker.report.summarize_update(found.update, results, n_contributors=top)
        is_written = found.update.has_changed or save_as is not None
        write_results(
            results,
            summarize,
            files | {"model": target},
            take_page_options(options | {name: found.notes[name] for name in _KEPT_OPTIONS}),
            top=top,
            raw_names=raw_names,
            write_model=found.write_model if is_written else None,
            status=status,
        )
    show_facts(
        facts,
        partial(_list_tables, changed=found.update.has_changed),
        as_json=as_json,
        files={"Predictions": out, "Report": report, "Model": target if is_written else None},
    )


def _read_changes(
    model: "NodeModel",
    files: dict[str, str | None],
    how: FileOptions,
    options: dict[str, Any],
    device: str | None,
    learning: dict[str, Any],
    status: StatusLine,
) -> dict[str, Any]:
    """Refuse options that the model does not have, and read the files as it needs them."""
    if device is not None:
        if not model.can_take("device"):
            raise click.UsageError("--device is for node models: SKG computes on the processor")
        model.set_params(device=device)
    if model.value_kind.task == "classes":
        shared.refuse_number_options(options)
    if learning["relearn"] and not model.learns_by_steps:
        raise click.UsageError("--again is for models of SKG: this one holds each value once")
    targets = model.target_names_
    if not targets:
        refuse_targets(how.value)
    else:
        wanted = list_targets(how.value) or ([how.value] if how.value is not None else targets)
        columns = [c if isinstance(c, ColumnNumber) else ColumnNumber(str(c)) for c in wanted]
        how = replace(how, value=columns)
    how = replace(how, task=model.value_kind.task, directed=model.is_directed_)
    edges, values = files["edges"], files["values"]
    return learning | {
        "graph": None if edges is None else read_edges_file(edges, status, how),
        "values": None if values is None else read_values_file(values, status, how),
        "attributes": read_attributes_table(files["attributes"], status),
    }


# Options of predict that a model keeps for predictions and pages.
_KEPT_OPTIONS = (*BOUND_OPTIONS, "title", "unit")


def _list_tables(facts: dict[str, Any], *, changed: bool) -> "Iterator[Table]":
    title = "Model updated" if changed else "Model unchanged"
    if "targets" in facts:
        yield make_facts_table(title, _list_learned_facts(facts, ""))
        yield from list_tables(facts)
        return
    in_all = f"{shorten(facts['known'])} known"
    if "steps" in facts:
        in_all = f"{shorten(facts['steps'])} steps"
    listed = [("Graph", format_graph(facts)), *_list_learned_facts(facts, f", {in_all} in all")]
    if facts.get("accuracy_before") is not None:
        share, common = shorten(facts["accuracy_before"]), shorten(facts["accuracy_of_most_common"])
        text = f"{share} on the new values before learning ({common} by the most common class)"
        listed.append(("Accuracy", text))
    if facts.get("rmse_before") is not None:
        before, mean = shorten(facts["rmse_before"]), shorten(facts["rmse_of_mean"])
        listed.append(("RMSE", f"{before} on the new values before learning ({mean} by the mean)"))
    yield make_facts_table(title, listed)
    yield from make_predictions_table(facts["predictions"])


def _list_learned_facts(facts: dict[str, Any], in_all: str) -> list[tuple[str, str]]:
    listed = [("Learned", f"{shorten(facts['learned'])} new values{in_all}")]
    if facts["forgotten"]:
        listed.append(("Forgotten", f"{shorten(facts['forgotten'])} values, nodes and edges"))
    if facts["passed_over"]:
        listed.append(("Skipped", f"{shorten(facts['passed_over'])} values, learned before"))
    for row in facts.get("targets", []):
        if row["rmse_before"] is not None:
            before, mean = shorten(row["rmse_before"]), shorten(row["rmse_before_of_mean"])
            text = f"{before} on the new values before learning ({mean} by the mean)"
            listed.append((f"RMSE of {make_printable(row['target'])}", text))
    return listed
