"""Checks of arguments: each error names the argument, the value got, and the values allowed."""

import math
import sys
from collections.abc import Collection, Iterable, Mapping, MappingView, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gradraker.exceptions import ArgumentError, ArgumentTypeError

# Smallest and largest value of a parameter, by its name.
Bounds = Mapping[str, tuple[float, float]]

# For parameters that several classes have.
COUNT_OF_FREQUENCIES = (1, 100_000)
COUNT_OF_EPOCHS = (1, 10_000)
NOT_NEGATIVE = (0.0, sys.float_info.max)

# A tuple that is made once: learn_one checks its learning rate at every node.
_NUMBERS = (float, int, np.integer, np.floating)


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy; booleans are not."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the model to choose."""
    return isinstance(value, str) and value == "auto"


def check_count(name: str, value: Any, *, at_least: int = 1) -> int:
    """Return an integer that is large enough."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and value >= at_least:
        return int(value)
    error = ArgumentError if whole else ArgumentTypeError
    raise error(name, f"an integer of at least {at_least}", value)


def check_number(
    name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, above: bool = False
) -> float:
    """Return a finite number from ``low`` to ``high``; with ``above`` it is larger than ``low``."""
    number = is_number(value)
    inside = number and (value > low if above else value >= low) and value <= high
    if inside and math.isfinite(value):
        return float(value)
    limits = [f"{'larger than' if above else 'of at least'} {low:g}"] if low > -math.inf else []
    limits += [f"at most {high:g}"] if high < math.inf else []
    error = ArgumentError if number else ArgumentTypeError
    raise error(name, f"a finite number {' and '.join(limits)}".rstrip(), value)


def check_generator(random_state: Any) -> np.random.Generator:
    """Return the generator itself, or a new one seeded with the integer or by the system."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if random_state is None or (whole and random_state >= 0):
        return np.random.default_rng(random_state)
    error = ArgumentError if whole else ArgumentTypeError
    wanted = "an integer of at least 0, a numpy.random.Generator or None"
    raise error("random_state", wanted, random_state)


def check_positive(name: str, value: Any, *, is_finite: bool = True, otherwise: str = "") -> float:
    """Return a positive number; ``otherwise`` names other allowed values in the message."""
    if is_number(value) and value > 0.0 and not (is_finite and value == math.inf):
        return float(value)
    raise ValueError(f"{name} must be a positive number{otherwise}, got {value!r}")


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return one of some words."""
    words = tuple(allowed)
    if isinstance(value, str) and value in words:
        return value
    raise ArgumentError(name, f"one of {', '.join(map(repr, words))}", value)


def check_fraction(name: str, value: Any) -> float:
    """Return a number between 0 and 1, both excluded."""
    if is_number(value) and 0.0 < value < 1.0:
        return float(value)
    raise ArgumentError(name, "a number between 0 and 1", value)


def check_closeness(closeness: Any) -> float:
    """Return how close to 2η the similarity of the farthest rows is at σ²_da."""
    if is_number(closeness) and 0.0 < closeness < 0.5:
        return float(closeness)
    raise ValueError(f"closeness must be a number in (0, 0.5), got {closeness!r}")


def check_learning_rate(learning_rate: Any) -> float:
    """Return a learning rate for which the update is stable: ‖z‖ = 1, so 0 < η < 1."""
    number = isinstance(learning_rate, _NUMBERS)
    if number and 0.0 < learning_rate < 1.0:
        return float(learning_rate)
    raise ValueError(
        "learning_rate must be a number in (0, 1), where the update is stable, "
        f"got {learning_rate!r}"
    )


def check_bounds(bounds: Bounds, parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter of a model that is a number outside its bounds, or without bounds.

    A model file names parameters, and a file may be forged: an absurd number would fill the memory
    or keep a processor busy for years. Every class of models has one table of bounds, ``bounds``,
    which is checked when a model starts to learn, is saved, or is loaded from a file.
    """
    for name, value in parameters.items():
        if name == "random_state" or isinstance(value, bool) or not isinstance(value, Real):
            continue  # a seed has its own check, make_seed
        if name not in bounds:
            raise ArgumentError(name, "something else than a number", value)
        low, high = bounds[name]
        number = int(value) if isinstance(value, Integral) else float(value)
        if not low <= number <= high:
            raise ArgumentError(name, f"from {_format_bound(low)} to {_format_bound(high)}", value)


def _format_bound(number: float) -> str:
    return str(number) if abs(number) < 1e15 else f"{number:g}"


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {value!r}")


def is_ordered(names: Any) -> bool:
    """Whether names have an order and a length; views of a dict, such as its keys, have both."""
    is_unordered = isinstance(names, Set | Mapping) and not isinstance(names, MappingView)
    return not isinstance(names, str | bytes) and not is_unordered and hasattr(names, "__len__")


def check_ordered(argument: str, names: Any) -> None:
    """Refuse names without an order."""
    if not is_ordered(names):
        raise TypeError(
            f"{argument} must be a list or array of names, got {names!r} of type "
            f"{type(names).__name__}"
        )


def check_square(
    nodes: Collection[Any], references: Collection[Any] | None, more: str = ""
) -> None:
    """Refuse a graph whose references are not its nodes; ``more`` ends the message."""
    if references is not None:
        raise ValueError(
            f"graph must be square, got {len(nodes)} nodes × {len(references)} references{more}"
        )


