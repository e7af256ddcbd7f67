"""A second engine on the CPU: arrays that do not mix with NumPy's, and another sparse product.

Arrays of a GPU cannot be used as NumPy's: mixing both raises TypeError. These arrays refuse in the
same way, so tests without a GPU notice code that works on NumPy's arrays only.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gradraker.exceptions import NoDeviceError


def _unwrap(value: Any) -> Any:
    if isinstance(value, StrictArray):
        return value.held
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of NumPy among arrays of the engine")
    if isinstance(value, list | tuple):
        return type(value)(map(_unwrap, value))
    if isinstance(value, dict):
        return {key: _unwrap(item) for key, item in value.items()}
    return value


def _wrap(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    if isinstance(value, tuple):
        return tuple(map(_wrap, value))
    if isinstance(value, np.generic):
        return StrictArray(np.asarray(value))
    return value


class StrictArray(NDArrayOperatorsMixin):
    """An array that NumPy's functions do not take unless all others are such arrays too."""

    def __init__(self, held: NDArray[Any]) -> None:
        self.held = held

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = getattr(ufunc, method)(*_unwrap(inputs), **_unwrap(kwargs))
        out = kwargs.get("out")
        return out[0] if out else _wrap(result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "held":
            raise AttributeError(name)
        found = getattr(self.held, name)
        if not callable(found) or isinstance(found, type):
            return _wrap(found) if isinstance(found, np.ndarray) else found
        return lambda *args, **kwargs: _wrap(found(*_unwrap(args), **_unwrap(kwargs)))

    def __getitem__(self, key: Any) -> Any:
        return _wrap(self.held[_unwrap(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.held[_unwrap(key)] = _unwrap(value)

    def __len__(self) -> int:
        return len(self.held)

    def __float__(self) -> float:
        return float(self.held)

    def __bool__(self) -> bool:
        return bool(self.held)


class _Module:
    """Functions of NumPy on strict arrays."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, type) or not callable(found):
            return _Module(found) if hasattr(found, "__path__") else found
        return lambda *args, **kwargs: _wrap(found(*_unwrap(args), **_unwrap(kwargs)))


class NoRoomError(Exception):
    """The memory is full."""


class StrictEngine:
    """Arrays of its own and the sparse product of SciPy, for tests."""

    name = "cuda"
    xp = _Module(np)
    wants_close_nodes = False
    memory_errors: tuple[type[BaseException], ...] = (NoRoomError,)
    # Numbers that a matrix may have before the memory is "full", and columns at once.
    room, columns = 10**12, 24

    def load(self, X: NDArray[Any], dtype: Any) -> StrictArray:
        return StrictArray(np.array(_unwrap(StrictArray(X)), dtype=dtype, order="C"))

    def load_rows(self, rows: NDArray[np.int64]) -> StrictArray:
        return StrictArray(rows.copy())

    def fetch(self, X: StrictArray) -> NDArray[Any]:
        return np.array(X.held)

    def load_sparse(self, A: csr_array, dtype: Any) -> csr_array:
        if A.nnz > self.room:
            raise NoRoomError
        return csr_array(A, dtype=dtype)

    def multiply(
        self,
        A: csr_array,
        X: StrictArray,
        n_columns: int,
        product: StrictArray,
        factor: float = 1.0,
        kept: float = 0.0,
        weights: Any = None,
        sums: Any = None,
    ) -> None:
        assert isinstance(X, StrictArray)
        assert isinstance(product, StrictArray)
        totals = A @ X.held[: A.shape[1], :n_columns]
        old = product.held[:, :n_columns]
        product.held[:, :n_columns] = factor * totals + (kept * old if kept else 0.0)
        if weights is not None:
            assert isinstance(sums, StrictArray)
            own = weights[:, np.newaxis, :n_columns] * product.held[:, :n_columns]
            sums.held[:, :, :n_columns] += own

    def sum_products(self, A: StrictArray, B: StrictArray) -> StrictArray:
        return StrictArray((A.held.astype(np.float64) * B.held).sum(axis=0))

    def invert_factor(self, H: StrictArray) -> StrictArray:
        return StrictArray(np.tril(np.linalg.inv(np.linalg.cholesky(H.held))))

    def make_array(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
        return np.empty(shape, dtype=dtype)

    def count_columns(self, n_rows: int, dtype: Any, n_copies: int) -> int:
        return self.columns

    def train_sweep(self, P: Any, scales: Any, rows: Any, values: Any, step: float) -> StrictArray:
        """Steps of least mean squares, literally."""
        theta = np.zeros((scales.size, 2 * P.shape[1]))
        for s, scale in enumerate(scales):
            Z = np.hstack([np.sin(scale * P), np.cos(scale * P)]) / np.sqrt(P.shape[1])
            for row, value in zip(rows, values, strict=True):
                theta[s] += step * (value - theta[s] @ Z[row]) * Z[row]
        return StrictArray(theta)

    def compute_sweep_errors(
        self, P: Any, scales: Any, rows: Any, values: Any, theta: StrictArray
    ) -> Any:
        Z = [np.hstack([np.sin(s * P), np.cos(s * P)]) / np.sqrt(P.shape[1]) for s in scales]
        return np.array(
            [((values - (z @ t)[rows]) ** 2).sum() for z, t in zip(Z, theta.held, strict=True)]
        )

    def use_own_stream(self) -> Any:
        return nullcontext()

    def measure_memory(self) -> tuple[int, int]:
        return 10**9, 2 * 10**9

    def free_memory(self) -> None:
        pass


def refuse_device() -> Any:
    """An engine of a machine that has no GPU."""
    raise NoDeviceError("CuPy finds no GPU")
