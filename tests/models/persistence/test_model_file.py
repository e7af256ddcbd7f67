"""Model files: round trips, damage of every kind, and that no failure costs an older file."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import gradraker
from gradraker import SKGRegressor, load
from gradraker.exceptions import ModelFileError
from gradraker.features import identify_reference
from gradraker.kernels.shift_invariant import KERNELS
from gradraker.models.persistence import archive as model_file
from gradraker.models.persistence.names_as_json import decode_name, encode_name

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 5))
Y = RNG.normal(size=(12, 2))
NAMES = ["a", "b", "c", "d", "e"]


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(**{"sigma2": 1.5, "n_frequencies": 4, "random_state": 7, **parameters})


def learned_by_name() -> Any:
    model = regressor()
    for n, row in enumerate(X):
        model.learn_one(dict(zip(NAMES, row, strict=True)), Y[n, 0])
    return model


MODELS: dict[Any, Callable[..., Any]] = {
    "array": lambda: regressor().fit(X, Y[:, 0]),
    "targets": lambda: regressor().fit(X, Y),
    "column": lambda: regressor().fit(X, Y[:, :1]),
    "named": lambda: regressor().fit(X, Y[:, 0], references=NAMES),
    "frame": lambda: regressor().fit(pd.DataFrame(X, columns=NAMES), Y),
    "indexed": lambda: regressor().fit(
        pd.DataFrame(X, columns=NAMES, index=[f"row {n}" for n in range(12)]), Y
    ),
    "grown": lambda: regressor().fit(X, Y[:, 0]).partial_fit([[1.0]], [2.0], references=["new"]),
    "one by one": learned_by_name,
    "laplacian": lambda: regressor(kernel="laplacian").fit(X, Y),
    "cauchy": lambda: regressor(kernel="cauchy").partial_fit(X, Y),
    "theory": lambda: regressor(sigma2="theory").fit(X, Y[:, 0]),
    "float32": lambda: regressor().fit(X.astype(np.float32), Y[:, 0]),
    "no seed": lambda: regressor(random_state=None).fit(X, Y),
    "generator": lambda: regressor(random_state=np.random.RandomState(1)).fit(X, Y),
    "numpy parameters": lambda: regressor(
        sigma2=np.float32(0.5),
        n_frequencies=np.int16(3),
        shuffle=np.True_,
        random_state=np.int64(5),
    ).fit(X, Y),
    "light": lambda: regressor(keep_known=False).fit(X, Y),
}
EVERY = pytest.mark.parametrize("kind", MODELS)


def rows_for(model: SKGRegressor, names: Any = NAMES) -> dict[str, Any]:
    """Rows and references that a model of any past takes."""
    if hasattr(model, "feature_names_in_"):
        return {"X": pd.DataFrame(X, columns=NAMES)}
    return {"X": X} if hasattr(model, "n_features_in_") else {"X": X, "references": names}


def assert_same(model: SKGRegressor, other: SKGRegressor) -> None:
    """Equal now, and equal after both learned on."""
    assert type(other) is type(model)
    for name in ("coef_", "sigma2_", "seed_", "n_seen_", "frequencies_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(model, name))
    assert list(other.references_) == list(model.references_)
    assert [type(name) for name in other.references_] == [type(n) for n in model.references_]
    for name in ("n_features_in_", "feature_names_in_"):
        assert hasattr(other, name) == hasattr(model, name)
        if hasattr(model, name):
            assert np.array_equal(getattr(other, name), getattr(model, name))
    for key, value in model.get_params().items():
        if not isinstance(value, np.random.RandomState):
            assert other.get_params()[key] == value
    model, other = copy.deepcopy(model), copy.deepcopy(other)
    rows = rows_for(model)
    np.testing.assert_array_equal(other.predict(**rows), model.predict(**rows))
    for made in (model, other):
        made.partial_fit(**rows, y=Y[:, 0] if model.coef_.ndim == 1 else Y[:, : len(model.coef_)])
        made.learn_one(["a", 3, "newer"], np.zeros(model.coef_.shape[:-1]).tolist())
    np.testing.assert_array_equal(other.coef_, model.coef_)
    assert list(other.references_) == list(model.references_)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.skg"


# -- round trips -------------------------------------------------------------------------------


@EVERY
def test_round_trip(kind: str, path: Path) -> None:
    model = MODELS[kind]()
    assert model.save(path) == path
    assert_same(model, load(path))
    assert_same(model, SKGRegressor.load(path))
    assert_same(model, load(os.fspath(path)))


@EVERY
@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
    ids=["deepcopy", "pickle"],
)
def test_copies(kind: str, duplicate: Callable[..., Any]) -> None:
    model = MODELS[kind]()
    other = duplicate(model)
    assert_same(model, other)
    before = model.coef_.copy()
    other.learn_one(["x"], np.ones(model.coef_.shape[:-1]).tolist())
    np.testing.assert_array_equal(model.coef_, before)
    assert "x" not in list(model.references_)


@EVERY
def test_a_clone_is_not_fitted_and_learns_the_same(kind: str) -> None:
    model = MODELS[kind]()
    other = clone(model)
    assert not hasattr(other, "coef_")
    if isinstance(model.random_state, int | np.integer) and hasattr(model, "n_features_in_"):
        y = Y[:, 0] if model.coef_.ndim == 1 else Y[:, : len(model.coef_)]
        np.testing.assert_array_equal(
            other.fit(**rows_for(model), y=y).coef_, model.fit(**rows_for(model), y=y).coef_
        )


def test_explanations_survive(path: Path) -> None:
    model = MODELS["indexed"]()
    before = model.explain(pd.DataFrame(X[:3], columns=NAMES))
    model.save(path)
    after = load(path).explain(pd.DataFrame(X[:3], columns=NAMES))
    np.testing.assert_array_equal(after.weights, before.weights)


def test_a_second_save_replaces_the_first(path: Path) -> None:
    MODELS["targets"]().save(path)
    model = MODELS["named"]()
    model.save(path)
    assert_same(model, load(path))
    assert [file.name for file in path.parent.iterdir()] == ["model.skg"]


@EVERY
def test_equal_models_make_equal_files(kind: str, path: Path, tmp_path: Path) -> None:
    model = MODELS[kind]()
    model.save(path)
    again = load(path)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes() or kind == "generator"


def test_saving_changes_nothing(path: Path) -> None:
    model = MODELS["grown"]()
    other = copy.deepcopy(model)
    model.save(path)
    assert_same(other, model)


def test_a_saved_generator_is_the_seed_drawn_from_it(path: Path) -> None:
    model = MODELS["generator"]()
    model.save(path)
    assert load(path).random_state == model.seed_


def test_loading_does_not_draw_frequencies_that_are_not_used(path: Path) -> None:
    # A file holds the seed and the names: its size does not grow with M × D.
    model = regressor(n_frequencies=50).partial_fit(np.zeros((1, 20_000)), [1.0])
    model.save(path)
    assert path.stat().st_size < 10_000
    assert load(path).predict(np.ones((1, 20_000))) == model.predict(np.ones((1, 20_000)))


@pytest.mark.process
def test_another_process_continues_bit_for_bit(path: Path, tmp_path: Path) -> None:
    model = MODELS["named"]()
    model.learn_one([("tuple", 1.5), b"bytes", 0.25, "Zürich"], 0.5)
    model.save(path)
    program = """
