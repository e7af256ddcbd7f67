"""SKG models after each history of training, to be saved and compared, and parts of their files."""

import copy
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gradraker import SKGRegressor

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
    """Rows and references that each of the models takes."""
    if hasattr(model, "feature_names_in_"):
        return {"X": pd.DataFrame(X, columns=NAMES)}
    return {"X": X} if hasattr(model, "n_features_in_") else {"X": X, "references": names}


def assert_same(model: SKGRegressor, other: SKGRegressor) -> None:
    """Equal now, and equal after further training of both."""
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
    """Write an archive with right checksums, as another program could."""
    if resign and isinstance(header, dict):
        header = {**header, "sha256": {n: sha256(c).hexdigest() for n, c in parts.items()}}
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", header if isinstance(header, bytes) else json.dumps(header))
        for name, content in parts.items():
            archive.writestr(name, content)
