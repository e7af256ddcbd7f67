"""Output of commands: progress, tables, and files of predictions, pages and models."""

import io
import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self, TypeAlias

import click

import gradraker
from gradraker._files import Output, write_files
from gradraker.exceptions import UnknownNodesError, format_names

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from gradraker.workflow import NodePredictions

# Progress is shown after this time.
DELAY_SECONDS = 1.0
# Rows of a table of predictions.
N_SHOWN = 5
# A function that writes an output to an open binary file.
Write = Callable[[BinaryIO], object]
# Predictions by target; None names the only one.
Results: TypeAlias = "Mapping[str | None, NodePredictions]"


class StatusLine:
    """A line of progress, on a terminal only, for commands that take longer than a second.

    A timer starts it, since training reports nothing while it runs.

    Examples
    --------
    >>> with StatusLine() as status:
    ...     status.show_stage("training")
    ...     status.show_progress("reading", 10, 100)  # for the readers: stage, done, total
    """

    def __init__(self) -> None:
        self._stage = "starting"
        self._file = ""
        self._part: tuple[int, int] | None = None
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._is_stopped = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(DELAY_SECONDS, self._start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the progress line for good."""
        self._timer.cancel()
        with self._lock:
            self._is_stopped = True
            if self._bar is not None:
                self._bar.stop()

    def show_stage(self, stage: str) -> None:
        """Show a stage that takes an unknown time and is not about a file."""
        self._file = ""
        self._show(stage, None)

    def set_file(self, name: str) -> None:
        """Set the file that the next calls of ``show_progress`` are about."""
        self._file = name

    def show_progress(self, stage: str, done: int, total: int) -> None:
        """Show how much of a stage is done."""
        self._show(f"{stage} {self._file}".rstrip(), (done, total))

    def print_note(self, text: str) -> None:
        """Print a permanent line on standard error, above the progress line."""
        with self._lock, suppress(OSError):  # a full disk must not stop the work
            if self._bar is None:
                click.echo(text, err=True)
            else:
                self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _show(self, stage: str, part: tuple[int, int] | None) -> None:
        with self._lock:
            self._stage, self._part = stage, part
            self._update()

    def _update(self) -> None:
        if self._bar is None or self._task is None:
            return
        done, total = (0, None) if self._part is None else self._part
        left = "" if total is None else "left:"
        self._bar.update(
            self._task, description=self._stage, completed=done, total=total, left=left
        )

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        with self._lock:
            if self._is_stopped:  # while rich was loaded
                return
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                TimeRemainingColumn(),  # empty if the total is unknown
                console=Console(stderr=True, markup=False),
                transient=True,
            )
            self._task = self._bar.add_task(self._stage, total=None, left="")
            self._update()
            self._bar.start()


def make_printable(name: object) -> str:
    r"""Return a name without control characters, which a terminal would obey.

    Examples
    --------
    >>> make_printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    text = str(name)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def write_outputs(outputs: Iterable[tuple[str | None, Write | None]]) -> None:
    """Write files, all of them or none, then the outputs whose path is "-" to standard output.

    An output whose path or function is None is skipped.
    """
    wanted = [(path, write) for path, write in outputs if path is not None and write is not None]
    write_files([Output(path, write) for path, write in wanted if path != "-"])
    for path, write in wanted:
        if path == "-":
            write(sys.stdout.buffer)
            sys.stdout.buffer.flush()


def list_prediction_rows(
    result: "NodePredictions", *, top: int, raw_names: bool
) -> Iterator[Sequence[object]]:
    """Yield the header and the rows of the table of predictions."""
    rows = list_column_rows(result.list_columns(), raw_names=raw_names)
    if top <= 0:
        yield from rows
        return
    from gradraker.io.names_in_text import escape_name

    format_name: Callable[[str], str] = str if raw_names else escape_name
    found = result.find_contributors(top)
    n_top = found.weights.shape[1]
    extra = [f"{word}_{i + 1}" for i in range(n_top) for word in ("contributor", "weight")]
    yield [*next(rows), *extra]
    for i, row in enumerate(rows):
        pairs = zip(found.names[i], found.weights[i].tolist(), strict=True)
        yield [*row, *(cell for name, weight in pairs for cell in (format_name(str(name)), weight))]


def list_target_rows(results: Results, *, top: int, raw_names: bool) -> Iterator[Sequence[object]]:
    """Yield the header and the rows of a table of several targets: node, then each target."""
    if None in results:
        yield from list_prediction_rows(results[None], top=top, raw_names=raw_names)
        return
    columns: list[Sequence[object]] = []
    for target, result in results.items():
        listed = list(zip(*list_prediction_rows(result, top=top, raw_names=raw_names), strict=True))
        columns += listed[:1] if not columns else []
        # The column "known" is dropped: an unknown value is empty.
        for header, *cells in listed[2:]:
            columns.append([f"{header}_{target}", *cells])
    yield from zip(*columns, strict=True)


def list_column_rows(
    columns: Mapping[str, "NDArray[Any]"], *, raw_names: bool
) -> Iterator[Sequence[object]]:
    """Yield a header and the rows of columns."""
    from gradraker.io.names_in_text import escape_name

    format_name: Callable[[str], str] = str if raw_names else escape_name
    yield list(columns)

    def to_cell(entry: object) -> object:
        if isinstance(entry, bool):
            return "true" if entry else "false"
        if entry is None or entry != entry:  # unknown
            return ""
        return format_name(entry) if isinstance(entry, str) else entry

    for entries in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield [to_cell(entry) for entry in entries]


def make_csv(rows: Iterable[Sequence[object]]) -> Write:
    """Return a function that writes rows as CSV; numbers can be read back exactly."""
    from gradraker.io.names_in_text import quote_field

    def write(file: BinaryIO) -> None:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            for row in rows:
                stream.write(",".join(quote_field(str(field)) for field in row) + "\n")
            stream.flush()
        finally:
            stream.detach()  # the file stays open

    return write


def make_text(text: str) -> Write:
    """Return a function that writes text as UTF-8, whatever the encoding of the terminal."""
    return make_content(text.encode("utf-8", "surrogatepass"))


def make_content(content: bytes) -> Write:
    """Return a function that writes bytes."""
    return lambda file: file.write(content)


def show_facts(
    facts: Any,
    list_tables: "Callable[[Any], Iterable[Table]]",
    *,
    as_json: bool,
    files: Mapping[str, object] | None = None,
) -> None:
    """Print facts as JSON or as tables, and name the files that were written.

    With an output on standard output ("-"), tables go to standard error.
    """
    if as_json:
        echo_json(facts)
        return
    from rich.console import Console

    written = files or {}
    to_stderr = "-" in written.values()
    # Names that look like markup are printed unchanged.
    console = Console(markup=False, highlight=False, emoji=False, stderr=to_stderr)
    for table in list_tables(facts):
        console.print(table)
    for label, file in written.items():
        if file not in (None, "-"):
            # Not through rich, which would wrap a long path.
            click.echo(f"{label}: {file}", err=to_stderr)


def echo_json(facts: Any) -> None:
    """Print one JSON object; a number that is not finite is null."""
    click.echo(json.dumps(facts, indent=2, allow_nan=False), file=sys.stdout)


def make_facts_table(title: str, facts: Iterable[tuple[str, str]]) -> "Table":
    """Make a table of two columns, labels and texts."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for label, text in facts:
        table.add_row(label, text)
    return table


def make_rows_table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> "Table":
    """Make a table with headings; numbers are shortened and right-aligned."""
    from rich import box
    from rich.table import Table

    # At least as wide as the title, or rich would wrap it.
    width = len(title)
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, min_width=width)
    listed = [list(row) for row in rows]
    for i, heading in enumerate(headings):
        is_number = all(isinstance(row[i], float | int) for row in listed)
        table.add_column(heading, justify="right" if is_number else "left", overflow="fold")
    for row in listed:
        table.add_row(
            *(
                shorten(cell) if isinstance(cell, float | int) else make_printable(cell)
                for cell in row
            )
        )
    return table


def shorten(number: float) -> str:
    """Format a number for a table.

    Examples
    --------
    >>> shorten(1234567), shorten(3.14159), shorten(-0.00001)
    ('1 234 567', '3.142', '-1e-05')
    """
    return f"{number:,}".replace(",", " ") if isinstance(number, int) else f"{number:.4g}"


def format_graph(graph: dict[str, Any]) -> str:
    """Format the size of a graph; an undirected edge counts once, however it was listed."""
    kind = "edges" if graph["directed"] else "undirected edges"
    return f"{shorten(graph['nodes'])} nodes, {shorten(graph['edges'])} {kind}"


def make_predictions_table(predictions: list[dict[str, Any]]) -> "list[Table]":
    """Make a table of the first few predictions; no table without predictions."""
    if not predictions:
        return []
    first = predictions[:N_SHOWN]
    headings = ["Node", "Prediction"]
    rows = [[entry["node"], entry["prediction"]] for entry in first]
    if "probability" in first[0]:
        headings = ["Node", "Class", "Probability", "Runners-up"]
        for row, entry in zip(rows, first, strict=True):
            others = (f"{o['class']} {shorten(o['probability'])}" for o in entry["runners_up"])
            row += [entry["probability"], ", ".join(others)]
    if "lower" in first[0]:
        headings += ["From", "To"]
        for row, entry in zip(rows, first, strict=True):
            row += ["−∞" if entry["lower"] is None else entry["lower"]]
            row += ["∞" if entry["upper"] is None else entry["upper"]]
    if "contributors" in first[0]:
        headings.append("Counts most")
        for row, entry in zip(rows, first, strict=True):
            row.append(entry["contributors"][0]["node"] if entry["contributors"] else "")
    title = f"Predictions, {len(first)} of {shorten(len(predictions))}"
    return [make_rows_table(title, headings, rows)]


# -- predictions: the table of predict and update, and the page ----------------------------------

# Options of intervals and bounds.
BOUND_OPTIONS = ("coverage", "lower", "upper")
Summaries: TypeAlias = Mapping[Any, dict[str, Any]]  # by target


@dataclass(frozen=True)
class PageOptions:
    """Title of a page, unit and format of its numbers, and the file of nodes to explain."""

    title: str | None = None
    unit: str | None = None
    number_language: str = "si"
    explain_nodes: str | None = None

    def to_notes(self) -> dict[str, Any]:
        """Return the options that a model keeps for the page of an update."""
        return {"title": self.title, "unit": self.unit}


def take_page_options(options: dict[str, Any]) -> PageOptions:
    """Remove the options of a page from those of a command, and return them."""
    names = ("title", "unit", "number_language", "explain_nodes")
    return PageOptions(**{name: options.pop(name) for name in names})


def split_units(unit: str | None, targets: Sequence[str]) -> dict[str, str]:
    """Return the unit of each target, from one unit for all or a comma-separated list.

    Examples
    --------
    >>> from gradraker.cli.output import split_units
    >>> split_units("years,CHF", ["age", "income"])
    {'age': 'years', 'income': 'CHF'}
    """
    units = [text.strip() for text in (unit or "").split(",")]
    if len(units) not in (1, len(targets)):
        raise click.UsageError(
            f"--unit names {len(units)} units for {len(targets)} columns of values: give one for "
            "all, or one for each"
        )
    return dict(zip(targets, units if len(units) > 1 else units * len(targets), strict=True))


def write_results(
    results: Results,
    summarize: Callable[[], Summaries],
    files: Mapping[str, str | None],
    options: PageOptions,
    *,
    top: int,
    raw_names: bool,
    write_model: Write | None,
    status: StatusLine,
) -> None:
    """Write the table of predictions, the page and the model: all files or none.

    Everything is computed before anything is written, so an error leaves all files unchanged.
    """
    page, rows = "", list_target_rows(results, top=top, raw_names=raw_names)
    status.show_stage("explaining")
    if files["report"] is not None:
        page = _make_page(results, summarize(), options, model_file=files["model"])
    table = [] if files["out"] is None else list(rows)
    status.show_stage("writing")
    write_outputs(
        [
            (files["model"], write_model),
            (files["report"], make_text(page)),
            (files["out"], make_csv(table)),
        ]
    )


def _make_page(
    results: Results, summaries: Summaries, options: PageOptions, *, model_file: str | None
) -> str:
    names: list[str] = []
    if options.explain_nodes is not None:  # a file of names, one per line
        text = Path(options.explain_nodes).read_text(encoding="utf-8-sig")
        names = [line for line in text.splitlines() if line.strip()]
    shared: Any = {"explain_nodes": names, "model_file": model_file, "n_targets": len(results)}
    try:
        explorers: Any = {
            name: gradraker.report.build_explorer(r, **shared) for name, r in results.items()
        }
    except UnknownNodesError as error:
        listed = format_names(error.nodes)
        raise ValueError(
            f"{options.explain_nodes}: the graph does not have the nodes {listed}"
        ) from error
    style: Any = {"title": options.title, "number_language": options.number_language}
    if None in results:
        return gradraker.report.render_predictions(
            summaries[None], explorer=explorers[None], unit=options.unit, **style
        )
    targets = [str(name) for name in results]
    units = split_units(options.unit, targets)
    return gradraker.report.render_targets(summaries, explorers=explorers, units=units, **style)
