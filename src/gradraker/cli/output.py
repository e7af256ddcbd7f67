"""Write results: files all together or none, then standard output."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import click

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table

    from gradraker.workflow import NodePredictions

# A function that writes an output to an open binary file.
Write = Callable[[BinaryIO], object]
# Predictions by target; None names the only one.
Results: TypeAlias = "Mapping[str | None, NodePredictions]"


def make_printable(name: object) -> str:
    r"""Return a name that a terminal shows and does not obey.

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
    """Write files, all of them or none, and then to standard output what goes to "-".

    An output whose path or function is None is left out.
    """
    from gradraker._files import Output, write_files

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
    from gradraker.io.text.names_in_text import escape_name

    shown: Callable[[str], str] = str if raw_names else escape_name
    found = result.find_contributors(top)
    n_top = found.weights.shape[1]
    extra = [f"{word}_{i + 1}" for i in range(n_top) for word in ("contributor", "weight")]
    yield [*next(rows), *extra]
    for i, row in enumerate(rows):
        pairs = zip(found.names[i], found.weights[i].tolist(), strict=True)
        yield [*row, *(cell for name, weight in pairs for cell in (shown(str(name)), weight))]


def list_target_rows(results: Results, *, top: int, raw_names: bool) -> Iterator[Sequence[object]]:
    """Yield the header and the rows of a table of several targets: node, then each target."""
    if None in results:
        yield from list_prediction_rows(results[None], top=top, raw_names=raw_names)
        return
    columns: list[Sequence[object]] = []
    for target, one in results.items():
        listed = list(zip(*list_prediction_rows(one, top=top, raw_names=raw_names), strict=True))
        columns += listed[:1] if not columns else []
        # Whether a value is known is seen from the value itself.
        for header, *cells in listed[2:]:
            columns.append([f"{header}_{target}", *cells])
    yield from zip(*columns, strict=True)


def list_column_rows(
    columns: Mapping[str, "NDArray[Any]"], *, raw_names: bool
) -> Iterator[Sequence[object]]:
    """Yield a header and the rows of columns."""
    from gradraker.io.text.names_in_text import escape_name

    shown: Callable[[str], str] = str if raw_names else escape_name
    yield list(columns)

    def to_cell(entry: object) -> object:
        if isinstance(entry, bool):
            return "true" if entry else "false"
        if entry is None or entry != entry:  # unknown
            return ""
        return shown(entry) if isinstance(entry, str) else entry

    for entries in zip(*(column.tolist() for column in columns.values()), strict=True):
        yield [to_cell(entry) for entry in entries]


def make_csv(rows: Iterable[Sequence[object]]) -> Write:
    """Write rows as CSV; numbers have as many digits as it takes to read them back exactly."""
    from gradraker.io.text.names_in_text import quote_field

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
    """Write text in UTF-8, since a terminal's encoding might not have all letters of a name."""
    return make_content(text.encode("utf-8", "surrogatepass"))


def make_content(content: bytes) -> Write:
    """Write bytes."""
    return lambda file: file.write(content)


def make_console(*, to_stderr: bool = False) -> "Console":
    """A console for tables, which leaves names alone that look like markup."""
    from rich.console import Console

    return Console(markup=False, highlight=False, emoji=False, stderr=to_stderr)


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
    written = files or {}
    to_stderr = "-" in written.values()
    console = make_console(to_stderr=to_stderr)
    for table in list_tables(facts):
        console.print(table)
    for what, file in written.items():
        if file not in (None, "-"):
            # Not through rich, which would break a long path into lines.
            click.echo(f"{what}: {file}", err=to_stderr)


def echo_json(facts: Any) -> None:
    """Print one JSON object; a number that is not finite is null."""
    import json

    click.echo(json.dumps(facts, indent=2, allow_nan=False), file=sys.stdout)
