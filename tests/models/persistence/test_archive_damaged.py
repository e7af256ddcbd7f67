"""Damaged and foreign files are refused, or harmless."""

import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import SKGRegressor, load
from gradraker.exceptions import ModelFileError
from saved_models import MODELS, NAMES, X, Y, assert_same, regressor


def small(path: Path) -> tuple[Any, ...]:
    """A file of about a kilobyte, and its bytes."""
    model = regressor(n_frequencies=1, keep_known=False)
    model.fit(X, Y[:, 0], references=NAMES).save(path)
    return model, path.read_bytes()


def same_or_refused(path: Path, model: SKGRegressor) -> bool:
    """A changed file is refused, or it is the model to the last bit."""
    try:
        again = load(path)
    except ModelFileError:
        return False
    assert_same(model, again)
    return True


def test_truncated_files_are_refused(path: Path) -> None:
    _, content = small(path)
    for length in [*range(0, len(content), 7), *range(len(content) - 30, len(content))]:
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"not a gradraker model file, or is damaged"):
            load(path)


def test_every_flipped_byte_is_noticed_or_harmless(path: Path) -> None:
    model, content = small(path)
    harmless = 0
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << (place * 5 % 8)
        path.write_bytes(flipped)
        harmless += same_or_refused(path, model)
    # Harmless are unused fields of the archive, such as dates.
    assert harmless < 0.1 * len(content)


def test_flipped_bytes_of_a_large_file(path: Path) -> None:
    model = MODELS["indexed"]()
    model.save(path)
    content = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(content), 300):
        flipped = bytearray(content)
        flipped[place] ^= 0x10
        path.write_bytes(flipped)
        same_or_refused(path, model)


def test_missing_and_added_bytes_are_noticed_or_harmless(path: Path) -> None:
    model, content = small(path)
    rng = np.random.default_rng(0)
    for _ in range(100):
        start, stop = np.sort(rng.integers(0, len(content), 2))
        for changed in (
            content[:start] + content[stop:],
            content[:stop] + content[start:],
            content[:start] + bytes(stop - start) + content[stop:],
        ):
            path.write_bytes(changed)
            same_or_refused(path, model)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"PK\x05\x06" + bytes(18),  # an empty archive
        b"hello, world\n",
        json.dumps({"format": "gradraker-model", "format_version": 1}).encode(),
        pickle.dumps({"format": "gradraker-model"}),
        bytes(5000),
        os.urandom(5000),
    ],
)
def test_foreign_files_are_refused(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a gradraker model file"):
        load(path)
    with pytest.raises(ModelFileError, match="is not a gradraker model file"):
        SKGRegressor.load(path)


def test_foreign_archives_are_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<xml/>")
    with pytest.raises(ModelFileError, match="is not a gradraker model file"):
        load(path)
    np.savez(path.with_suffix(".npz"), coef_=np.zeros(8))
    with pytest.raises(ModelFileError, match="is not a gradraker model file"):
        load(path.with_suffix(".npz"))


def test_missing_files_and_folders_raise_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.skg")
    with pytest.raises(OSError, match=r"[Dd]irectory"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere.* does not exist"):
        MODELS["array"]().save(tmp_path / "nowhere" / "model.skg")


def test_the_error_is_a_value_error() -> None:
    assert issubclass(ModelFileError, ValueError)
