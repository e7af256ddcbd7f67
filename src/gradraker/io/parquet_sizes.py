"""Check the sizes that a Parquet file declares before it is read.

polars allocates as much memory as a file declares; if that fails, the process ends
(pola-rs/polars issue 15342). So every size is compared with the file itself: lists and
texts end within the footer, pages within their column, columns before the footer, and the numbers
of values agree. The size in memory follows from the same numbers.
"""

from typing import Any, NamedTuple

# Types of the compact protocol of Thrift, in which Parquet writes its footer and page headers.
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(
    13
)
_LARGEST_DEPTH = 20
# Some old writers left the header of a dictionary out of the size of its column (PARQUET-816).
_UNCOUNTED_HEADER_BYTES = 256
# Bytes of a value in memory by the number of its type; a text takes a view of 16 bytes.
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 16}
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3

Struct = dict[int, Any]


class _Thrift:
    """Reads structures from bytes; every length is limited by the bytes that are left."""

    def __init__(self, data: memoryview, at: int = 0) -> None:
        self._data = data
        self.at = at

    def _take(self, n: int) -> memoryview:
        end = self.at + n
        if n < 0 or end > len(self._data):
            raise ValueError("it ends too early")
        piece = self._data[self.at : end]
        self.at = end
        return piece

    def _read_unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")

    def _read_integer(self) -> int:
        number = self._read_unsigned()
        return (number >> 1) ^ -(number & 1)

    def _read_value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in (_I16, _I32, _I64):
            return self._read_integer()
        if kind == _BINARY:
            return bytes(self._take(self._read_unsigned()))
        if kind == _STRUCT:
            return self.read_struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._read_list(depth + 1)
        if kind in (_BYTE, _DOUBLE):
            return bytes(self._take(1 if kind == _BYTE else 8))
        raise ValueError("a value is of an unknown type")

    def _read_list(self, depth: int) -> list[Any]:
        head = self._take(1)[0]
        kind, n = head & 0x0F, head >> 4
        n = self._read_unsigned() if n == 15 else n
        if n > len(self._data) - self.at:
            raise ValueError("a list is longer than the file")
        if kind in (_TRUE, _FALSE):  # in a list a truth value takes a byte
            return list(self._take(n))
        return [self._read_value(kind, depth) for _ in range(n)]

    def read_struct(self, depth: int = 0) -> Struct:
        """Return the fields of a structure by number."""
        if depth > _LARGEST_DEPTH:
            raise ValueError("structures are too deep")
        fields: Struct = {}
        number = 0
        while True:
            head = self._take(1)[0]
            kind = head & 0x0F
            if kind == _STOP:
                return fields
            number = number + (head >> 4) if head >> 4 else self._read_integer()
            fields[number] = self._read_value(kind, depth)


class ParquetSizes(NamedTuple):
    """Rows of a Parquet file, and about how many bytes its columns take in memory."""

    n_rows: int
    n_bytes: int


def check_parquet_sizes(data: bytes) -> ParquetSizes:
    """Return the sizes of a Parquet file; ValueError if they do not agree with the file."""
    try:
        return _check_file(memoryview(data))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"a part of its description is missing: {error!r}") from None


def _check_file(data: memoryview) -> ParquetSizes:
    if len(data) < 12 or bytes(data[-4:]) != b"PAR1":
        raise ValueError("its end is missing")
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    if start < 4:
        raise ValueError("the footer is longer than the file")
    footer = _Thrift(data[start:-8]).read_struct()
    n_rows = _check_count(footer[3])
    groups = footer[4]
    if sum(_check_count(group[3]) for group in groups) != n_rows:
        raise ValueError("the numbers of rows do not add up")
    widths = [_find_width(part) for part in footer[2]]
    n_bytes = 0
    for group in groups:
        for column in group[1]:
            meta = column[3]
            n_values = _check_pages(data[:start], meta)
            width = _WIDTHS.get(meta[1], max(widths, default=1))
            n_bytes += max(_check_count(meta[6]), n_values * width)
    return ParquetSizes(n_rows, n_bytes)


def _find_width(part: Struct) -> int:
    """Return the number of bytes of a value of fixed length; 1 for other parts of the schema."""
    return max(1, _check_count(part.get(2, 1)))


def _check_pages(data: memoryview, meta: Struct) -> int:
    """Check the pages of a column, and return its number of values."""
    n_values, n_unpacked, n_packed = (_check_count(meta[field]) for field in (5, 6, 7))
    at = min(meta[9], meta.get(11) or meta[9])
    if at < 4 or at + n_packed > len(data):
        raise ValueError("a column is outside of the file")
    end = min(at + n_packed + _UNCOUNTED_HEADER_BYTES, len(data))
    found = 0
    while at < end and found < n_values:
        reader = _Thrift(data[:end], at)
        page = reader.read_struct()
        unpacked, packed = _check_count(page[2]), _check_count(page[3])
        if unpacked > n_unpacked or packed > end - reader.at:
            raise ValueError("a page is larger than its column")
        head = page.get(5) or page.get(8)
        if page[1] in (_DATA_PAGE, _DATA_PAGE_V2):
            found += _check_count(head[1])  # type: ignore[index]
        elif page[1] == _DICTIONARY_PAGE and _check_count(page[7][1]) > max(n_values, 8 * unpacked):
            raise ValueError("a dictionary is larger than its page")
        at = reader.at + packed
    if found != n_values:
        raise ValueError("the numbers of values do not add up")
    return n_values


def _check_count(number: Any) -> int:
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r} is not a count")
    return number
