"""Text tables: their layout is found from the first lines, then polars reads all of them in bulk.

Python examines a single line only after a check has failed, to name the place.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from gradraker.exceptions import ArgumentError, GraphFileError, Place, UnclearTableError
from gradraker.graph.adapters.columns import ColumnPositions, Table, WantedColumns, sample_texts
from gradraker.graph.edges import Reading
from gradraker.graph.names import MISSING, is_number, is_value, to_integers
from gradraker.io.content import Content, FileColumns, Progress, shorten
from gradraker.io.names_in_text import unescape_name

if TYPE_CHECKING:
    import polars as pl

BLANKS = " \t"
# Separator for any run of blanks, so that aligned columns are read as well.
WHITESPACE = " "
# Lines that are examined to find the layout.
SAMPLE_SIZE = 1000
Rows = Sequence[Sequence[str]]
# Characters per piece: small enough that memory is reused, large enough that calls cost little.
_PIECE = 1 << 22


@dataclass(frozen=True)
class TextOptions:
    """Options of text tables; None for a separator or header that is to be found."""

    separator: str | None
    comment: str | None
    header: bool | None

    def __post_init__(self) -> None:
        separator: object = self.separator
        if separator is not None and not _is_text(separator, without='"\n\r\0', length=1):
            wanted = "one character, not a quote or a line end, or None to find it"
            raise ArgumentError("separator", wanted, separator)
        comment: object = self.comment
        if comment is not None and not _is_text(comment, without=' \t"\n\r\0'):
            raise ArgumentError("comment", "characters without blanks and quotes, or None", comment)


def _is_text(value: object, *, without: str, length: int | None = None) -> bool:
    if not isinstance(value, str) or not value or set(value) & set(without):
        return False
    return length is None or len(value) == length


# -- lines and fields ------------------------------------------------------------------------------


def decode_text(content: Content) -> str:
    """Return the text of a file with line ends as newlines, without a byte order mark."""
    data, label = content.data, content.label
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise GraphFileError(label, "the text is in UTF-16: save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        raise GraphFileError(
            Place(label, line=before.count(b"\n") + 1),
            f"byte {data[error.start]:#04x} is not UTF-8: save the file as UTF-8, or it is not "
            "text",
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise GraphFileError(
            Place(label, line=line), "the file holds a zero byte, so it is not text"
        )
    return text


def find_data_lines(text: str, comment: str | None) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is neither blank nor a comment."""
    for line, match in enumerate(re.finditer(r"(.*)\n?", text), start=1):
        bare = match[1].lstrip(BLANKS)
        if bare and not (comment and bare.startswith(comment)):
            yield line, match[1]


class FieldPatterns(NamedTuple):
    """Regular expressions for lines with quotes, which Python and polars read alike."""

    simple: str | None  # a line whose quoted fields hold neither separators nor quotes
    line: str  # a line whose quoted fields are all closed
    field: str  # each field of such a line, if the line has ``lead`` put before it
    lead: str


@cache
def make_field_patterns(separator: str) -> FieldPatterns:
    """Return the patterns of a line and of its fields; in a quoted field two quotes are one."""
    quoted = r'"(?:[^"]|"")*"'
    if separator == WHITESPACE:
        field = rf'(?:{quoted}|[^" \t][^ \t]*)'
        return FieldPatterns(None, rf"^[ \t]*{field}(?:[ \t]+{field})*[ \t]*$", field, "")
    blanks, mark = BLANKS.replace(separator, ""), re.escape(separator)
    simple = rf'(?:[{blanks}]*"[^"{mark}]*"[{blanks}]*|[^"{mark}]*)'
    field = rf'[{blanks}]*(?:{quoted}[{blanks}]*|[^"{mark}{blanks}][^{mark}]*|)'
    return FieldPatterns(
        rf"^{simple}(?:{mark}{simple})*$",
        rf"^{field}(?:{mark}{field})*$",
        rf"{mark}{field}",  # never empty, so that no empty field is lost
        lead=separator,
    )