import sys, numpy as np, gradraker
model = gradraker.load(sys.argv[1])
model.learn_one([("tuple", 1.5), b"bytes", 0.25, "new"], 1.0)
model.partial_fit(np.arange(10.0).reshape(2, 5), [1.0, 2.0])
model.save(sys.argv[2])
"""
    command = [sys.executable, "-c", program, str(path), str(tmp_path / "later.skg")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "5"})
    model.learn_one([("tuple", 1.5), b"bytes", 0.25, "new"], 1.0)
    model.partial_fit(np.arange(10.0).reshape(2, 5), [1.0, 2.0])
    assert_same(model, load(tmp_path / "later.skg"))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_file_written_by_this_format_long_ago(kernel: str, path: Path) -> None:
    # The promise of the format: parameters, seed and names make the same features again.
    model = regressor(kernel=kernel).fit(X, Y[:, 0], references=NAMES)
    model.save(path)
    header = read_parts(path)[0]
    again = SKGRegressor(**header["parameters"])
    again.partial_fit(X, Y[:, 0], references=header["state"]["named"])
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)


@pytest.mark.parametrize(
    "name",
    [
        *["s", "", "Zürich", "\U0001f600", "\ud83d\ude00", "\ud800", "a\x00b", '"', "{}"],
        *[b"", b"\xff\x00", 0, -1, 2**63, 2**64, -(10**40), True, False],
        *[0.5, -0.0, 1e300, 5e-324, float("inf")],
        *[(), ("a", 1), (("a", (b"b", 0.1)), "\ud800"), ("tuple",), (True,)],
        *[np.int32(3), np.float32(0.1), np.str_("x"), np.bytes_(b"x"), np.bool_(True)],
        ("a", np.int8(1)),
    ],
)
def test_a_name_of_every_kind(name: Any, path: Path) -> None:
    model = regressor()
    model.learn_one(["first", name], 1.0)
    model.save(path)
    again = load(path)
    assert again.references_ == model.references_ == ["first", name]
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)
    assert again.predict_one([name]) == model.predict_one([name])


NAME = st.recursive(
    st.one_of(
        st.integers(),
        st.text(st.characters()),
        st.text(st.characters(categories=["Cs"]), max_size=3),
        st.binary(),
        st.floats(allow_nan=False),
        st.booleans(),
    ),
    lambda names: st.lists(names, max_size=3).map(tuple),
    max_leaves=6,
)


@given(NAME)
@example("\ud83d\ude00")
@settings(deadline=None, derandomize=True, max_examples=3 * settings().max_examples)
def test_names_survive_json(name: Any) -> None:
    text = json.dumps(encode_name(name), allow_nan=False)
    again = decode_name(json.loads(text))
    assert again == name
    assert type(again) is type(name)
    assert identify_reference(again) == identify_reference(name)


@given(st.lists(NAME, min_size=1, max_size=6, unique=True))
@settings(
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_names_survive_files(path: Path, names: Any) -> None:
    model = regressor().fit(np.eye(len(names)), np.arange(len(names)), references=names)
    model.save(path)
    again = load(path)
    assert again.references_ == names
    np.testing.assert_array_equal(again.frequencies_, model.frequencies_)


# -- damage ------------------------------------------------------------------------------------


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


def test_missing_and_added_stretches(path: Path) -> None:
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


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.skg")
    with pytest.raises(OSError, match=r"[Dd]irectory"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere.* does not exist"):
        MODELS["array"]().save(tmp_path / "nowhere" / "model.skg")


def test_the_error_is_a_value_error() -> None:
    assert issubclass(ModelFileError, ValueError)


# -- files that were made by hand --------------------------------------------------------------


def read_parts(path: Path) -> tuple[Any, ...]:
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    return json.loads(parts.pop("header.json")), parts


def write_parts(
    path: Path,
    header: bytes | dict[str, Any],
    parts: dict[Any, Any],
    *,
    compression: int = zipfile.ZIP_STORED,
    resign: bool = True,
) -> None:
    """Write an archive with right checksums, as someone who knows the format could."""
    if resign and isinstance(header, dict):
        header = {**header, "sha256": {n: sha256(c).hexdigest() for n, c in parts.items()}}
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", header if isinstance(header, bytes) else json.dumps(header))
        for name, content in parts.items():
            archive.writestr(name, content)


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
def test_versions_that_never_were(path: Path, parts: tuple[Any, ...], version: Any) -> None:
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
def test_headers_that_are_not_ours(path: Path, parts: tuple[Any, ...], header: bytes) -> None:
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


# -- failures while writing --------------------------------------------------------------------


def only_file(path: Path) -> bool:
    return [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("target", ["writestr", "fsync", "replace"])
def test_a_failure_while_writing_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    old = MODELS["targets"]()
    old.save(path)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("No space left on device")

    owner = {"fsync": os, "replace": Path}.get(target, zipfile.ZipFile)
    with monkeypatch.context() as patch:
        patch.setattr(owner, target, fail)
        with pytest.raises(OSError, match="No space left"):
            MODELS["named"]().save(path)
    assert only_file(path)
    assert_same(old, load(path))


def test_an_interrupt_while_writing_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = MODELS["targets"]()
    old.save(path)

    def interrupt(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "writestr", interrupt)
        with pytest.raises(KeyboardInterrupt):
            MODELS["named"]().save(path)
    assert only_file(path)
    assert_same(old, load(path))


@pytest.mark.parametrize(
    "parameters", [{"kernel": "cauchy"}, {"n_frequencies": 9}, {"learning_rate": 3}, {"sigma2": -1}]
)
def test_parameters_changed_after_training_are_not_saved(
    path: Path, parameters: dict[Any, Any]
) -> None:
    # The file would describe another model than the one in memory.
    model = MODELS["named"]().set_params(**parameters)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        model.save(path)
    assert not list(path.parent.iterdir())


def test_a_file_can_be_read_by_others(path: Path) -> None:
    MODELS["array"]().save(path)
    usual = path.with_name("usual")
    usual.write_text("")
    assert path.stat().st_mode == usual.stat().st_mode


def test_the_header_is_documented_json(path: Path) -> None:
    MODELS["named"]().save(path)
    header, arrays = read_parts(path)
    assert header["format"] == "gradraker-model"
    assert header["format_version"] == 1
    assert header["gradraker_version"] == gradraker.__version__
    assert header["class"] == "SKGRegressor"
    assert header["parameters"]["kernel"] == "gaussian"
    assert header["state"]["named"] == NAMES
    assert header["sha256"] == {name: sha256(part).hexdigest() for name, part in arrays.items()}
    assert "coef_.npy" in arrays


def test_a_model_whose_seed_came_from_a_generator_can_be_fitted_again(tmp_path: Path) -> None:
    model = regressor(random_state=np.random.RandomState(1)).fit(X, Y)
    again = gradraker.load(model.save(tmp_path / "m.skg"))
    np.testing.assert_array_equal(clone(again).fit(X, Y).coef_, model.coef_)
