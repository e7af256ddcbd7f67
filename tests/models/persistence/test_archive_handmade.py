"""Hand-made files in the documented format are refused, or give the model."""

import copy
import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gradraker import SKGRegressor, load
from gradraker.exceptions import ModelFileError
from gradraker.models.persistence import archive as model_file
from saved_models import (
    MODELS,
    NAMES,
    assert_same,
    read_parts,
    write_parts,
)


def to_npy(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


@pytest.fixture(params=["named", "light"])
def parts(request: pytest.FixtureRequest, path: Path) -> tuple[Any, ...]:
    MODELS[request.param]().save(path)
    return read_parts(path)


def refused(
    path: Path, message: str = "cannot be read|is damaged|is not a gradraker model file"
) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    assert repr(os.fspath(path)) in str(caught.value)


def test_parts_written_again_are_the_model(path: Path, parts: tuple[Any, ...]) -> None:
    before = load(path)
    write_parts(path, *parts)
    assert_same(before, load(path))


def test_newer_formats_are_refused_by_version(path: Path, parts: tuple[Any, ...]) -> None:
    header, arrays = parts
    header.update(format_version=model_file.FORMAT_VERSION + 1, gradraker_version="9.9")
    write_parts(path, header, arrays)
    refused(path, r"written by gradraker 9\.9 in format \d+; .*upgrade gradraker")
    # Even if everything else has changed as well.
    write_parts(path, {k: header[k] for k in ("format", "format_version", "gradraker_version")}, {})
    refused(path, "upgrade gradraker")


@pytest.mark.parametrize("version", [0, -1, None, "new", [1], {}])
def test_versions_that_never_existed_are_refused(
    path: Path, parts: tuple[Any, ...], version: Any
) -> None:
    parts[0]["format_version"] = version
    write_parts(path, *parts)
    refused(path, "is not a gradraker model file")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_parts_are_refused(path: Path, parts: tuple[Any, ...], compression: int) -> None:
    # A few compressed bytes can become gigabytes.
    write_parts(path, *parts, compression=compression)
    refused(path, "is compressed")


def test_nothing_is_unpickled(path: Path, parts: tuple[Any, ...]) -> None:
    header, arrays = parts

    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(path.with_name("exploded")),)

    bomb = np.array([Bomb()], dtype=object)
    arrays["coef_.npy"] = to_npy(bomb, allow_pickle=True)
    write_parts(path, header, arrays)
    refused(path, "damaged")
    arrays["coef_.npy"] = pickle.dumps(Bomb())
    write_parts(path, header, arrays)
    refused(path, "damaged")
    assert not path.with_name("exploded").exists()


@pytest.mark.parametrize(
    "name", ["LinearRegression", "SKGRegressor2", "", None, 3, ["SKGRegressor"]]
)
def test_other_classes_are_refused(path: Path, parts: tuple[Any, ...], name: Any) -> None:
    parts[0]["class"] = name
    write_parts(path, *parts)
    refused(path, "holds a model of class .*known are .*'SKGRegressor'")
    with pytest.raises(ModelFileError, match="it holds a model of class"):
        SKGRegressor.load(path)


@pytest.mark.parametrize(
    "coef",
    [
        np.zeros(7),
        np.zeros(9),
        np.zeros(0),
        np.zeros((0, 8)),
        np.float64(1.0),
        np.zeros((2, 2, 8)),
        np.zeros((8, 2)),
        np.zeros(8, dtype=np.float32),
        np.zeros(8, dtype=">f8"),
        np.zeros(8, dtype=np.int64),
        np.zeros(8, dtype=complex),
        np.zeros(8, dtype="U3"),
        np.full(8, np.nan),
        np.full(8, np.inf),
        np.zeros(8, dtype=[("a", "f8")]),
    ],
)
def test_coefficients_of_other_shapes_and_types_are_refused(
    path: Path, parts: tuple[Any, ...], coef: Any
) -> None:
    parts[1]["coef_.npy"] = to_npy(coef)
    write_parts(path, *parts)
    refused(path, "cannot be read")


def test_parts_that_are_missing_or_added_are_refused(path: Path, parts: tuple[Any, ...]) -> None:
    header, arrays = parts
    for name in arrays:
        write_parts(path, header, {k: v for k, v in arrays.items() if k != name})
        refused(path)
        write_parts(path, header, {k: v for k, v in arrays.items() if k != name}, resign=False)
        refused(path, "a part is missing")
    write_parts(path, header, {**arrays, "more.npy": to_npy(np.zeros(1))}, resign=False)
    refused(path, "checksum differs or a part is missing")


def test_wrong_checksums_are_refused(path: Path, parts: tuple[Any, ...]) -> None:
    header, arrays = parts
    arrays["coef_.npy"] = to_npy(np.zeros_like(load(path).coef_))
    write_parts(path, header, arrays, resign=False)
    refused(path, "checksum differs")


@pytest.mark.parametrize(
    "header", [b"", b"{", b"[]", b"3", b"null", b'"text"', b"\xff\xfe", b"{}", b"[" * 100_000]
)
def test_headers_of_other_programs_are_refused(
    path: Path, parts: tuple[Any, ...], header: bytes
) -> None:
    write_parts(path, header, parts[1])
    refused(path, "is not a gradraker model file")