def check_projections(predictions: NDArray[np.float64], setting: str) -> NDArray[np.float64]:
    """Return predictions, all of which must be finite; ``setting`` names the variance."""
    if np.isfinite(predictions).all():
        return predictions
    raise ValueError(
        f"X has values too large for {setting}: their projections leave the range of float64"
    )


def refuse_strings(argument: str, values: Any) -> None:
    """Raise if an array, a list or a data frame holds strings, even such as ``"1.5"``."""
    if issparse(values) or hasattr(values, "sparse"):  # a data frame of sparse columns
        return
    try:
        array = np.asarray(values)
    except ValueError:  # rows of unequal lengths, for which scikit-learn raises
        return
    if array.dtype.kind in "USO":
        for value in array.flat:
            if isinstance(value, str | bytes):
                raise ValueError(f"{argument} must hold numbers, got the string {str(value)!r}")


def check_sparse(argument: str, matrix: Any) -> None:
    """Refuse a sparse matrix whose arrays do not fit together: loops would read beyond their ends.

    Other types pass. Rows are checked in one pass over ``indptr``, columns in one over ``indices``.
    """
    if not issparse(matrix):
        return
    problem = None
    if matrix.format in ("csr", "csc", "bsr"):
        problem = _find_compressed_problem(matrix)
    elif matrix.format == "coo":
        sizes = {matrix.data.shape[0], *(part.size for part in matrix.coords)}
        if len(sizes) > 1:
            problem = f"its parts have {', '.join(map(str, sorted(sizes)))} entries"
        elif not all(map(_is_inside, matrix.coords, matrix.shape)):
            problem = f"an entry is outside of its shape {matrix.shape}"
    if problem is not None:
        raise ValueError(f"{argument} is a malformed sparse matrix: {problem}")


def _find_compressed_problem(matrix: Any) -> str | None:
    """Return the problem of a CSR, CSC or BSR matrix, or None."""
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    n_rows, n_columns = (length // part for length, part in zip(matrix.shape, block, strict=True))
    if matrix.format == "csc":
        n_rows, n_columns = n_columns, n_rows
    indptr, indices, n_entries = matrix.indptr, matrix.indices, matrix.data.shape[0]
    if any(part.ndim != 1 or part.dtype.kind not in "iu" for part in (indptr, indices)):
        return "indptr and indices must be arrays of integers"
    if indptr.size != n_rows + 1:
        return f"indptr has {indptr.size} numbers for {n_rows} rows"
    if indptr[0] != 0 or bool(np.any(indptr[1:] < indptr[:-1])):
        return "indptr must begin with 0 and never fall"
    if indptr[-1] > min(n_entries, indices.size):
        return f"indptr ends at {indptr[-1]}, but there are {min(n_entries, indices.size)} entries"
    if not _is_inside(indices[: indptr[-1]], n_columns):
        return f"indices has numbers outside of 0 to {n_columns - 1}"
    return None


def _is_inside(indices: Any, n: int) -> bool:
    return indices.size == 0 or bool(indices.min() >= 0 and indices.max() < n)


def make_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed in [0, 2⁶⁴): an integer is the seed itself, a generator gives 64 bits."""
    if isinstance(random_state, int | np.integer):
        # 64 bits, not 32 as in NumPy: a seed drawn from a generator, as below, has 64.
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state must be a seed in [0, 2**64), got {random_state!r}")
        return int(random_state)
    from sklearn.utils import check_random_state  # takes a second, and data sets do not need it

    high, low = check_random_state(random_state).randint(0, 2**32, size=2, dtype=np.uint32)
    return (int(high) << 32) | int(low)


def to_json_number(value: Any) -> float | None:
    """Return a float, or None for a number that JSON does not have (NaN, infinity)."""
    return float(value) if math.isfinite(value) else None


def to_numbers(values: Any, *, name: str) -> NDArray[np.float64]:
    """Return an array, list or column as float64, NaN where missing; ``name`` is for errors."""
    import narwhals.stable.v2 as nw

    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        numeric = column.dtype.is_numeric() or column.dtype == nw.Boolean
        values = column.cast(nw.Float64).to_numpy() if numeric else column.to_list()
    try:
        array = np.asarray(values)
        if array.dtype.kind in "OUSMm":
            listed = [np.nan if entry is None else entry for entry in array.tolist()]
            # Text is refused even if it looks like a number: the column may mean something else.
            if any(isinstance(entry, str | bytes) for entry in listed):
                raise TypeError("it holds text")
            array = np.array([float(entry) for entry in listed])
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None


def to_read_only(array: Any) -> Any:
    """Return a view of an array that cannot be written through."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_row(row: Any, n: int) -> int:
    """Return the position of one of n explained nodes; negative ones count from the end."""
    if isinstance(row, int | np.integer) and not isinstance(row, bool) and -n <= row < n:
        return int(row) % n
    raise ValueError(f"row must be the number of one of {n} explained nodes, got {row!r}")


def show_hidden(name: object) -> str:
    r"""Return a name with its invisible characters written as escapes.

    Examples
    --------
    >>> from gradraker._validation import show_hidden
    >>> show_hidden("a\u202eb"), show_hidden("Basel")
    ('a\\u202eb', 'Basel')
    """
    text = str(name)
    if not text.strip():
        return repr(text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
