"""Several columns of values, learned together: ``predict --value a,b``, and ``update``."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import FileOptions, read_values_file
from gradraker.cli.output import (
    BOUND_OPTIONS,
    Results,
    StatusLine,
    Summaries,
    make_facts_table,
    make_rows_table,
    shorten,
)
from gradraker.graph.adapters.columns import ColumnNumber

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.models import NodeModel


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
    """Refuse several columns, for commands that take one."""
    if targets := list_targets(value):
        raise click.UsageError(
            f"--value names {len(targets)} columns, and this command takes one: --value "
            f"{targets[0]}; gradraker predict takes several"
        )


def read_targets(
    path: str, targets: Sequence[Hashable], status: StatusLine, how: FileOptions
) -> dict[str, dict[str, float]]:
    """Read several columns of values, by the name of the node and of the column."""
    if path == "-":
        raise click.UsageError("--values cannot be '-' with several columns: give a file")
    found: dict[str, dict[str, float]] = {}
    for target in targets:
        name = target if isinstance(target, ColumnNumber) else ColumnNumber(str(target))
        column = read_values_file(path, status, replace(how, value=name, task="values"))
        for node, number in column.items():
            found.setdefault(str(node), {})[name.text] = float(number)
    return found


def predict_results(model: "NodeModel", options: Mapping[str, Any]) -> Results:
    """Predict all nodes, with the intervals and bounds of the options."""
    from gradraker.workflow import predict_all, predict_targets

    bounds = {name: options[name] for name in BOUND_OPTIONS}
    if not model.target_names_:
        return {None: predict_all(model, **bounds)}
    return {str(target): result for target, result in predict_targets(model, **bounds).items()}


def check_method(method: str, task: str | None) -> None:
    """Refuse several columns for models and tasks that take one."""
    if method != "nodes" or task == "classes":
        raise click.UsageError(
            "--value names several columns: --method nodes predicts them, as numbers"
        )


def summarize_targets(results: Results, summaries: Summaries) -> dict[str, Any]:
    """Return the facts of all targets, ready for JSON."""
    facts = next(iter(results.values())).model.describe()
    first = next(iter(summaries.values()))
    return {
        "graph": first["graph"],
        "choice": facts["choice"],
        "coverage": first["coverage"],
        "bounds": first["bounds"],
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
            for error in [summary["held_out"] or {}]  # None with too few known values
        ],
    }


def list_tables(facts: Mapping[str, Any]) -> "Iterator[Table]":
    """Yield tables of the facts of all targets."""
    kernel = ", ".join(dict.fromkeys(term["block"] for term in facts["choice"]["kernel"]))
    listed = [
        ("Graph", f"{shorten(facts['graph']['nodes'])} nodes"),
        ("Compared by", kernel or "nothing: every node gets about the mean"),
    ]
    yield make_facts_table("Several columns, learned together", listed)
    headings = ["Target", "Known", "RMSE", "RMSE of the mean", "Weights add up in"]
    rows = [
        [
            *(row["target"], row["known"]),
            *("" if error is None else error for error in (row["rmse"], row["rmse_of_mean"])),
            row["scale"],
        ]
        for row in facts["targets"]
    ]
    yield make_rows_table("Errors of known nodes that were left out", headings, rows)
