"""Find the files of a data set in the user's folder, or download, check and put them there.

A file reaches its final name only whole and with the right checksum: everything is
downloaded to a temporary folder, unpacked in memory, checked, and moved.
"""

import gzip
import hashlib
import io
import logging
import os
import sys
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pooch  # type: ignore[import-untyped]

from gradraker._files import write_atomically
from gradraker.datasets.fetch.progress import ProgressBar
from gradraker.datasets.fetch.registry import RemoteFile, dataset_info
from gradraker.exceptions import DatasetUnavailableError

ENVIRONMENT_VARIABLE = "GRADRAKER_DATA"
TIMEOUT_SECONDS = 30.0

_WRONG_CONTENT = "{} does not have the expected content (its SHA-256 differs)"


def data_folder(name: str, data_home: str | os.PathLike[str] | None) -> Path:
    """Folder of one data set in ``data_home``, GRADRAKER_DATA or the user's cache folder."""
    if data_home is None:
        data_home = os.environ.get(ENVIRONMENT_VARIABLE) or pooch.os_cache("gradraker")
    return Path(data_home).expanduser() / name


def find_files(
    name: str, *, data_home: str | os.PathLike[str] | None, download: bool
) -> dict[str, Path]:
    """Paths of all files of a data set by name, downloading those that are missing."""
    folder = data_folder(name, data_home)
    files = dataset_info(name).files
    missing = [file for file in files if not (folder / file.name).is_file()]
    packed: dict[str, bytes] = {}  # url -> what it gives; cora has two files in one archive
    for file in missing:
        if file.url not in packed:
            packed[file.url] = _obtain(file, folder, download=download)
        content = _unpack(file, packed[file.url], folder)
        _store(file, content, folder)
    return {file.name: folder / file.name for file in files}


def _store(file: RemoteFile, content: bytes, folder: Path) -> None:
    def write(path: Path) -> None:
        path.write_bytes(content)

    try:
        write_atomically(folder / file.name, write)
    except OSError as error:
        raise _unavailable(file, folder, f"it could not be written there: {error}") from error


def _obtain(file: RemoteFile, folder: Path, *, download: bool) -> bytes:
    """Bytes of the archive that the user put in the folder, else of the download."""
    archive = folder / file.download_name
    if archive.is_file():
        return archive.read_bytes()
    if not download:
        raise _unavailable(file, folder, "download is False")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as temporary:
            return _retrieve(file, Path(temporary))
    except (OSError, ValueError) as error:
        raise _unavailable(file, folder, _failure(file, error)) from error


def _failure(file: RemoteFile, error: OSError | ValueError) -> str:
    """One clause on why a download failed; errors of ``requests`` are long and are OSErrors."""
    if not isinstance(error, OSError):
        return _WRONG_CONTENT.format(file.download_name)  # pooch found another checksum
    if hasattr(error, "request") and getattr(error, "response", None) is None:
        return f"the connection to {urlsplit(file.url).hostname} failed"
    return f"could not be downloaded: {error}"


def _retrieve(file: RemoteFile, folder: Path) -> bytes:
    known = file.archive_sha256 or (file.sha256 if file.download_name == file.name else "")
    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    responses: list[Any] = []  # pooch leaves a broken connection open
    downloader = pooch.HTTPDownloader(
        progressbar=ProgressBar(file.download_name) if on_terminal else False,
        timeout=TIMEOUT_SECONDS,
        chunk_size=1 << 16,
        hooks={"response": lambda response, **_: responses.append(response)},
    )
    # pooch would print the checksum of a download and advise to put it into the code.
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        path = pooch.retrieve(
            file.url,
            known_hash=f"sha256:{known}" if known else None,
            fname=file.download_name,
            path=folder,
            downloader=downloader,
        )
    finally:
        logger.setLevel(level)
        for response in responses:
            response.close()
    return Path(path).read_bytes()


def _unpack(file: RemoteFile, packed: bytes, folder: Path) -> bytes:
    """Return the file's own bytes, never more than it should have, and check them."""
    try:
        if file.member:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                member = archive.extractfile(file.member)
                if member is None:
                    raise tarfile.TarError(f"{file.member!r} is no file")
                content = member.read(file.size + 1)
        elif packed.startswith(b"\x1f\x8b"):  # gzip, unless the server has unpacked it
            with gzip.open(io.BytesIO(packed)) as stream:
                content = stream.read(file.size + 1)
        else:
            content = packed
    except (tarfile.TarError, KeyError, EOFError, OSError, zlib.error) as error:
        raise _unavailable(file, folder, f"{file.download_name} is damaged: {error}") from error
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise _unavailable(file, folder, _WRONG_CONTENT.format(file.download_name))
    return content


def _unavailable(file: RemoteFile, folder: Path, reason: str) -> DatasetUnavailableError:
    inside = "" if file.download_name == file.name else f", which holds {file.name!r}"
    return DatasetUnavailableError(
        f"{file.name!r} is not in {str(folder)!r} and {reason}. Put it there yourself: get "
        f"{file.url}{inside} (SHA-256 of {file.name!r}: {file.sha256})"
    )
