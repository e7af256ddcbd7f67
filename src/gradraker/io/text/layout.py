"""How a text table is laid out: separator, header, columns. Found from its first lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import NamedTuple

from gradraker.exceptions import ArgumentError, GraphFileError, Place, UnclearTableError
from gradraker.graph.adapters.columns import ColumnSample, Table, WantedColumns, find_kind
from gradraker.graph.names import MISSING, is_number, is_value
from gradraker.io.content import Content

BLANKS = " \t"
# Separator for any run of blanks, so that aligned columns are read as well.
WHITESPACE = " "
# Lines that are looked at to find the layout.
SAMPLED = 1000

Rows = Sequence[Sequence[str]]


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
        """Return the columns as the rules of columns see them."""

        def take_samples() -> list[ColumnSample]:
            columns = zip(*self.rows, strict=True) if self.rows else [()] * self.n_columns
            return [_make_sample(column) for column in columns]

        return Table(self.header, self.n_columns, take_samples, Place(self.label))


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
    """Give number and text of each line that is neither blank nor a comment."""
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
    for line, content in islice(lines, SAMPLED):
        next_number = next_number or line
        found = split_line(content, separator, Place(label, line=line))
        if len(found) == len(fields):  # other lines are wrong, and named when all are read
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
        What separates fields.
    wanted : EdgeColumns or ValueColumns
        What is read.
    place : Place
        The first line, in messages.

    Raises
    ------
    UnclearTableError
        If the line may be a header as well as data.
    """
    if wanted.is_heading(fields, plainly=True):
        return True
    # A header may have no name above the numbers of rows, but names all other columns.
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


def _make_sample(column: Sequence[str]) -> ColumnSample:
    entries = [None if entry.casefold() in MISSING else entry for entry in column]
    numbers = [float(entry) for entry in entries if entry is not None and is_number(entry)]
    return ColumnSample(find_kind(numbers, len(entries) - entries.count(None)), entries)


def take_first_line(error: BaseException) -> str:
    """Return the first line of a message of another library, since ours are one sentence."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def shorten(text: object, *, limit: int = 40) -> str:
    """Return a value in quotes for a message, cut where it gets long."""
    full = repr(text)
    return full if len(full) <= limit else f"{full[: limit - 4]}...{full[-1]}"
