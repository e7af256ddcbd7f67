"""What predict and update write: the table of predictions and the page, with its options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import click

from gradraker.cli.output import (
    Results,
    Write,
    list_target_rows,
    make_csv,
    make_text,
    write_outputs,
)
from gradraker.cli.progress import Waiting

# What predictions look like: intervals and bounds.
SHAPE = ("coverage", "lower", "upper")
Summaries: TypeAlias = Mapping[Any, dict[str, Any]]  # by target


@dataclass(frozen=True)
class PageOptions:
    """What a page is called, how it writes numbers, and which nodes it explains."""

    title: str | None = None
    unit: str | None = None
    number_language: str = "si"
    explain_nodes: str | None = None

    def to_notes(self) -> dict[str, Any]:
        """Return what a model keeps for the page of an update."""
        return {"title": self.title, "unit": self.unit}


def take_page_options(options: dict[str, Any]) -> PageOptions:
    """Take the options of a page out of those of a command."""
    names = ("title", "unit", "number_language", "explain_nodes")
    return PageOptions(**{name: options.pop(name) for name in names})


def split_units(unit: str | None, targets: Sequence[str]) -> dict[str, str]:
    """Return the unit of each target: one for all, or one for each between commas.

    Examples
    --------
    >>> from gradraker.cli.page import split_units
    >>> split_units("years,CHF", ["age", "income"])
    {'age': 'years', 'income': 'CHF'}
    """
    given = [one.strip() for one in (unit or "").split(",")]
    if len(given) not in (1, len(targets)):
        raise click.UsageError(
            f"--unit names {len(given)} units for {len(targets)} columns of values: give one for "
            "all, or one for each"
        )
    return dict(zip(targets, given if len(given) > 1 else given * len(targets), strict=True))


def write_results(
    results: Results,
    summarize: Callable[[], Summaries],
    files: Mapping[str, str | None],
    options: PageOptions,
    *,
    top: int,
    raw_names: bool,
    write_model: Write | None,
    waiting: Waiting,
) -> None:
    """Write the table of predictions, the page and the model: all files or none.

    Everything is made before anything is written: an error leaves all files as they were.
    """
    page, rows = "", list_target_rows(results, top=top, raw_names=raw_names)
    waiting.show_stage("explaining")
    if files["report"] is not None:
        page = _make_page(results, summarize(), options, model_file=files["model"])
    made = [] if files["out"] is None else list(rows)
    waiting.show_stage("writing")
    write_outputs(
        [
            (files["model"], write_model),
            (files["report"], make_text(page)),
            (files["out"], make_csv(made)),
        ]
    )


def _make_page(
    results: Results, summaries: Summaries, options: PageOptions, *, model_file: str | None
) -> str:
    from gradraker.exceptions import UnknownNodesError, format_names
    from gradraker.report import build_explorer, render_predictions, render_targets

    names = [] if options.explain_nodes is None else read_names(options.explain_nodes)
    told: Any = {"explain_nodes": names, "model_file": model_file, "n_targets": len(results)}
    try:
        explorers: Any = {name: build_explorer(one, **told) for name, one in results.items()}
    except UnknownNodesError as error:
        listed = format_names(error.nodes)
        raise ValueError(
            f"{options.explain_nodes}: the graph does not have the nodes {listed}"
        ) from error
    look: Any = {"title": options.title, "number_language": options.number_language}
    if None in results:
        return render_predictions(
            summaries[None], explorer=explorers[None], unit=options.unit, **look
        )
    targets = [str(name) for name in results]
    units = split_units(options.unit, targets)
    return render_targets(summaries, explorers=explorers, units=units, **look)


def read_names(path: str) -> list[str]:
    """Read names of nodes, one per line."""
    text = Path(path).read_text(encoding="utf-8-sig")
    return [line for line in text.splitlines() if line.strip()]
