"""Model files that are damaged, cut off, or forged with right checksums."""

import copy
import io
import json
import random
import struct
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from torture.attempts import Budget, Counts, make_folder, run_child
from torture.many import Attempt, TooSlowError, try_many
from torture.memory import can_measure, get_peak, reset_peak

ROOM, FACTOR = 64 << 20, 4
HOSTILE: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    10**4,
    10**6,
    10**8,
    10**12,
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    0.0,
    -0.0,
    0.5,
    1e-320,
    1e-30,
    1e30,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    True,
    False,
    None,
    "",
    "x",
    "cv",
    "nan",
    "\ud800",
    "x" * 1000,
    [],
    {},
    [[]],
    [1, 2],
    ["a", "a"],
    {"tuple": ["a", 1]},
    {"bytes": "zz"},
    {"float": "nan"},
    {"surrogates": "ff"},
]


def read_damaged_models(budget: Budget) -> Counts:
    """Load each file, and use the model if there is one."""
    counts = Counts()
    with make_folder() as models:
        made = run_child(lambda: _make_originals(models), seconds=300)
        if made.code:
            counts.add(f"models could not be made: {made.text}")
            return counts
        originals = [path.read_bytes() for path in sorted(models.iterdir())]

    def prepare(folder: Path) -> Attempt:
        measured = can_measure()
        return lambda number: _attempt(folder, originals, budget.seed, number, measured=measured)

    outcomes = try_many(budget, prepare, counts)
    counts.remark = ", ".join(f"{n} {word}" for word, n in sorted(outcomes.items()))
    return counts


def _make_originals(folder: Path) -> None:
    from gradraker import (
        GradrakerRegressor,
        NodeClassifier,
        NodeRegressor,
        SKGNodeRegressor,
        SKGRegressor,
    )

    edges = [(f"n{i}", f"n{(3 * i + 1) % 12}") for i in range(12)]
    values = {f"n{i}": float(i % 3) for i in range(8)}
    X, y = np.eye(6), np.arange(6.0)
    named = SKGRegressor(sigma2=1.0, n_frequencies=4, random_state=0)
    for i in range(5):
        named.learn_one([f"a{i}", ("b", 1), 3], float(i))
    models: list[Any] = [
        named,
        SKGRegressor(sigma2="theory", n_frequencies=4, random_state=0).fit(X, y),
        SKGRegressor(sigma2=1.0, n_frequencies=4, keep_known=False, random_state=0).fit(X, y),
        GradrakerRegressor(
            kernels=[1.0, ("laplacian", 2.0)], views=[2, 4], n_frequencies=4, random_state=0
        ).fit(X, y),
        NodeRegressor().fit(edges, values),
        NodeClassifier().fit(edges, {name: f"c{int(value)}" for name, value in values.items()}),
        SKGNodeRegressor(sigma2=1.0, n_frequencies=4).fit(edges, values),
    ]
    for i, model in enumerate(models):
        model.save(folder / f"{i}.gr")


def _attempt(
    folder: Path, originals: list[bytes], seed: int, number: int, *, measured: bool
) -> tuple[str | None, str]:
    from gradraker import load
    from gradraker.exceptions import ModelFileError

    rng = random.Random(f"{seed} {number}")
    kind, content = _make_file(rng, originals)
    path = folder / "m.gr"
    path.write_bytes(content)
    limit = FACTOR * len(content) + ROOM
    before = reset_peak() if measured else 0
    where = f"seed {seed}, number {number} ({kind})"
    try:
        model = load(path)
    except ModelFileError:
        model = None
    except TooSlowError:
        raise
    except BaseException as error:
        return f"{where}: load raised {error!r}"[:500], f"{kind} failed"
    used = get_peak() - before if measured else 0
    if used > limit:
        return f"{where}: load took {used >> 20} MB for {len(content)} bytes", f"{kind} failed"
    if model is None:
        return None, f"{kind} refused"
    return _use(model, where, kind)


def _use(model: Any, where: str, kind: str) -> tuple[str | None, str]:
    """Predict with a model that was loaded: finite numbers or a sentence."""
    try:
        if hasattr(model, "learn_one"):
            if hasattr(model, "n_features_in_"):
                X = np.zeros((2, min(model.n_features_in_, 1000)))
                found = [model.predict(X)] if X.shape[1] == model.n_features_in_ else []
            else:
                found = [model.predict_one(["a1", "new"])]
        else:
            found = [model.predict(model.nodes_[:3])]
        for numbers in found:
            array = np.asarray(numbers)
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                return f"{where}: it predicts {array.tolist()}", f"{kind} failed"
    except (ValueError, MemoryError):
        return None, f"{kind} read, refused in use"
    except TooSlowError:
        raise
    except Exception as error:
        return f"{where}: predict raised {error!r}"[:500], f"{kind} failed"
    return None, f"{kind} read and used"


# -- mutations --------------------------------------------------------------------------------


def _make_file(rng: random.Random, originals: list[bytes]) -> tuple[str, bytes]:
    content = rng.choice(originals)
    if rng.random() < 0.25:
        return "damaged", damage(rng, content)
    if rng.random() < 0.1:
        return "damaged", content[: rng.randrange(len(content))]
    return "forged", forge(rng, content)


