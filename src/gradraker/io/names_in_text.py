r"""Names in text tables: every name can be written, and is read back unchanged.

Spreadsheets run a cell that begins with ``=`` or the like as a formula, and a program that accepts
every kind of line end starts a new cell after a carriage return. So

- a name with a control character, a line end, a comma or semicolon before the sign of a formula,
  or a blank or invisible character at one of its ends is written as ``'\``, then the name with
  such characters and backslashes escaped (``\r``, ``\x85``, ``\u2028``);
- any other name that begins with a quote ``'`` or the sign of a formula, and is not a number, has
  a ``'`` put before it, as spreadsheets mark texts;
- all other names are written as they are.
"""

import re
import unicodedata

# Characters at which spreadsheets begin a formula, also in full width.
_FORMULA = frozenset("=+-@＝＋－＠")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
# Control characters, line and paragraph separators, surrogates: not text, or a line end in some
# programs. In some a comma or semicolon ends a cell, quoted or not.
_NOT_PLAIN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|[,;](?=[\\s'\"\ufeff]*[=+\\-@＝＋－＠])"
)
_MARK = "'"
_ESCAPED = "'\\"
_LETTERS = {"\\": "\\\\", "\r": "\\r", "\n": "\\n", "\t": "\\t"}
_CHARACTERS = {escape: character for character, escape in _LETTERS.items()}
# Not of lone surrogates, which neither a file nor a column of text can hold.
_ESCAPE = re.compile(
    r"\\(?:[\\rnt]|x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4}|U00(?:0[0-9a-f]|10)[0-9a-f]{4})"
)
_BODY = re.compile(rf"(?:[^\\]|{_ESCAPE.pattern})*")
# Some spreadsheets take a semicolon or a tab for the end of a cell that is not in quotes.
_TO_QUOTE = re.compile(r"[,;\t\"\r\n|]|^#|^[ \t]|[ \t]$")


def escape_name(name: str) -> str:
    r"""Return a name as it is written to a table, where no spreadsheet runs it as a formula.

    Examples
    --------
    >>> from gradraker.io.names_in_text import escape_name, unescape_name
    >>> escape_name("=HYPERLINK(1)"), escape_name("-12"), escape_name("Basel")
    ("'=HYPERLINK(1)", '-12', 'Basel')
    >>> print(escape_name("x\r=1+1"))
    '\x\r=1+1
    >>> unescape_name(escape_name("x\r=1+1"))
    'x\r=1+1'
    """
    if not name or _NOT_PLAIN.search(name) or _is_invisible(name[0]) or _is_invisible(name[-1]):
        special = {match.start() for match in _NOT_PLAIN.finditer(name)}
        special |= {i for i in (0, len(name) - 1) if name and _is_invisible(name[i])}
        return _ESCAPED + "".join(
            _escape_character(character, is_special=i in special)
            for i, character in enumerate(name)
        )
    if name[0] == _MARK or (name[0] in _FORMULA and not _NUMBER.fullmatch(name)):
        return _MARK + name
    return name


def unescape_name(field: str) -> str:
    """Return the name that :func:`escape_name` wrote as this field; other fields are unchanged."""
    if field.startswith(_ESCAPED):
        body = field[len(_ESCAPED) :]
        is_escaped = _BODY.fullmatch(body) and (not body or "\\" in body)
        return _ESCAPE.sub(_unescape_character, body) if is_escaped else field
    if len(field) > 1 and field[0] == _MARK and (field[1] == _MARK or field[1] in _FORMULA):
        return field[1:]
    return field


def quote_field(field: str) -> str:
    r"""Return a field of a table whose separator is a comma, in quotes where it needs them.

    Examples
    --------
    >>> from gradraker.io.names_in_text import quote_field
    >>> print(quote_field('the "city", Basel'))
    "the ""city"", Basel"
    """
    return f'"{field.replace(chr(34), chr(34) * 2)}"' if _TO_QUOTE.search(field) else field


def _is_invisible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in ("Cf", "Zs")


def _escape_character(character: str, *, is_special: bool) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    if not is_special:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescape_character(match: re.Match[str]) -> str:
    escape = match[0]
    return _CHARACTERS[escape] if escape in _CHARACTERS else chr(int(escape[2:], 16))  # noqa: FURB166
