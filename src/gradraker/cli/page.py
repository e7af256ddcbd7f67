"""What predict and update write: the table of predictions and the page, with its options."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.output import (
    Write,
    make_csv,
    make_text,
    write_outputs,
)

if TYPE_CHECKING:
    from gradraker.workflow import NodePredictions


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


def make_page(
    result: "NodePredictions",
    summary: dict[str, Any],
    options: PageOptions,
    *,
    model_file: str | None,
) -> str:
    """Return the page of predictions."""
    from gradraker.report import render_predictions

    return render_predictions(
        summary,
        explorer=_make_explorer(result, options, model_file=model_file),
        title=options.title,
        unit=options.unit,
        number_language=options.number_language,
    )


def make_targets_page(
    results: "Mapping[str, NodePredictions]",
    summaries: Mapping[str, dict[str, Any]],
    options: PageOptions,
    *,
    model_file: str | None,
) -> str:
    """Return the page of predictions of several targets."""
    from gradraker.report import render_targets

    return render_targets(
        summaries,
        explorers={
            name: _make_explorer(one, options, model_file=model_file, n_targets=len(results))
            for name, one in results.items()
        },
        title=options.title,
        units=split_units(options.unit, list(results)),
        number_language=options.number_language,
    )


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


def _make_explorer(
    result: "NodePredictions",
    options: PageOptions,
    *,
    model_file: str | None,
    n_targets: int = 1,
) -> dict[str, Any]:
    from gradraker.exceptions import UnknownNodesError, format_names
    from gradraker.report import build_explorer

    names = [] if options.explain_nodes is None else read_names(options.explain_nodes)
    try:
        return build_explorer(
            result, explain_nodes=names, model_file=model_file, n_targets=n_targets
        )
    except UnknownNodesError as error:
        listed = format_names(error.nodes)
        raise ValueError(
            f"{options.explain_nodes}: the graph does not have the nodes {listed}"
        ) from error


class Outputs:
    """A table of predictions and a page, made before anything is written.

    Parameters
    ----------
    out, report : str or None
        Files of the table and of the page; "-" is standard output.
    """

    def __init__(self, out: str | None, report: str | None) -> None:
        self.out, self.report = out, report
        self.to_stderr = "-" in (out, report)  # where everything else is printed
        self._rows: list[Sequence[object]] = []
        self._page = ""

    def make(self, rows: Iterable[Sequence[object]], render_page: Callable[[], str]) -> None:
        """Make what is asked for: rows of the table, which may be lazy, and the page."""
        if self.report is not None:
            self._page = render_page()
        if self.out is not None:
            self._rows = list(rows)

    def write(self, model: str | None, write_model: Write) -> None:
        """Write the model, if there is a path for it, and what was made: all files or none."""
        write_outputs(
            [
                (model, write_model),
                (self.report, make_text(self._page)),
                (self.out, make_csv(self._rows)),
            ]
        )

    def echo(self, model: str | None) -> None:
        """Name the files that were written."""
        for what, file in (("Predictions", self.out), ("Report", self.report), ("Model", model)):
            if file not in (None, "-"):
                # Not through rich, which would break a long path into lines.
                click.echo(f"{what}: {file}", err=self.to_stderr)


def read_names(path: str) -> list[str]:
    """Read names of nodes, one per line."""
    text = Path(path).read_text(encoding="utf-8-sig")
    return [line for line in text.splitlines() if line.strip()]
