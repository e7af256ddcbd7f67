"""Find the files of a data set in the user's folder, or download and check them; read them.

A file gets its final name only when it is complete and has the right checksum: pooch downloads it,
it is unpacked in memory, checked, and moved to its place.
"""

import gzip
import hashlib
import io
import os
import tarfile
import warnings
import zlib
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pooch
from numpy.typing import NDArray
from tqdm import tqdm  # type: ignore[import-untyped]

from gradraker._files import write_bytes
from gradraker.datasets.dataset import DatasetInfo, RemoteFile
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError

TIMEOUT_SECONDS = 30.0
# A progress bar appears on a terminal when a download takes longer than this.
BAR_AFTER_SECONDS = 1.0


def find_files(
    info: DatasetInfo, *, data_home: str | os.PathLike[str] | None, download: bool
) -> dict[str, Path]:
    """Paths of all files of a data set by name, downloading those that are missing."""
    folder = info.find_folder(data_home)
    paths = {file.name: folder / file.name for file in info.files}
    packed: dict[str, bytes] = {}  # url -> content; cora has two files in one archive
    for file in info.files:
        if paths[file.name].is_file():
            continue
        if file.url not in packed:
            packed[file.url] = _obtain(file, folder, download=download)
        content = _unpack(file, packed[file.url], folder)
        try:
            write_bytes(paths[file.name], content)
        except OSError as error:
            raise _make_error(file, folder, f"it could not be written there: {error}") from error
    return paths


def _obtain(file: RemoteFile, folder: Path, *, download: bool) -> bytes:
    """Bytes of the archive that the user put in the folder, else of the download."""
    archive = folder / file.download_name
    if archive.is_file():
        return archive.read_bytes()
    if not download:
        raise _make_error(file, folder, "download is False")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        content = _download(file)
    except OSError as error:  # errors of requests are OSErrors, with long messages
        reason = f"could not be downloaded: {error}"
        if hasattr(error, "request") and getattr(error, "response", None) is None:
            reason = f"the connection to {urlsplit(file.url).hostname} failed"
        raise _make_error(file, folder, reason) from error
    if file.archive_sha256:
        _check_content(file, content, file.archive_sha256, folder)
    return content


class _Bar(tqdm):
    """A bar that pooch updates; it appears on a terminal only, after one second."""

    n: float

    def __init__(self, label: str) -> None:
        # disable=None disables the bar if standard error is not a terminal.
        super().__init__(
            desc=label, unit="B", unit_scale=True, delay=BAR_AFTER_SECONDS, disable=None
        )

    def __bool__(self) -> bool:
        return True  # also before pooch knows the size

    def reset(self, total: float | None = None) -> None:
        # Called before pooch adds the total again; tqdm's own would draw even a short bar.
        self.n = 0 if self.total else self.n


def _download(file: RemoteFile) -> bytes:
    content = io.BytesIO()
    with ExitStack() as opened:
        download = pooch.HTTPDownloader(
            opened.enter_context(_Bar(file.download_name)),
            timeout=TIMEOUT_SECONDS,
            chunk_size=1 << 16,
            # Closes the response: pooch leaves a broken connection open.
            hooks={"response": lambda response, **_: opened.enter_context(response)},
        )
        download(file.url, content, None)
    return content.getvalue()


def _unpack(file: RemoteFile, packed: bytes, folder: Path) -> bytes:
    """Return the checked bytes of the file itself; no more than its size are unpacked."""
    try:
        if file.member:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                member = archive.extractfile(file.member)
                if member is None:
                    raise tarfile.TarError(f"{file.member!r} is not a file")
                content = member.read(file.size + 1)
        elif packed.startswith(b"\x1f\x8b"):  # gzip, unless the server has unpacked it
            with gzip.open(io.BytesIO(packed)) as stream:
                content = stream.read(file.size + 1)
        else:
            content = packed
    except (tarfile.TarError, KeyError, EOFError, OSError, zlib.error) as error:
        raise _make_error(file, folder, f"{file.download_name} is damaged: {error}") from error
    _check_content(file, content, file.sha256, folder)
    return content


def _check_content(file: RemoteFile, content: bytes, sha256: str, folder: Path) -> None:
    if hashlib.sha256(content).hexdigest() != sha256:
        reason = f"{file.download_name} does not have the expected content (its SHA-256 differs)"
        raise _make_error(file, folder, reason)


def _make_error(file: RemoteFile, folder: Path, reason: str) -> DatasetUnavailableError:
    inside = "" if file.download_name == file.name else f", which holds {file.name!r}"
    return DatasetUnavailableError(
        f"{file.name!r} is not in {str(folder)!r} and {reason}. Put it there yourself: get "
        f"{file.url}{inside} (SHA-256 of {file.name!r}: {file.sha256})"
    )


def read_integers(
    path: Path, *, n_columns: int, delimiter: str | None = None, header: str | None = None
) -> NDArray[np.int64]:
    """Return the table (n, n_columns) of a text file; ``header`` must be its first line."""
    try:
        with path.open(encoding="utf-8") as file, warnings.catch_warnings():
            if header is not None and (first := file.readline().strip()) != header:
                raise ValueError(f"the first line must be {header!r}; got {first[:80]!r}")
            warnings.simplefilter("ignore", UserWarning)  # an empty file has wrong counts
            warnings.simplefilter("error", DeprecationWarning)  # a number too large for int64
            table = np.loadtxt(file, dtype=np.int64, delimiter=delimiter, ndmin=2)
        if table.size == 0:
            return np.empty((0, n_columns), dtype=np.int64)
        if table.shape[1] != n_columns:
            raise ValueError(f"has {table.shape[1]} columns, but must have {n_columns}")
    except (ValueError, OverflowError) as error:
        raise DatasetFileError(f"{str(path)!r} cannot be read: {error}") from error
    return table
