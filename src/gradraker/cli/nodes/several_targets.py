"""Several columns of values, learned together: ``predict --value a,b``, and ``update``."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from gradraker._columns import ColumnNumber
from gradraker.cli.output import make_facts_table, make_rows_table, shorten

if TYPE_CHECKING:
    from rich.table import Table


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
