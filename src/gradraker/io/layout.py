"""How a text table is laid out: separator, header, columns. Found from its first lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gradraker.exceptions import GraphFileError, Place
from gradraker.io.messages import shortened

BLANKS = " \t"
# Separators of blanks: any run of them, so that aligned columns are read as well.
WHITESPACE = " "
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# What tables write for a number that is not known.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
_NOT_FINITE = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
_HEADERS = {
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("source", "dest"),
    ("source", "destination"),
    ("fromnodeid", "tonodeid"),
    ("node", "value"),
}


@dataclass(frozen=True)
class Layout:
    """How the lines of a text table are to be read."""

    label: str
    separator: str
    comment: str | None
    n_columns: int
    header: list[str] | None
    header_line: int
    first_line: int

    def place(self, line: int, column: int | None = None) -> Place:
        """A place in the file, for messages; the column counts from 0 here."""
        if column is None:
            return Place(self.label, line=line)
        header = None if self.header is None else self.header[column]
        return Place(self.label, line=line, column=column + 1, header=header)


def is_number(text: str) -> bool:
    """Whether a text is a plain decimal number; "inf", "nan" and "1_000" are not."""
    return _NUMBER.fullmatch(text) is not None


def is_value(text: str) -> bool:
    """Whether a text is a number or says that one is missing."""
    return is_number(text) or text.casefold() in MISSING or text.casefold() in _NOT_FINITE


def decoded(data: bytes, label: str) -> str:
    """Return the text of a file with line ends as newlines, without a byte order mark."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise GraphFileError(label, "the text is in UTF-16: save it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line = before.count(b"\n") + 1
        wrong = f"byte {data[error.start]:#04x} is not UTF-8"
        raise GraphFileError(
            Place(label, line=line), f"{wrong}: save the file as UTF-8, or it is not text"
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise GraphFileError(Place(label, line=line), "a zero byte is there, so it is not text")
    return text


def data_lines(text: str, comment: str | None, *, first: int = 1) -> Iterator[tuple[int, str]]:
    """Give number and text of each line that is neither blank nor a comment."""
    line, at = first, 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        content = text[at:end]
        bare = content.lstrip(BLANKS)
        if bare and not (comment and bare.startswith(comment)):
            yield line, content
        line, at = line + 1, end + 1


def split(content: str, separator: str, place: Place) -> list[str]:
    """Return the fields of a line, without blanks around them and without quotes."""
    if '"' not in content:
        if separator == WHITESPACE:
            return _words(content)
        return [field.strip(BLANKS) for field in content.split(separator)]
    field = _field_pattern(separator)
    content = content.strip(BLANKS) if separator == WHITESPACE else content
    fields: list[str] = []
    at = 0
    while True:
        match = field.match(content, at)
        if match is None:
            raise GraphFileError(place, "a quoted field is not closed before the next separator")
        quoted, plain, end = match.groups()
        fields.append((plain if quoted is None else quoted.replace('""', '"')).strip(BLANKS))
        if not end:
            return fields
        at = match.end()


def _words(content: str) -> list[str]:
    # str.split() would also split at other white space, such as a no-break space in a name.
    return [word for word in content.replace("\t", " ").split(" ") if word]


@cache
def _field_pattern(separator: str) -> re.Pattern[str]:
    """A field (quoted or not), the blanks around it, and the separator or end behind it."""
    if separator == WHITESPACE:
        return re.compile(r'(?:"((?:[^"]|"")*+)"|(?!")([^ \t]*+))([ \t]++|$)')
    blank = BLANKS.replace(separator, "")
    escaped = re.escape(separator)
    return re.compile(
        rf'[{blank}]*+(?:"((?:[^"]|"")*+)"[{blank}]*+|(?!")([^{escaped}]*+))({escaped}|$)'
    )


def find_layout(
    text: str,
    label: str,
    *,
    separator: str | None,
    comment: str | None,
    header: bool | None,
    number_column: int,
) -> Layout:
    """Find the layout from the first two lines that hold data.

    ``number_column`` is the column, from 0, that must hold numbers if it is the last.
    """
    lines = data_lines(text, comment)
    number, first = next(lines, (0, ""))
    if not number:
        raise GraphFileError(label, "the file holds no data, only blank lines or comments")
    if separator is None:
        separator = _find_separator(first, Place(label, line=number))
    fields = split(first, separator, Place(label, line=number))
    if len(fields) < 2:
        raise GraphFileError(
            Place(label, line=number), f"at least two columns are needed, got {shortened(first)}"
        )
    next_number, second = next(lines, (0, ""))
    following = split(second, separator, Place(label, line=next_number)) if second else []
    named = _is_header(fields, following, number_column) if header is None else header
    if named and not next_number:
        raise GraphFileError(label, "there is a header, but no data")
    return Layout(
        label,
        separator,
        comment,
        n_columns=len(fields),
        header=fields if named else None,
        header_line=number,
        first_line=next_number if named else number,
    )


def _find_separator(line: str, place: Place) -> str:
    bare = re.sub(r'"(?:[^"]|"")*"', "", line)
    if "\t" in bare:
        return "\t"
    found = [candidate for candidate in ",;" if candidate in bare]
    if len(found) > 1:
        raise GraphFileError(place, "columns could be separated by ',' or ';': pass separator")
    return found[0] if found else WHITESPACE


def _is_header(first: list[str], second: list[str], number_column: int) -> bool:
    lowered = [field.casefold() for field in first]
    if (lowered[0], lowered[1]) in _HEADERS or {"source", "target"} <= set(lowered):
        return True
    if number_column == 1 and {"node", "value"} <= set(lowered):
        return True
    if len(first) == number_column + 1 and first[number_column]:
        # As data the line would be wrong. It is a header, unless its nodes are numbers: then it
        # is data with a mistake, which the reader will name.
        nodes = first[:number_column]
        return not is_value(first[number_column]) and not any(is_number(node) for node in nodes)
    both = len(second) > 1 and all(is_number(field) for field in second[:2])
    return both and not any(is_number(field) for field in first[:2])
