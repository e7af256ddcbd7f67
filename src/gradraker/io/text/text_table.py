"""Text tables: polars splits lines and fields and checks them in bulk.

A single line is looked at in Python only when a check found something wrong, to name the place.
"""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

from gradraker.exceptions import GraphFileError
from gradraker.graph.adapters.columns import ColumnPositions, WantedColumns, choose_columns
from gradraker.graph.names import MISSING, to_integers
from gradraker.io.content import Content, FileColumns, Progress
from gradraker.io.text.layout import (
    BLANKS,
    WHITESPACE,
    Layout,
    TextOptions,
    decode_text,
    find_layout,
    make_field_patterns,
    shorten,
    split_line,
)
from gradraker.io.text.names_in_text import unescape_name

if TYPE_CHECKING:
    import polars as pl

# Characters per piece: small enough that memory is reused, large enough that calls cost little.
_PIECE = 1 << 22


def read_text_columns(
    content: Content, wanted: WantedColumns, options: TextOptions, progress: Progress
) -> FileColumns:
    """Return the wanted columns of a text table."""
    text = decode_text(content)
    layout = find_layout(text, content.label, options, wanted)
    columns, reading = choose_columns(wanted, layout.make_table())
    found = parse_columns(text, layout, columns, progress)
    reading = replace(reading, n_header_lines=0 if layout.header is None else 1)
    return replace(found, reading=reading)


def parse_columns(
    text: str, layout: Layout, columns: ColumnPositions, progress: Progress, *, line: int = 1
) -> FileColumns:
    """Return columns of a text table, or raise an error with line and column.

    The text begins at a line of the file. Names are int64 if all of them are integers in their
    shortest form, so that nothing is lost.
    """
    import polars as pl

    pieces = []
    at = 0
    while at < len(text):
        end = text.find("\n", at + _PIECE)
        end = len(text) if end < 0 else end + 1
        pieces.append(_parse_piece(text[at:end], line, layout, columns))
        progress("parsing", end, len(text))
        line += text.count("\n", at, end)
        at = end
    names = [f"name{i}" for i in range(len(columns.names))]
    if any(piece.schema[name] == pl.String for piece in pieces for name in names):
        pieces = [piece.cast(dict.fromkeys(names, pl.String)) for piece in pieces]
    frame = pl.concat(pieces)
    found, lines = [frame.get_column(name) for name in names], frame.get_column("line").to_numpy()
    if columns.value is None:
        return FileColumns(found, None, lines)
    if columns.is_text:
        return FileColumns(found, None, lines, labels=frame.get_column("value"))
    return FileColumns(found, frame.get_column("value").to_numpy(), lines)


def select_lines(text: str, layout: Layout, *, first: int = 1) -> "pl.DataFrame":
    """Return number and text of each line of data: not blank, not a comment, not the header.

    ``first`` is the number of the first line of the text. Where blanks separate fields, a run of
    them becomes one.
    """
    import polars as pl

    if layout.separator == WHITESPACE and '"' not in text:
        text = text.replace("\t", " ")
        while "  " in text:
            text = text.replace("  ", " ")
    lines = pl.Series("text", [text]).str.split("\n").explode()
    bare = pl.col("text")
    if " " in text or "\t" in text:
        bare = bare.str.strip_chars_start(BLANKS)
    kept = (bare != "") & (pl.col("line") >= layout.first_line)
    if layout.comment is not None:
        kept &= ~bare.str.starts_with(layout.comment)
    return lines.to_frame().with_row_index("line", offset=first).filter(kept)


def parse_numbers(frame: "pl.DataFrame", *, missing_allowed: bool = False) -> "pl.DataFrame":
    """Turn the texts of the column "value" into numbers; null where a text is not one.

    A number that may be missing is NaN where it is.
    """
    import polars as pl

    text, cast = pl.col("value"), pl.col("cast")
    # As finite numbers polars reads decimal numbers and nothing else.
    number: pl.Expr = pl.when(cast.is_finite()).then(cast)
    if missing_allowed:
        missing = text.str.to_lowercase().is_in(MISSING)
        number = pl.when(missing).then(math.nan).otherwise(number)
    frame = frame.with_columns(cast=text.cast(pl.Float64, strict=False))
    return frame.with_columns(value=number).drop("cast")


