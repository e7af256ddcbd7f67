"""Model files: a versioned, documented format that never runs code when it is read.

A file is an uncompressed zip archive with ``header.json`` (format, version, class,
parameters, state) and one ``.npy`` member for each array, whose SHA-256 the header
has. ``docs/model-file.md`` describes it.
"""

import io
import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gradraker import __version__
from gradraker._files import write_atomically
from gradraker.exceptions import ModelFileError

FORMAT = "gradraker-model"
FORMAT_VERSION = 1
_HEADER = "header.json"
# A fixed time stamp, so that equal models make equal files.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_model(
    path: str | os.PathLike[str],
    *,
    kind: str,
    parameters: dict[str, Any],
    state: dict[str, Any],
    notes: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> Path:
    """Write a model to ``path``: complete, or not at all.

    ``parameters``, ``state`` and ``notes`` must be of types that JSON has; ``kind`` is the class.
    """
    members = {f"{name}.npy": _to_npy(array) for name, array in arrays.items()}
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "gradraker_version": __version__,
        "class": kind,
        "parameters": parameters,
        "state": state,
        "notes": notes,
        "sha256": {name: sha256(content).hexdigest() for name, content in members.items()},
    }
    members[_HEADER] = json.dumps(header, ensure_ascii=True, allow_nan=False).encode()

    def write(temporary: Path) -> None:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)

    return write_atomically(path, write)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the header and the arrays of a model file, or raise :class:`ModelFileError`."""
    content = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename: _read_member(archive, info) for info in archive.infolist()}
        header = json.loads(members.pop(_HEADER))
        is_ours = header["format"] == FORMAT
        version, writer = header["format_version"], str(header["gradraker_version"])
        if type(version) is not int:
            raise ValueError(f"format_version is {version!r}")
    except Exception as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is not a gradraker model file, or is damaged "
            f"or not whole: {error!r}"
        ) from None
    if not is_ours or version < 1:
        raise ModelFileError(f"{os.fspath(path)!r} is not a gradraker model file")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{os.fspath(path)!r} was written by gradraker {writer} in format {version}; "
            f"gradraker {__version__} reads formats up to {FORMAT_VERSION}: upgrade gradraker"
        )
    try:
        if {name: sha256(content).hexdigest() for name, content in members.items()} != dict(
            header["sha256"]
        ):
            raise ValueError("a checksum differs or a part is missing")
        arrays = {name.removesuffix(".npy"): _from_npy(member) for name, member in members.items()}
    except Exception as error:
        raise ModelFileError(f"{os.fspath(path)!r} is damaged: {error}") from None
    return header, arrays


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    # Stored members cannot be larger than the file, so a small file never fills the memory.
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"the part {info.filename!r} is compressed")
    return archive.read(info)


def _to_npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(content: bytes) -> NDArray[Any]:
    return np.asarray(npy.read_array(io.BytesIO(content), allow_pickle=False))


def read_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the notes that ``model.save(path, notes=...)`` kept in a model file."""
    header, _ = read_model(path)
    notes = header.get("notes")
    if not isinstance(notes, dict):
        raise ModelFileError(f"{os.fspath(path)!r} is damaged: it has no notes")
    return notes
