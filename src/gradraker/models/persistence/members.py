"""The members of an archive, read within limits: a file may be forged to exhaust the memory.

Reading takes at most ``4 × size of the file + 64 MB`` until a file is refused. Members are stored,
not compressed, and together not larger than the file. Texts and numbers in the header take more
memory as Python objects than as JSON, so their number is limited by the size of the file; the
writer pads the header with blanks if it has very many names.
"""

import json
import os
import struct
import zipfile
from typing import Any, BinaryIO

ROOM = 64 << 20
FACTOR = 4

# The list of members is at the end of the file; ours takes less than a kilobyte.
_MOST_BYTES_OF_LIST = 1 << 16
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_LONG_END = struct.Struct("<4sQ2H2L4Q")
_BYTES_AT_ONCE = 1 << 20
# Bytes of memory for each text, object, list or number of the header, measured on the worst of
# each kind; they are held several times while a model is made from them.
_BYTES_PER_ITEM = 160


def read_members(file: BinaryIO, *, only: str | None = None) -> dict[str, bytearray]:
    """Return the members of an archive by name, or only one; ValueError for a forged one."""
    size = os.fstat(file.fileno()).st_size
    if _find_size_of_list(file, size) > _MOST_BYTES_OF_LIST:
        raise ValueError("the list of parts is too long")
    with zipfile.ZipFile(file) as archive:
        found = archive.infolist()
        for info in found:
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise ValueError(f"the part {info.filename[:100]!r} is compressed")
        if sum(info.file_size for info in found) > size:
            raise ValueError("parts overlap")
        if len({info.filename for info in found}) != len(found):
            raise ValueError("a part occurs twice")
        return {
            info.filename: _read_member(archive, info)
            for info in found
            if only is None or info.filename == only
        }


def _find_size_of_list(file: BinaryIO, size: int) -> int:
    """Return the number of bytes of the list of members, from the end of the file."""
    file.seek(max(0, size - _END.size - _LOCATOR.size - _LONG_END.size))
    tail = file.read()
    if len(tail) < _END.size:
        raise ValueError("it is too short")
    mark, *_, n_bytes, _, n_comment = _END.unpack(tail[-_END.size :])
    if mark != b"PK\5\6" or n_comment:
        raise ValueError("its end is missing")
    rest = tail[: -_END.size]
    if rest[-_LOCATOR.size :][:4] == b"PK\6\7":  # larger than 4 GB
        mark, _, position, _ = _LOCATOR.unpack(rest[-_LOCATOR.size :])
        rest = rest[: -_LOCATOR.size]
        if len(rest) < _LONG_END.size or position != size - len(tail):
            raise ValueError("its end is missing")
        n_bytes = max(n_bytes if n_bytes < 0xFFFFFFFF else 0, _LONG_END.unpack(rest)[8])
    return int(n_bytes)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    content = bytearray()
    with archive.open(info) as member:
        while piece := member.read(_BYTES_AT_ONCE):
            content += piece
    if len(content) != info.file_size:
        raise ValueError(f"the part {info.filename[:100]!r} is not whole")
    return content


def read_header(text: bytes, size: int) -> dict[str, Any]:
    """Parse the header of a file of some size, unless it would take too much memory."""
    cost = _estimate_cost(text)
    if cost > FACTOR * size + ROOM:
        raise ValueError(f"the header would take {cost >> 20} MB of memory")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise ValueError("the header is not an object")
    return header


def compute_padding(header: bytes, size: int) -> int:
    """Return how many blanks make a file large enough for :func:`read_header` to accept it."""
    missing = _estimate_cost(header) - ROOM - FACTOR * (size + len(header))
    # A blank is not free either: it is part of the header, which is held as bytes and as text.
    return max(0, -(-missing // (FACTOR - 2)))


def _estimate_cost(text: bytes) -> int:
    # Commas count items; an empty list or object within another begins with a bracket.
    n_items = text.count(b",") + text.count(b"[") + text.count(b"{")
    return _BYTES_PER_ITEM * n_items + 2 * len(text)
