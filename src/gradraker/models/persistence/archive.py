"""Model files: a versioned, documented format that never runs code when it is read.

A file is an uncompressed zip archive with ``header.json`` (format, version, class,
parameters, state) and one ``.npy`` member for each array, whose SHA-256 the header
has. ``docs/reference/model-file.md`` describes it.
"""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gradraker import __version__
from gradraker.exceptions import ModelFileError
from gradraker.models.persistence.members import compute_padding, read_header, read_members

FORMAT = "gradraker-model"
FORMAT_VERSION = 1
HEADER = "header.json"
# A fixed time stamp, so that equal models make equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class ModelContent:
    """The content of a model file."""

    header: dict[str, Any]  # class, parameters, state, notes, and the checksums of the arrays
    arrays: dict[str, NDArray[Any]]  # by name
    digest: str  # different for different files


def write_archive(file: BinaryIO, model: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write a model to an open file, and return a digest of it.

    ``model`` has the class, its parameters, state and notes, of types that JSON has.
    """
    members = {f"{name}.npy": _to_npy(array) for name, array in arrays.items()}
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "gradraker_version": __version__,
        **model,
        "sha256": {name: sha256(member).hexdigest() for name, member in members.items()},
    }
    header = json.dumps(content, ensure_ascii=True, allow_nan=False).encode()
    header += b" " * compute_padding(header, sum(map(len, members.values())))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, member in (members | {HEADER: header}).items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), member)
    return _make_digest(header, file.tell())


def read_archive(path: str | os.PathLike[str]) -> ModelContent:
    """Return the content of a model file, or raise :class:`ModelFileError`."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            members = read_members(file)
            text, size = bytes(members.pop(HEADER)), os.fstat(file.fileno()).st_size
            header = read_header(text, size)
            is_ours = header["format"] == FORMAT
            version, writer = header["format_version"], str(header["gradraker_version"])
            if type(version) is not int:
                raise ValueError(f"format_version is {version!r}")
        except Exception as error:
            raise ModelFileError(
                f"{name!r} is not a gradraker model file, or is damaged or not whole: "
                f"{repr(error)[:300]}"
            ) from None
    if not is_ours or version < 1:
        raise ModelFileError(f"{name!r} is not a gradraker model file")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{name!r} was written by gradraker {writer[:100]} in format {version}; "
            f"gradraker {__version__} reads formats up to {FORMAT_VERSION}: upgrade gradraker"
        )
    try:
        found = {part: sha256(member).hexdigest() for part, member in members.items()}
        if found != dict(header["sha256"]):
            raise ValueError("a checksum differs or a part is missing")
        arrays = {part.removesuffix(".npy"): _from_npy(m) for part, m in members.items()}
    except Exception as error:
        raise ModelFileError(f"{name!r} is damaged: {repr(error)[:300]}") from None
    return ModelContent(header, arrays, _make_digest(text, size))


def read_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the notes that ``model.save(path, notes=...)`` kept in a model file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from gradraker import SKGRegressor
    >>> from gradraker.models import read_notes
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.skg"
    >>> model = SKGRegressor(sigma2=1.0, random_state=0).fit([[1.0], [0.0]], [1.0, 2.0])
    >>> _ = model.save(path, notes={"made by": "Ann"})
    >>> read_notes(path)
    {'made by': 'Ann'}
    """
    notes = read_archive(path).header.get("notes")
    if not isinstance(notes, dict):
        raise ModelFileError(f"{os.fspath(path)!r} is damaged: it has no notes")
    return notes


def read_digest(path: str | os.PathLike[str]) -> str | None:
    """Return the digest of the model file at a path; None if there is no file.

    Only the header is read. Any other file has the digest "".
    """
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        try:
            header = read_members(file, only=HEADER)[HEADER]
        except Exception:  # zipfile has many errors for a damaged file
            return ""
        return _make_digest(header, os.fstat(file.fileno()).st_size)


def _make_digest(header: bytes | bytearray, size: int) -> str:
    """Return a text that is different for different files; the header has checksums of the rest."""
    return f"{size}-{sha256(header).hexdigest()}"


def _to_npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(content: bytearray) -> NDArray[Any]:
    """Return the array of a member without copying it; it owns the bytes of the member."""
    start = io.BytesIO(content[:65536])
    version = npy.read_magic(start)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"an array is in format {version}")
    shape, is_fortran, dtype = read(start)
    if dtype.hasobject or is_fortran:
        raise ValueError(f"an array is of type {dtype}")
    data = memoryview(content)[start.tell() :]
    # Python's integers, since a product of large ones overflows in NumPy.
    n_bytes = dtype.itemsize
    for length in shape:
        n_bytes *= length
    if n_bytes != len(data) or min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape} has {len(data)} bytes")
    array: NDArray[Any] = np.frombuffer(data, dtype).reshape(shape)
    # For unaligned arrays Numba would compile the loops anew.
    return array if array.flags.aligned else array.copy()