def split_line(content: str, separator: str, place: Place) -> list[str]:
    """Return the fields of a line, without blanks around them and without quotes."""
    if '"' not in content:
        if separator == WHITESPACE:
            # str.split() would also split at other white space, such as a no-break space.
            return [word for word in content.replace("\t", " ").split(" ") if word]
        return [field.strip(BLANKS) for field in content.split(separator)]
    patterns = make_field_patterns(separator)
    if re.match(patterns.line, content) is None:
        raise GraphFileError(place, "a quoted field is not closed before the next separator")
    found = re.findall(patterns.field, patterns.lead + content)
    fields = [field.removeprefix(patterns.lead).strip(BLANKS) for field in found]
    return [
        field[1:-1].replace('""', '"').strip(BLANKS) if field.startswith('"') else field
        for field in fields
    ]


# -- the layout ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """How the lines of a text table are to be read."""

    label: str
    separator: str
    comment: str | None
    n_columns: int
    first_line: int
    header: list[str] | None = None
    header_line: int = 1
    rows: list[list[str]] = field(default_factory=list)  # fields of the first lines of data

    def make_place(self, line: int, column: int | None = None) -> Place:
        """Return a place in the file, for messages; the column counts from 0 here."""
        if column is None:
            return Place(self.label, line=line)
        header = None if self.header is None else self.header[column]
        return Place(self.label, line=line, column=column + 1, header=header)

    def make_table(self) -> Table:
        """Return the columns as the rules take them."""
        sample = partial(sample_texts, self.rows, self.n_columns)
        return Table(self.header, self.n_columns, sample, Place(self.label))


def find_layout(text: str, label: str, options: TextOptions, wanted: WantedColumns) -> Layout:
    """Find the layout from the first lines that hold data."""
    lines = find_data_lines(text, options.comment)
    number, first = next(lines, (0, ""))
    place = Place(label, line=number)
    if not number:
        raise GraphFileError(label, "the file holds no data, only blank lines or comments")
    separator = _find_separator(first, place) if options.separator is None else options.separator
    fields = split_line(first, separator, place)
    if len(fields) < 2:
        raise GraphFileError(place, f"at least two columns are needed, got {shorten(first)}")
    next_number, rows = 0, []
    for line, content in islice(lines, SAMPLE_SIZE):
        next_number = next_number or line
        found = split_line(content, separator, Place(label, line=line))
        if len(found) == len(fields):  # others are errors, reported when all lines are read
            rows.append(found)
    named = options.header
    if named is None:
        rest = text[text.index(first) + len(first) :]
        named = has_header(fields, rows, rest, separator, wanted, place)
    if named and not next_number:
        raise GraphFileError(label, "there is a header, but no data")
    return Layout(
        label,
        separator,
        options.comment,
        n_columns=len(fields),
        first_line=next_number if named else number,
        header=fields if named else None,
        header_line=number,
        rows=rows if named else [fields, *rows],
    )


def _find_separator(line: str, place: Place) -> str:
    bare = re.sub(r'"(?:[^"]|"")*"', "", line)
    if "\t" in bare:
        return "\t"
    found = [candidate for candidate in ",;" if candidate in bare]
    if len(found) > 1:
        raise GraphFileError(place, "columns could be separated by ',' or ';': pass separator")
    return found[0] if found else WHITESPACE


def has_header(
    fields: Sequence[str],
    rows: Rows,
    rest: str,
    separator: str,
    wanted: WantedColumns,
    place: Place,
) -> bool:
    """Whether the first line of a text table names its columns.

    Parameters
    ----------
    fields : sequence of str
        Fields of the first line.
    rows : sequence of sequences of str
        Fields of lines after it.
    rest : str
        All text after the first line, where its words may occur again.
    separator : str
        The character between fields.
    wanted : EdgeColumns or ValueColumns
        The columns to read.
    place : Place
        The first line, in messages.

    Raises
    ------
    UnclearTableError
        If the line may be a header as well as data.
    """
    if wanted.is_heading(fields, plainly=True):
        return True
    # The first column, of row numbers, may have no name in a header; all others have.
    is_data = any(is_number(field) for field in fields) or any(
        f.casefold() in MISSING for f in fields[1:]
    )
    if not rows or is_data:
        return False
    for heading, column in zip(fields, zip(*rows, strict=True), strict=True):
        given = [entry for entry in column if entry.casefold() not in MISSING]
        if heading and not is_value(heading) and 2 * sum(map(is_number, given)) > len(given):
            return True  # a word above numbers
    if any(_has_word(field, rest, separator) for field in fields):
        return False
    if wanted.is_heading(fields):
        return True
    listed = ", ".join(map(repr, fields[:6]))
    raise UnclearTableError(
        place, f"the line {listed} may name the columns or be data like the others", ("header",)
    )