def damage(rng: random.Random, content: bytes) -> bytes:
    """Change, remove, insert or repeat some bytes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        at = rng.randrange(len(data)) if data else 0
        length = rng.choice([1, 1, 2, 4, 8, 64])
        piece = bytes(rng.choice([0, 255, 127, 128, rng.randrange(256)]) for _ in range(length))
        match rng.randrange(4):
            case 0:
                data[at : at + length] = piece
            case 1:
                data[at:at] = piece
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + rng.choice([1, 8, 100])]
    return bytes(data)


def forge(rng: random.Random, content: bytes) -> bytes:
    """Change header fields or arrays, and make the checksums right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    header = json.loads(parts.pop("header.json"))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.7 or not parts:
            _forge_field(rng, header)
        else:
            name = rng.choice(sorted(parts))
            parts[name] = _forge_array(rng, parts[name])
    if rng.random() < 0.03:
        parts[rng.choice(["extra.npy", "coef_.npy", "x"])] = rng.randbytes(100)
    if rng.random() < 0.03 and parts:
        del parts[rng.choice(sorted(parts))]
    header["sha256"] = {name: sha256(part).hexdigest() for name, part in parts.items()}
    text = json.dumps(header).encode()
    if rng.random() < 0.03:
        bomb = rng.choice(["[[", "{},", "[],", '"ab",', "1e5,", "0,"])
        filler = bomb * rng.choice([10, 10_000, 1_000_000])
        text = text.replace(b'"notes": {', b'"notes": {"x": [' + filler.encode() + b"0],", 1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, part in (parts | {"header.json": text}).items():
            archive.writestr(zipfile.ZipInfo(name), part)
    data = buffer.getvalue()
    return _overlap(rng, data) if rng.random() < 0.05 else data


def _forge_field(rng: random.Random, header: dict[str, Any]) -> None:
    """Replace, remove or add an entry somewhere in the header."""
    place = header.get(rng.choice(["parameters", "state", "state", "state"]))
    if rng.random() < 0.05 or not isinstance(place, dict):
        place = header
    for _ in range(6):
        inner = [key for key in _keys(place) if isinstance(place[key], dict | list) and place[key]]
        if not inner or rng.random() < 0.4:
            break
        place = place[rng.choice(inner)]
    keys = _keys(place)
    if not keys:
        return
    key = rng.choice(keys)
    value = place[key]
    match rng.randrange(10):
        case 0:
            del place[key]
        case 1 if isinstance(place, list):
            place.append(copy.deepcopy(value))
        case 2 if isinstance(place, list):
            place.extend([copy.deepcopy(rng.choice(HOSTILE))] * rng.choice([1, 1000]))
        case 3 if isinstance(value, int | float) and not isinstance(value, bool):
            place[key] = value * rng.choice([-1, 2, 10**6, 1e-9, 1e300]) + rng.choice([0, 1])
        case _:
            place[key] = copy.deepcopy(rng.choice(HOSTILE))


def _keys(place: Any) -> list[Any]:
    return list(place) if isinstance(place, dict) else list(range(len(place)))


def _forge_array(rng: random.Random, content: bytes) -> bytes:
    try:
        array = np.load(io.BytesIO(content))
    except (ValueError, MemoryError):  # forged before
        return content
    flat = array.ravel().copy()
    match rng.randrange(7):
        case 0 if flat.size:
            with np.errstate(all="ignore"):
                wild = [0, -1, 2, 10**6, 2**31 - 1, -(2**31), 1e308, np.nan, np.inf]
                number = np.array(rng.choice(wild), dtype=np.float64).astype(flat.dtype)
            flat[rng.randrange(flat.size)] = number
            array = flat.reshape(array.shape)
        case 1:
            array = flat[: rng.randrange(flat.size + 1)]
        case 2:
            array = np.concatenate([flat, flat[: rng.randrange(flat.size + 1)]])
        case 3:
            with np.errstate(all="ignore"):
                array = array.astype(rng.choice(["f4", "i4", "i8", "u1", ">f8", "c16", "?", "f8"]))
        case 4:
            array = array.reshape(rng.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)]))
        case 5:
            array = flat[rng.choice([slice(None, None, -1), slice(1, None), slice(0, 0)])]
        case 6:
            return _forge_shape(rng, content)
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _forge_shape(rng: random.Random, content: bytes) -> bytes:
    """State another shape in the description of an array."""
    start = content.index(b"'shape': (")
    end = content.index(b")", start) + 1
    wild = rng.choice(["1000000000000,", "-1,", "0,", "4294967296, 4294967296", "2**9,", "1, 1, 1"])
    new = f"'shape': ({wild})".encode()
    length = end - start
    spaces = content[end:].index(b"\n")
    grown = new + content[end : end + spaces].rstrip()
    total = length + spaces
    return content[:start] + grown[:total].ljust(total) + content[start + total :]


def _overlap(rng: random.Random, data: bytes) -> bytes:
    """Let members of the archive begin where others do."""
    entries = []
    at = 0
    while (at := data.find(b"PK\1\2", at)) >= 0:
        entries.append(at)
        at += 4
    content = bytearray(data)
    for entry in entries:
        if rng.random() < 0.5:
            struct.pack_into("<L", content, entry + 42, rng.choice([0, 10, len(data) // 2]))
        if rng.random() < 0.2:
            size = rng.choice([0, len(data), 2**32 - 2])
            struct.pack_into("<2L", content, entry + 20, size, size)
    return bytes(content)
