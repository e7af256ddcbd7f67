"""Forged model files are refused before they take much memory or time."""

import io
import json
import os
import struct
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forked_process import start_python
from gradraker import GradrakerRegressor, NodeRegressor, SKGNodeRegressor, SKGRegressor, load
from gradraker.exceptions import ModelFileError

ROOM, FACTOR = 64 << 20, 4

# Loads each given file in a child process, and prints the result and the memory that it took: all
# children share the imports, and none the memory of another.
PROGRAM = """
import os, resource, sys
import numpy as np
import gradraker
from gradraker.exceptions import ModelFileError

def measure():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def load(path):
    before = measure()
    try:
        gradraker.load(path)
    except ModelFileError as error:
        said = "refused " + str(error)[:200].replace("\\n", " ")
    else:
        said = "read"
    print(said, measure() - before, sep="\\n", flush=True)

other = gradraker.SKGRegressor(sigma2=1.0, n_frequencies=4).fit(np.eye(3), np.arange(3.0))
gradraker.load(other.save(sys.argv[1]))
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        load(line.rstrip())
        os._exit(0)
    if code := os.waitpid(child, 0)[1]:
        print("died", code, sep="\\n", flush=True)
"""
Loader = Callable[[Path], tuple[str, int]]


@pytest.fixture(scope="module")
def load_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loader]:
    """A function that returns the result of loading a file, and the memory that it took."""
    if not hasattr(os, "fork"):
        pytest.skip("the system has no fork")
    small = tmp_path_factory.mktemp("small") / "m.gr"
    with start_python(PROGRAM, small, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        given, answered = process.stdin, process.stdout

        def ask(path: Path) -> tuple[str, int]:
            given.write(f"{path}\n")
            given.flush()
            return answered.readline(), int(answered.readline())

        yield ask


@pytest.fixture
def assert_refused_cheaply(load_elsewhere: Loader) -> Callable[[Path], None]:
    def check(path: Path) -> None:
        said, memory = load_elsewhere(path)
        assert said.startswith("refused"), said
        assert memory <= FACTOR * path.stat().st_size + ROOM

    return check


def make_skg(**parameters: Any) -> Any:
    model = SKGRegressor(sigma2=1.0, n_frequencies=4, random_state=0, **parameters)
    return model.fit(np.eye(6), np.arange(6.0))


def make_node_model() -> Any:
    return NodeRegressor().fit([("a", "b"), ("b", "c"), ("c", "d")], {"a": 1.0, "d": 2.0})


def rewrite(path: Any, change: Any) -> None:
    """Change the header of a file, and make its checksums right again."""
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    header = json.loads(parts.pop("header.json"))
    change(header, parts)
    header["sha256"] = {name: sha256(part).hexdigest() for name, part in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, part in (parts | {"header.json": json.dumps(header).encode()}).items():
            archive.writestr(name, part)


@pytest.mark.process
def test_overlapping_members_are_refused(tmp_path: Any, assert_refused_cheaply: Any) -> None:
    path = tmp_path / "m.gr"
    big = bytes(1_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("a0.npy", big)
        for i in range(1, 300):
            archive.writestr(f"a{i}.npy", b"x" * 20)
    content = bytearray(path.read_bytes())
    crc = struct.unpack_from("<L", content, content.index(b"PK\1\2") + 16)[0]
    at = 0
    while (at := content.find(b"PK\1\2", at)) >= 0:  # all of them are the first one
        struct.pack_into("<3L", content, at + 16, crc, len(big), len(big))
        struct.pack_into("<L", content, at + 42, 0)
        at += 4
    path.write_bytes(content)
    assert_refused_cheaply(path)


@pytest.mark.process
def test_very_many_members_are_refused(tmp_path: Any, assert_refused_cheaply: Any) -> None:
    path = tmp_path / "m.gr"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for i in range(20_000):
            archive.writestr(f"{i}", b"")
    assert_refused_cheaply(path)


@pytest.mark.process
@pytest.mark.parametrize("kernel", ["skg", "bank"])
def test_many_numbered_columns_cost_no_memory(
    tmp_path: Any, load_elsewhere: Loader, kernel: Any
) -> None:
    path = tmp_path / "m.gr"
    if kernel == "skg":
        make_skg().save(path)
    else:
        bank = GradrakerRegressor(kernels=[1.0], views=[2, 4], n_frequencies=4, random_state=0)
        bank.fit(np.eye(6), np.arange(6.0)).save(path)

    def change(header: Any, parts: Any) -> None:
        header["state"]["n_numbered"] = 10**8
        if kernel == "bank":
            header["parameters"]["views"] = [2, 10**8 - 2]

    rewrite(path, change)
    _, memory = load_elsewhere(path)
    assert memory <= FACTOR * path.stat().st_size + ROOM


@pytest.mark.process
def test_names_of_numbered_columns_are_refused(tmp_path: Any, assert_refused_cheaply: Any) -> None:
    path = tmp_path / "m.gr"
    make_skg().save(path)

    def change(header: Any, parts: Any) -> None:
        header["state"] |= {"n_numbered": 10**8, "named": ["a"], "has_feature_names": True}

    rewrite(path, change)
    assert_refused_cheaply(path)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (make_skg, "n_frequencies", 2 * 10**6),
        (make_skg, "n_epochs", 10**12),
        (make_skg, "learning_rate", 5.0),
        (make_node_model, "random_state", -1),
        (lambda: SKGNodeRegressor(sigma2=1.0).fit([("a", "b")], {"a": 1.0}), "hops", 10**9),
        (lambda: SKGNodeRegressor(sigma2=1.0).fit([("a", "b")], {"a": 1.0}), "n_epochs", 10**12),
        (lambda: SKGNodeRegressor(sigma2=1.0).fit([("a", "b")], {"a": 1.0}), "references", True),
    ],
)
def test_parameters_outside_their_bounds_are_refused(
    tmp_path: Any, make: Any, name: Any, value: Any
) -> None:
    path = make().save(tmp_path / "m.gr")
    rewrite(path, lambda header, parts: header["parameters"].update({name: value}))
    with pytest.raises(ModelFileError, match=name):
        load(path)


@pytest.mark.process
@pytest.mark.parametrize("item", ["[],", "{},", '"ab",', "0.5,", "0,", '{"a":0},', "[[0]],"])
def test_headers_that_unfold_are_refused(
    tmp_path: Any, assert_refused_cheaply: Any, item: Any
) -> None:
    path = tmp_path / "m.gr"
    make_skg().save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    filler = (item * (6_000_000 // len(item)))[:-1].encode()
    text = parts["header.json"].replace(b'"named": []', b'"named": [' + filler + b"]")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, part in (parts | {"header.json": text}).items():
            archive.writestr(name, part)
    assert_refused_cheaply(path)


@pytest.mark.process
def test_deep_headers_are_refused(tmp_path: Any, assert_refused_cheaply: Any) -> None:
    path = tmp_path / "m.gr"
    make_skg().save(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("header.json", b"[" * 1_000_000)
    assert_refused_cheaply(path)


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(4294967296, 4294967296)", "(-4,)", "()"])
def test_stated_shapes_that_the_data_do_not_have_are_refused(tmp_path: Any, shape: Any) -> None:
    path = tmp_path / "m.gr"
    make_skg().save(path)

    def change(header: Any, parts: Any) -> None:
        description = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
        text = description.ljust(117) + "\n"
        start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
        parts["coef_.npy"] = start + bytes(64)

    rewrite(path, change)
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.process
def test_models_with_very_many_names_are_read(tmp_path: Any, load_elsewhere: Loader) -> None:
    model = SKGRegressor(sigma2=1.0, n_frequencies=1, random_state=0, keep_known=False)
    model.learn_one([f"{i:x}" for i in range(100_000)], 1.0)
    path = model.save(tmp_path / "m.gr")
    assert len(load(path).references_) == 100_000
    _, memory = load_elsewhere(path)
    assert memory <= FACTOR * path.stat().st_size + 5 * ROOM


def test_compressed_description_of_an_array_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "m.gr"
    make_skg().save(path)

    def change(header: Any, parts: Any) -> None:
        buffer = io.BytesIO()
        np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
        parts["coef_.npy"] = buffer.getvalue()

    rewrite(path, change)
    with pytest.raises(ModelFileError, match="is damaged"):
        load(path)


@pytest.mark.parametrize("make", [make_skg, make_node_model])
def test_names_that_are_not_numbers_are_refused(tmp_path: Any, make: Any) -> None:
    path = make().save(tmp_path / "model.gr")

    def change(header: Any, parts: Any) -> None:
        names = header["state"].get("nodes") or header["state"].setdefault("named", [])
        names[:1] = [{"float": "nan"}]

    rewrite(path, change)
    with pytest.raises(ModelFileError, match="not NaN"):
        load(path)


def test_a_width_of_0_is_refused(tmp_path: Any) -> None:
    model = NodeRegressor(blocks="hop1", width=1.0, alpha=1.0).fit([("a", "b")], {"a": 1, "b": 2})
    model.predict()
    path = model.save(tmp_path / "model.gr")

    def change(header: Any, parts: Any) -> None:
        header["state"]["model"]["choice"]["kernel"][0][1] = 0.0

    rewrite(path, change)
    with pytest.raises(ModelFileError, match="width"):
        load(path)