def _has_word(word: str, text: str, separator: str) -> bool:
    """Whether a word is a field of a text table; quotes and blanks around it do not matter."""
    word = word.replace('"', '""')
    around = " \t" if separator != "\t" else " "
    ends = ("", "\n", separator, *((" ", "\t") if separator == " " else ()))
    at = text.find(word)
    while at >= 0 and word:
        before = text[max(0, at - 20) : at].rstrip('"')
        after = text[at + len(word) : at + len(word) + 20].lstrip('"')
        if separator != " ":
            before, after = before.rstrip(around), after.lstrip(around)
        if before[-1:] in ends and after[:1] in ends:
            return True
        at = text.find(word, at + 1)
    return False


# -- the columns -----------------------------------------------------------------------------------


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


def choose_columns(wanted: WantedColumns, table: Table) -> tuple[ColumnPositions, Reading]:
    """Return the positions of the wanted columns in a file, and how the file is read."""
    try:
        return wanted.choose(table)
    except GraphFileError:
        raise
    except ValueError as error:
        raise GraphFileError(table.place, str(error)) from None


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
    values, *more = (frame.get_column(name).to_numpy() for name in _name_values(columns))
    return FileColumns(found, values, lines, more=tuple(more))


def _name_values(columns: ColumnPositions) -> dict[str, int]:
    """Return the columns of weights or values, called "value", "value1" and so on."""
    if columns.value is None:
        return {}
    more = {f"value{i}": column for i, column in enumerate(columns.more, start=1)}
    return {"value": columns.value} | more


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


def parse_numbers(
    frame: "pl.DataFrame", name: str = "value", *, missing_allowed: bool = False
) -> "pl.DataFrame":
    """Turn the texts of a column into numbers; null where a text is not one.

    With ``missing_allowed``, missing numbers are NaN.
    """
    import polars as pl

    text, cast = pl.col(name), pl.col("cast")
    # polars parses decimal numbers, and nothing else, as finite numbers.
    number: pl.Expr = pl.when(cast.is_finite()).then(cast)
    if missing_allowed:
        missing = text.str.to_lowercase().is_in(MISSING)
        number = pl.when(missing).then(math.nan).otherwise(number)
    frame = frame.with_columns(cast=text.cast(pl.Float64, strict=False))
    return frame.with_columns(number.alias(name)).drop("cast")


def _parse_piece(text: str, first: int, layout: Layout, columns: ColumnPositions) -> "pl.DataFrame":
    """Return line, names and value of each line of data in a piece of a file."""
    import polars as pl

    lines = select_lines(text, layout, first=first)
    wanted = {f"name{i}": column for i, column in enumerate(columns.names)}
    values = _name_values(columns)
    wrong = [pl.col("malformed"), *(pl.col(name) == "" for name in wanted)]
    wrong += [pl.col(name).is_null() for name in values]
    found = _split_fields(text, layout, lines, wanted | values)
    for name in () if columns.is_text else values:
        found = parse_numbers(found, name, missing_allowed=columns.missing_allowed)
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
    values = list(_name_values(columns).values())
    allowed = MISSING if columns.missing_allowed else ()
    wrong = (i for i in values if not is_number(fields[i]) and fields[i].casefold() not in allowed)
    column = next(wrong, values[0])
    place, field = layout.make_place(line, column), fields[column]
    if not columns.missing_allowed and field.casefold() in MISSING:
        raise GraphFileError(place, f"the weight is missing ({shorten(field)})")
    more = "; with the task 'classes' values are names" if columns.missing_allowed else ""
    raise GraphFileError(place, f"{shorten(field)} is not a finite decimal number{more}")
