"""Several columns of values, learned together: ``predict --value a,b``, and ``update``."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from gradraker.cli.inputs import (
    FileOptions,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    read_weights,
    reword_errors,
    tell_attributes,
    tell_warnings,
    to_graph_options,
)
from gradraker.cli.output import echo_json, list_target_rows, make_console
from gradraker.cli.page import Outputs, PageOptions, make_targets_page
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten
from gradraker.graph.adapters.columns import ColumnNumber

if TYPE_CHECKING:
    from gradraker import NodeRegressor
    from gradraker.graph import EdgeList
    from gradraker.workflow import NodePredictions

Results: TypeAlias = "dict[str, NodePredictions]"  # by the name of the target


def list_targets(value: object) -> list[str]:
    """Return the columns that --value names, if it names several.

    Examples
    --------
    >>> from gradraker.cli.nodes.several_targets import list_targets
    >>> list_targets("age, income"), list_targets("age"), list_targets(None)
    (['age', 'income'], [], [])
    """
    text = value.text if isinstance(value, ColumnNumber) else value
    if not isinstance(text, str) or "," not in text:
        return []
    names = [name.strip() for name in text.split(",") if name.strip()]
    if len(set(names)) < len(names):
        raise click.UsageError(f"--value names a column twice: {text}")
    return names if len(names) > 1 else []


def refuse_targets(value: object) -> None:
    """Refuse several columns, in commands that show or learn one."""
    if targets := list_targets(value):
        raise click.UsageError(
            f"--value names {len(targets)} columns, and this command takes one: --value "
            f"{targets[0]}; gradraker predict takes several"
        )


def read_targets(
    path: str, targets: Sequence[Hashable], waiting: Waiting, how: FileOptions
) -> dict[str, dict[str, float]]:
    """Read several columns of values, by the name of the node and of the column."""
    if path == "-":
        raise click.UsageError("--values cannot be '-' with several columns: give a file")
    found: dict[str, dict[str, float]] = {}
    for target in targets:
        name = target if isinstance(target, ColumnNumber) else ColumnNumber(str(target))
        column = read_values_file(path, waiting, replace(how, value=name, task="values"))
        for node, number in column.items():
            found.setdefault(str(node), {})[name.text] = float(number)
    return found


def fit_targets(
    targets: list[str],
    files: Mapping[str, str | None],
    how: FileOptions,
    options: Mapping[str, Any],
    waiting: Waiting,
) -> Results:
    """Read the files, fit one model to all targets and predict all nodes."""
    waiting.show_stage("starting")
    from gradraker.models import watch_progress

    edges, values, described = files["edges"], files["values"], files["attributes"]
    assert edges is not None
    assert values is not None
    graph = read_edges_file(edges, waiting, how)
    known = read_targets(values, targets, waiting, how)
    trust = read_weights(values, waiting, replace(how, value=options["sample_weight"]))
    table = read_attributes_table(described, waiting)
    waiting.show_stage("training")
    settings = to_graph_options(
        self_loops=options["self_loops"],
        unweighted=options["unweighted"],
        directed=how.directed,
    )
    with reword_errors(values, isolated=True), tell_warnings(waiting):
        waiting.set_file("")
        with watch_progress(waiting.show_progress):
            given = {"attributes": table, "sample_weight": trust}
            results = _train(graph, known, dict(options) | given, settings)
    tell_attributes(described, next(iter(results.values())).model, waiting)
    return results


def _train(
    graph: "EdgeList",
    known: Mapping[str, Mapping[str, float]],
    options: dict[str, Any],
    settings: dict[str, Any],
) -> Results:
    from gradraker import NodeRegressor

    given = ("transform", "statistic", "device")
    model = NodeRegressor(
        direction=options["direction"] or "both",
        random_state=options["seed"],
        **{name: options[name] for name in given if options[name]},
    )
    model.fit(
        graph,
        known,
        attributes=options["attributes"],
        sample_weight=options["sample_weight"],
        unknown_nodes=options["unknown_nodes"],
        **settings,
    )
    return _predict_all(model, options)


def _predict_all(model: "NodeRegressor", options: Mapping[str, Any]) -> Results:
    """Predict all nodes, with the intervals and bounds that are asked for."""
    from gradraker.workflow import predict_targets

    shape = {name: options[name] for name in ("coverage", "lower", "upper")}
    return {str(target): one for target, one in predict_targets(model, **shape).items()}


def update_targets(
    model: "NodeRegressor",
    files: Mapping[str, str | None],
    how: FileOptions,
    options: Mapping[str, Any],
    waiting: Waiting,
) -> Results:
    """Let a model forget, teach it what the files hold, and predict all nodes."""
    from gradraker.models import watch_progress

    edges, values = files["edges"], files["values"]
    graph = None if edges is None else read_edges_file(edges, waiting, how)
    known = None
    if values is not None:
        own = [str(name) for name in model.target_names_] if how.value is None else [how.value]
        known = read_targets(values, list_targets(how.value) or own, waiting, how)
    described = read_attributes_table(files["attributes"], waiting)
    removed = {name: list(items) for name, items in options["forget"].items() if items}
    waiting.show_stage("training")
    with reword_errors(values, isolated=True), tell_warnings(waiting):
        waiting.set_file("")
        with watch_progress(waiting.show_progress):
            if removed:
                model.forget(**removed)
            if graph is not None or known is not None or described is not None:
                more = {"attributes": described, "unknown_nodes": options["unknown_nodes"]}
                model.partial_fit(graph, known, **more)
            return _predict_all(model, options)


def check_method(method: str, task: str | None) -> None:
    """Refuse several columns for models and tasks that take one."""
    if method != "nodes" or task == "classes":
        raise click.UsageError(
            "--value names several columns: --method nodes predicts them, as numbers"
        )


def write_targets(
    results: Results,
    files: Mapping[str, str | None],
    page_options: PageOptions,
    *,
    top: int,
    raw_names: bool,
    as_json: bool,
    notes: Mapping[str, Any],
    inputs: Mapping[str, str | None],
    waiting: Waiting,
) -> None:
    """Write the files out, report and model with notes for update, and print the facts."""
    from gradraker.report import summarize_predictions

    read = {name: file for name, file in inputs.items() if file is not None}
    waiting.show_stage("explaining")
    summaries = {
        name: summarize_predictions(one, n_contributors=top, inputs=read)
        for name, one in results.items()
    }
    outputs = Outputs(files["out"], files["report"])
    outputs.make(
        list_target_rows(results, top=top, raw_names=raw_names),
        lambda: make_targets_page(results, summaries, page_options, model_file=files["model"]),
    )
    waiting.show_stage("writing")
    model = next(iter(results.values())).model
    outputs.write(files["model"], lambda file: model.write_to(file, notes=dict(notes)))
    waiting.stop()
    facts = _summarize(results, summaries)
    if as_json:
        echo_json(facts)
        return
    _print_tables(facts, to_stderr=outputs.to_stderr)
    outputs.echo(files["model"])


def _summarize(results: Results, summaries: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the facts of all targets, as JSON can hold them."""
    facts = next(iter(results.values())).model.describe()
    one = next(iter(summaries.values()))
    return {
        "graph": one["graph"],
        "choice": facts["choice"],
        "coverage": one["coverage"],
        "bounds": one["bounds"],
        "targets": [
            {
                "target": name,
                "known": summary["values"]["known"],
                "scale": summary["choice"]["formula"],
                "rmse": error.get("rmse"),
                "rmse_of_mean": error.get("rmse_of_mean"),
                "predictions": summary["predictions"],
            }
            for name, summary in summaries.items()
            for error in [summary["held_out"] or {}]  # none of too few known values
        ],
    }


def _print_tables(facts: Mapping[str, Any], *, to_stderr: bool) -> None:
    page = make_console(to_stderr=to_stderr)
    kernel = ", ".join(dict.fromkeys(term["block"] for term in facts["choice"]["kernel"]))
    listed = [
        ("Graph", f"{shorten(facts['graph']['nodes'])} nodes"),
        ("Compared by", kernel or "nothing: every node gets about the mean"),
    ]
    page.print(make_facts_table("Several columns, learned together", listed))
    headings = ["Target", "Known", "RMSE", "RMSE of the mean", "Weights add up in"]
    rows = [
        [
            *(one["target"], one["known"]),
            *("" if error is None else error for error in (one["rmse"], one["rmse_of_mean"])),
            one["scale"],
        ]
        for one in facts["targets"]
    ]
    page.print(make_rows_table("Errors of known nodes that were left out", headings, rows))