JUNK: Any = [
    None,
    True,
    -1,
    0,
    1.5,
    2**64,
    10**400,
    "",
    "text",
    [],
    [1],
    {},
    {"a": 1},
    [[[]]],
    [None],
]


def leaves(value: Any, place: Any = ()) -> Iterator[Any]:
    """Places of all values in a header."""
    yield place
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, (*place, key))


def changed(
    header: dict[str, Any], place: tuple[Any, ...], change: Callable[..., Any]
) -> dict[str, Any]:
    header = copy.deepcopy(header)
    target = header
    for key in place[:-1]:
        target = target[key]
    change(target, place[-1])
    return header


def survives_use(path: Path) -> None:
    """A file that was changed on purpose is refused or makes a model that works."""
    try:
        again = load(path)
    except ModelFileError:
        return
    rows = np.ones((2, getattr(again, "n_features_in_", 5)))
    if hasattr(again, "feature_names_in_"):
        rows = pd.DataFrame(rows, columns=again.feature_names_in_)
    names = None if hasattr(again, "n_features_in_") else NAMES
    assert np.isfinite(again.predict(rows, references=names)).all()
    assert np.isfinite(again.frequencies_).all()
    assert len(list(again.references_)) == len(set(again.references_))
    shape = again.coef_.shape[:-1]
    again.learn_one(["a", 3, "unheard of"], np.zeros(shape).tolist())
    again.partial_fit(rows, np.zeros((2, *shape)), references=names)
    again.save(path)
    np.testing.assert_array_equal(load(path).coef_, again.coef_)


def test_junk_anywhere_in_the_header_is_refused_or_harmless(
    path: Path, parts: tuple[Any, ...]
) -> None:
    header, arrays = parts
    places = [place for place in leaves(header) if place and place[0] != "sha256"]
    assert len(places) > 15
    for place in places:
        for junk in JUNK:
            if place[-1] == "n_frequencies" and junk == 2**64:
                continue
            write_parts(
                path,
                changed(header, place, lambda part, key, j=junk: part.update({key: j})),
                arrays,
            )
            survives_use(path)
        write_parts(path, changed(header, place, lambda part, key: part.pop(key)), arrays)
        survives_use(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed_", -1),
        ("seed_", 2**64),
        ("seed_", 1.0),
        ("seed_", True),
        ("n_seen_", -1),
        ("n_numbered", -1),
        ("n_numbered", 2**40),
        ("n_features_in_", 6),
        ("n_features_in_", 2**31),
        ("n_features_in_", -1),
        ("n_features_in_", "5"),
        ("sigma2_", 0.0),
        ("sigma2_", "theory"),
        ("sigma2_", None),
        ("named", None),
        ("named", "abcde"),
        ("named", ["a", "b", "c", "d", "a"]),
        ("named", ["a", "b", "c", "d", {"unknown": 1}]),
        ("named", ["a", "b", "c", "d", {"float": "nan"}]),
        ("named", ["a", "b", "c", "d", {"bytes": "zz"}]),
        ("named", ["a", "b", "c", "d", 1.5]),
        ("named", ["a", "b", "c", "d", None]),
        ("named", [0, 1, 2, 3, {"float": "0x1.8p+1"}]),
    ],
)
def test_states_that_no_model_has_are_refused(path: Path, key: str, value: Any) -> None:
    # Column numbers beyond the table would send the compiled loops outside of their memory.
    MODELS["named"]().save(path)
    header, arrays = read_parts(path)
    header["state"][key] = value
    write_parts(path, header, arrays)
    refused(path, "cannot be read")


def test_names_that_are_columns_already_are_refused(path: Path) -> None:
    MODELS["grown"]().save(path)
    header, arrays = read_parts(path)
    assert header["state"]["named"] == ["new"]
    header["state"]["named"] = [3]
    write_parts(path, header, arrays)
    refused(path, "cannot be read")


def test_feature_names_must_be_strings(path: Path) -> None:
    MODELS["array"]().save(path)
    header, arrays = read_parts(path)
    header["state"]["has_feature_names"] = True
    write_parts(path, header, arrays)
    refused(path, "cannot be read")


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "rbf"},
        {"sigma2": -1},
        {"sigma2": "magic"},
        {"learning_rate": 2},
        {"n_frequencies": 0},
        {"n_frequencies": 5},
        {"n_epochs": 0},
        {"shuffle": "yes"},
        {"unknown": 1},
    ],
)
def test_parameters_that_no_model_has_are_refused(
    path: Path, parts: tuple[Any, ...], parameters: dict[Any, Any]
) -> None:
    parts[0]["parameters"].update(parameters)
    write_parts(path, *parts)
    refused(path, "cannot be read")


def test_deep_names_are_refused(path: Path, parts: tuple[Any, ...]) -> None:
    name: Any = "end"
    for _ in range(400):
        name = {"tuple": [name]}
    text = json.dumps(
        parts[0] | {"sha256": {n: sha256(c).hexdigest() for n, c in parts[1].items()}}
    )
    text = text.replace('"named": [', f'"named": [{json.dumps(name)}, ')
    write_parts(path, text.encode(), parts[1])
    survives_use(path)
    deep = '{"tuple": [' * 5000 + "1" + "]}" * 5000
    write_parts(path, text.replace(json.dumps(name), deep).encode(), parts[1])
    refused(path)