def _parse_piece(text: str, first: int, layout: Layout, columns: ColumnPositions) -> "pl.DataFrame":
    """Return line, names and value of each line of data in a piece of a file."""
    import polars as pl

    lines = select_lines(text, layout, first=first)
    wanted = {f"name{i}": column for i, column in enumerate(columns.names)}
    wrong = [pl.col("malformed"), *(pl.col(name) == "" for name in wanted)]
    if columns.value is None:
        found = _split_fields(text, layout, lines, wanted)
    else:
        found = _split_fields(text, layout, lines, {**wanted, "value": columns.value})
        wrong.append(pl.col("value").is_null())
        if not columns.is_text:
            found = parse_numbers(found, missing_allowed=columns.missing_allowed)
    # A line with too few fields has nulls, which are wrong as well.
    where = found.select(pl.any_horizontal(wrong).fill_null(True)).to_series().arg_true()
    if len(where):
        line, content = lines.row(int(where[0]))
        explain_line(content, line, layout, columns)
    if "'" in text:
        texts = [*wanted, "value"] if columns.is_text else wanted
        found = found.with_columns(
            _unescape_names(found.get_column(name)).alias(name) for name in texts
        )
    if columns.is_text:
        label = pl.col("value")
        missing = label.str.to_lowercase().is_in(MISSING)
        found = found.with_columns(value=pl.when(~missing).then(label))
    integers = to_integers([found.get_column(name) for name in wanted])
    return found.drop("malformed").with_columns(lines.get_column("line"), *(integers or []))


def _unescape_names(names: "pl.Series") -> "pl.Series":
    """Return names as they were before the command line wrote them to a table."""
    import polars as pl

    if not names.str.starts_with("'").any():
        return names
    return pl.Series([unescape_name(name) for name in names.to_list()], dtype=pl.String)


def _split_fields(
    text: str, layout: Layout, lines: "pl.DataFrame", wanted: dict[str, int]
) -> "pl.DataFrame":
    """Return the wanted fields of lines, and which lines have wrong quotes or another length."""
    import polars as pl

    line, patterns = pl.col("text"), make_field_patterns(layout.separator)
    quoted, simple = '"' in text, False
    if quoted and patterns.simple:
        simple = lines.select(line.str.contains(patterns.simple).all()).item()
    nested = quoted and not simple  # separators or quotes inside of quotes
    if nested:
        fields = (pl.lit(patterns.lead) + line).str.extract_all(patterns.field)
    elif layout.separator == WHITESPACE:
        fields = line.str.strip_chars(" ").str.split(" ")
    else:
        fields = line.str.split(layout.separator)
    closed = line.str.contains(patterns.line) if nested else pl.lit(True)
    padded = nested or any(blank in text for blank in BLANKS if blank != layout.separator)

    def clean(field: pl.Expr) -> pl.Expr:
        field = field.str.strip_prefix(patterns.lead) if nested else field
        field = field.str.strip_chars(BLANKS) if padded else field
        inner = field.str.strip_prefix('"').str.strip_suffix('"')
        inner = inner.str.replace_all('""', '"', literal=True) if nested else inner
        inner = inner.str.strip_chars(BLANKS) if padded else inner
        return pl.when(field.str.starts_with('"')).then(inner).otherwise(field) if quoted else field

    return lines.select(closed=closed, fields=fields).select(
        *(
            clean(pl.col("fields").list.get(column, null_on_oob=True)).alias(name)
            for name, column in wanted.items()
        ),
        malformed=~pl.col("closed") | (pl.col("fields").list.len() != layout.n_columns),
    )


def explain_line(content: str, line: int, layout: Layout, columns: ColumnPositions) -> NoReturn:
    """Raise the error of a line that cannot be read, with its place."""
    fields = split_line(content, layout.separator, layout.make_place(line))
    if len(fields) != layout.n_columns:
        raise GraphFileError(
            layout.make_place(line),
            f"the line has {len(fields)} column(s), but {layout.n_columns} are expected after "
            f"line {layout.header_line}",
        )
    for column in columns.names:
        if not fields[column]:
            raise GraphFileError(layout.make_place(line, column), "the name of a node is missing")
    assert columns.value is not None
    place, field = layout.make_place(line, columns.value), fields[columns.value]
    if not columns.missing_allowed and field.casefold() in MISSING:
        raise GraphFileError(place, f"the weight is missing ({shorten(field)})")
    more = "; with the task 'classes' values are names" if columns.missing_allowed else ""
    raise GraphFileError(place, f"{shorten(field)} is not a finite decimal number{more}")
