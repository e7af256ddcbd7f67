"""Several columns of values, learned together: ``predict --value a,b``, and ``update``."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from gradraker.cli.inputs import (
    FileOptions,
    read_attributes_table,
    read_edges_file,
    read_values_file,
    read_weights,
    reword_errors,
    tell_warnings,
    to_graph_options,
)
from gradraker.cli.output import (
    echo_json,
    list_column_rows,
    make_console,
    make_csv,
    write_outputs,
)
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten
from gradraker.graph.adapters.columns import ColumnNumber

if TYPE_CHECKING:
    from gradraker import NodeRegressor
    from gradraker.graph import EdgeList


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


@dataclass(frozen=True, eq=False)
class TargetPredictions:
    """Predictions of several targets for all nodes of a graph."""

    model: "NodeRegressor"
    predictions: NDArray[np.float64]  # [n, K]
    intervals: NDArray[np.float64] | None  # [n, K, 2]

    def list_columns(self) -> dict[str, NDArray[Any]]:
        """Return node, and value, prediction and interval of each target, as columns."""
        model = self.model
        columns: dict[str, NDArray[Any]] = {"node": model.nodes_}
        for j, target in enumerate(model.target_names_):
            columns[f"value_{target}"] = model.values_[:, j]
            columns[f"prediction_{target}"] = self.predictions[:, j]
            if self.intervals is not None:
                columns[f"lower_{target}"] = self.intervals[:, j, 0]
                columns[f"upper_{target}"] = self.intervals[:, j, 1]
        return columns

    def summarize(self) -> dict[str, Any]:
        """Return the facts that are printed, as JSON can hold them."""
        errors = self.model.left_out_error_
        known = (~np.isnan(self.model.values_)).sum(axis=0).tolist()
        listed = zip(self.model.target_names_, known, strict=True)
        return {
            "graph": {"nodes": len(self.model.nodes_)},
            "choice": self.model.describe()["choice"],
            "targets": [
                {
                    "target": str(target),
                    "known": n_known,
                    "scale": self.model.transform_[target],
                    "rmse": errors[target].rmse if n_known > 1 else None,
                    "rmse_of_mean": errors[target].rmse_of_mean if n_known > 1 else None,
                }
                for target, n_known in listed
            ],
        }


def predict_targets(
    targets: list[str], edges: str, values: str, how: FileOptions, options: dict[str, Any]
) -> TargetPredictions:
    """Read the files, fit one model to all targets and predict all nodes."""
    with Waiting() as waiting:
        waiting.show_stage("starting")
        from gradraker.models import watch_progress

        graph = read_edges_file(edges, waiting, how)
        known = read_targets(values, targets, waiting, how)
        trust = replace(how, value=options["sample_weight"])
        options["sample_weight"] = read_weights(values, waiting, trust)
        options["attributes"] = read_attributes_table(options["attributes"], waiting)
        waiting.show_stage("training")
        settings = to_graph_options(
            self_loops=options["self_loops"],
            unweighted=options["unweighted"],
            directed=how.directed,
        )
        with reword_errors(values, isolated=True), tell_warnings(waiting):
            waiting.set_file("")
            with watch_progress(waiting.show_progress):
                return _train(graph, known, options, settings)


def _train(
    graph: "EdgeList",
    known: Mapping[str, Mapping[str, float]],
    options: dict[str, Any],
    settings: dict[str, Any],
) -> TargetPredictions:
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


def _predict_all(model: "NodeRegressor", options: Mapping[str, Any]) -> TargetPredictions:
    """Predict all nodes, with the intervals and bounds that are asked for."""
    lower = -np.inf if options["lower"] is None else options["lower"]
    upper = np.inf if options["upper"] is None else options["upper"]
    if options["coverage"] is None:
        return TargetPredictions(model, np.clip(model.predict(model.nodes_), lower, upper), None)
    found, ends = model.predict(model.nodes_, return_interval=True, coverage=options["coverage"])
    return TargetPredictions(model, np.clip(found, lower, upper), np.clip(ends, lower, upper))


def update_targets(
    model: "NodeRegressor",
    files: Mapping[str, str | None],
    how: FileOptions,
    options: Mapping[str, Any],
    waiting: Waiting,
) -> TargetPredictions:
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


def check_outputs(*, report: str | None, top: int) -> None:
    """Refuse what only one target has."""
    if report is not None or top:
        raise click.UsageError(
            "--report and --top are for one column of values: run 'gradraker predict' once for "
            "each column, with one --value"
        )


def write_targets(
    result: TargetPredictions,
    *,
    out: str | None,
    model: str | None,
    raw_names: bool,
    as_json: bool,
    notes: Mapping[str, Any],
) -> None:
    """Write the table and the model with notes for update, and print the facts."""
    rows = list(list_column_rows(result.list_columns(), raw_names=raw_names))

    def write_model(file: Any) -> None:
        result.model.write_to(file, notes=dict(notes))

    write_outputs([(model, write_model), (out, make_csv(rows))])
    summary = result.summarize()
    if as_json:
        echo_json(summary)
        return
    page = make_console(to_stderr=out == "-")
    kernel = ", ".join(dict.fromkeys(term["block"] for term in summary["choice"]["kernel"]))
    facts = [
        ("Graph", f"{shorten(summary['graph']['nodes'])} nodes"),
        ("Compared by", kernel or "nothing: every node gets about the mean"),
    ]
    page.print(make_facts_table("Several columns, learned together", facts))
    headings = ["Target", "Known", "RMSE", "RMSE of the mean", "Weights add up in"]
    listed = [
        [one["target"], one["known"], one["rmse"], one["rmse_of_mean"], one["scale"]]
        for one in summary["targets"]
    ]
    page.print(make_rows_table("Errors of known nodes that were left out", headings, listed))
    for what, file in (("Predictions", out), ("Model", model)):
        if file not in (None, "-"):
            click.echo(f"{what}: {file}", err=out == "-")
