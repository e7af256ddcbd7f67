"""Rows, and models whose state a refused call must leave as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from gradraker import SKGRegressor

RNG = np.random.default_rng(0)
X = RNG.random((12, 4))
Y = RNG.random(12)
NAMES = ["a", "b", "c", "d"]
DENSE_AND_SPARSE = pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_array])


def regressor(**parameters: Any) -> SKGRegressor:
    return SKGRegressor(**{"sigma2": 1.0, "n_frequencies": 6, "random_state": 0, **parameters})


def with_entry(array: NDArray[np.float64], value: float) -> NDArray[np.float64]:
    changed = array.astype(np.result_type(array, type(value)))
    changed.flat[3] = value
    return changed


def plain(value: Any) -> Any:
    """The attributes of an object, as values that can be compared by ==."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tolist()
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(part) for part in value]
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic):
        return repr(value)
    return type(value).__name__, plain(value.__getstate__())


def state(model: SKGRegressor) -> Any:
    """Everything that a model holds, to compare before and after."""
    return plain(vars(model))


def assert_same_state(model: SKGRegressor, before: dict[Any, Any]) -> None:
    after = state(model)
    assert after.keys() == before.keys()
    for name, value in before.items():
        assert after[name] == value, name


def refuse(
    call: Callable[..., Any],
    error: tuple[Any, ...] | type[Exception],
    message: str,
    model: Any = None,
) -> None:
    before = None if model is None else state(model)
    with pytest.raises(error, match=message):
        call()
    if model is not None:
        assert_same_state(model, before)  # type: ignore[arg-type]
