"""Increasing functions of values, in which kernel ridge adds up: log, power, given ones.

A transform is fitted to known values and has few numbers, so that a model file can hold it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gradraker.exceptions import ArgumentError
from gradraker.models.walks.targets.target_view import (
    Column,
    NoTransform,
    Transform,
    is_rough,
    measure_normality,
)

Vector = NDArray[np.float64]
# Quantile of the positive values that is the unit of a logarithm.
_LOW = 0.1
# Largest size of a number of a transform or scale in a file.
_LARGEST = 1e150
# The part of the distance from normality that a transform must take away to be tried.
_PART = 0.5


@dataclass(frozen=True)
class LogTransform:
    """log(1 + value/unit), for values that are not negative.

    Values far below the unit stay as they are, up to a factor, so that zeros are allowed.
    """

    unit: float
    name: ClassVar[str] = "log"

    @property
    def formula(self) -> str:
        """The function, written out."""
        return f"log(1 + value / {self.unit:.4g})"

    def can_take(self, values: Vector) -> bool:
        """Return whether no value is negative."""
        return bool((values >= 0.0).all())

    def apply(self, values: Vector) -> Vector:
        """Return logarithms."""
        return np.log1p(values / self.unit)

    def undo(self, scaled: Vector) -> Vector:
        """Return values in the units of the user."""
        with np.errstate(over="ignore"):
            return np.asarray(self.unit * np.expm1(scaled))


@dataclass(frozen=True)
class PowerTransform:
    """Yeo–Johnson's power of (value − centre) / unit, by scikit-learn.

    The exponent is held in [0, 2], where the inverse exists for all numbers.
    """

    centre: float
    unit: float
    exponent: float
    name: ClassVar[str] = "power"

    @property
    def formula(self) -> str:
        """The function, written out."""
        inside = f"(value − {self.centre:.4g}) / {self.unit:.4g}"
        return f"Yeo–Johnson power {self.exponent:.3g} of {inside}"

    def can_take(self, values: Vector) -> bool:
        """Return True."""
        return True

    def apply(self, values: Vector) -> Vector:
        """Return powers."""
        moved = (values - self.centre) / self.unit
        return np.asarray(self._make().transform(moved[:, np.newaxis])[:, 0])

    def undo(self, scaled: Vector) -> Vector:
        """Return values in the units of the user."""
        with np.errstate(over="ignore"):
            moved = self._make().inverse_transform(scaled[:, np.newaxis])[:, 0]
            return np.asarray(self.centre + self.unit * moved)

    def _make(self) -> Any:
        from sklearn.preprocessing import PowerTransformer  # rarely needed, and slow to load

        made = PowerTransformer(standardize=False)
        made.lambdas_, made.n_features_in_ = np.array([self.exponent]), 1
        return made


@dataclass(frozen=True, eq=False)
class GivenTransform:
    """Functions of a user: a pair, or a transformer of scikit-learn that was fitted."""

    forward: Callable[[Vector], Any]
    backward: Callable[[Vector], Any]
    formula: str
    name: ClassVar[str] = "given"

    def can_take(self, values: Vector) -> bool:
        """Return whether all results are finite."""
        with np.errstate(all="ignore"):
            return bool(np.isfinite(self._call(self.forward, values)).all())

    def apply(self, values: Vector) -> Vector:
        """Return what the function says."""
        return self._call(self.forward, values)

    def undo(self, scaled: Vector) -> Vector:
        """Return what the inverse says."""
        with np.errstate(over="ignore"):
            return self._call(self.backward, scaled)

    def _call(self, function: Callable[[Vector], Any], numbers: Vector) -> Vector:
        found = np.asarray(function(numbers), dtype=np.float64)
        if found.shape != numbers.shape:
            raise ValueError(
                f"transform: the function returned shape {found.shape} for {numbers.size} values; "
                "it must return one number for each"
            )
        return found


def fit_log(values: Vector) -> LogTransform:
    """Fit a logarithm: its unit is the value below which a tenth of the positive ones lie.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.targets.transforms import fit_log
    >>> fit_log(np.array([0.0, 10.0, 10.0, 1e6])).formula
    'log(1 + value / 10)'
    """
    positive = values[values > 0.0]
    return LogTransform(float(np.quantile(positive, _LOW)) if positive.size else 1.0)


def fit_power(values: Vector) -> PowerTransform:
    """Fit a power that makes values most like a normal distribution."""
    from sklearn.preprocessing import PowerTransformer

    centre = float(np.median(values))
    low, high = np.quantile(values, (0.25, 0.75))
    unit = float(high - low) or float(np.abs(values - centre).mean()) or 1.0
    moved = (values - centre) / unit
    with np.errstate(all="ignore"):
        fitted = PowerTransformer(standardize=False).fit(moved[:, np.newaxis])
    exponent = float(fitted.lambdas_[0])
    return PowerTransform(centre, unit, min(2.0, max(0.0, exponent)) if exponent == exponent else 1)


FITS: Mapping[str, Callable[[Vector], Transform]] = {
    "none": lambda values: NoTransform(),
    "log": fit_log,
    "power": fit_power,
}


def check_transform(transform: Any) -> Any:
    """Return "auto", the name of a transform, a transformer or a pair of functions."""
    if isinstance(transform, str) and transform in ("auto", *FITS):
        return transform
    if (
        isinstance(transform, tuple | list)
        and len(transform) == 2
        and all(map(callable, transform))
    ):
        return transform
    if hasattr(transform, "fit") and hasattr(transform, "inverse_transform"):
        return transform
    raise ArgumentError(
        "transform",
        "'auto', 'none', 'log', 'power', a transformer of scikit-learn with an inverse, or a pair "
        "of functions (there, back)",
        transform,
    )


def fit_given(transform: Any, values: Vector) -> Transform:
    """Fit the transform that a user names or gives to known values."""
    if isinstance(transform, str):
        fitted = FITS[transform](values)
        if not fitted.can_take(values):
            raise ValueError(
                f"transform is {transform!r}, but a known value is negative ({values.min():g}): "
                "pass transform='power' or 'auto'"
            )
        return fitted
    if isinstance(transform, tuple | list):
        made = GivenTransform(transform[0], transform[1], "a given function of the value")
    else:
        copy = clone(transform).fit(values[:, np.newaxis])
        made = GivenTransform(
            partial(_call_method, copy.transform),
            partial(_call_method, copy.inverse_transform),
            f"{type(transform).__name__} of the value",
        )
    _check_round_trip(made, values)
    return made


def _call_method(method: Callable[[Any], Any], numbers: Vector) -> Any:
    """Call a method of a transformer, which takes a column."""
    return method(numbers[:, np.newaxis])[:, 0]


def _check_round_trip(made: GivenTransform, values: Vector) -> None:
    if not made.can_take(values):
        raise ValueError("transform: the function of a known value is not a finite number")
    back = made.undo(made.apply(values))
    spread = max(float(np.ptp(values)), float(np.abs(values).max()), 1e-300)
    if not np.abs(back - values).max() <= 1e-6 * spread:
        raise ValueError("transform: the second function does not undo the first")


def dump_transform(transform: Transform | None) -> Any:
    """Return a transform as JSON can hold it; one that is given cannot be saved."""
    if transform is None:
        return None
    if isinstance(transform, GivenTransform):
        raise ValueError(
            "transform holds functions, which a file cannot hold: pass transform='auto', 'none', "
            "'log' or 'power' for a model that is saved, or transform the values yourself"
        )
    return {"name": transform.name} | vars(transform)


def restore_transform(item: Any) -> Transform | None:
    """Make the transform that a file describes, with every number checked."""
    if item is None:
        return None
    kinds: dict[str, tuple[type[Any], dict[str, tuple[float, float]]]] = {
        "none": (NoTransform, {}),
        "log": (LogTransform, {"unit": (0.0, _LARGEST)}),
        "power": (
            PowerTransform,
            {"centre": (-_LARGEST, _LARGEST), "unit": (0.0, _LARGEST), "exponent": (0.0, 2.0)},
        ),
    }
    kind, bounds = kinds[item["name"]]
    if set(item) != {"name", *bounds}:
        raise ValueError(f"the transform is {item!r}")
    numbers = {name: float(item[name]) for name in bounds}
    for name, (low, high) in bounds.items():
        if not low <= numbers[name] <= high or (name == "unit" and not numbers[name] > 0.0):
            raise ValueError(f"{name} of the transform is {numbers[name]!r}")
    made: Transform = kind(**numbers)
    return made


def list_transforms(transform: Any, values: Vector) -> list[Transform]:
    """Return the transforms to compare, the one that makes values most normal first.

    Examples
    --------
    >>> import numpy as np
    >>> from gradraker.models.walks.targets.transforms import list_transforms
    >>> even = np.linspace(-2.0, 2.0, 50)
    >>> [t.name for t in list_transforms("auto", even)]
    ['none']
    >>> [t.name for t in list_transforms("auto", np.exp(2.0 * even))]
    ['log', 'none']
    """
    if not (isinstance(transform, str) and transform == "auto"):
        return [fit_given(transform, values)]
    if not is_rough(values) or float(np.ptp(values)) == 0.0:
        return [NoTransform()]
    fitted: list[Transform] = [fit_power(values)]
    if bool((values >= 0.0).all()):
        fitted.append(fit_log(values))
    # The logarithm goes first where both do: its way back is gentler than that of a strong power.
    most = 1.0 - _PART * (1.0 - measure_normality(values))
    normal = [t for t in reversed(fitted) if measure_normality(t.apply(values)) > most]
    return [*normal, NoTransform()]


def dump_columns(columns: Sequence[Column] | None) -> Any:
    """Return columns as JSON can hold them."""
    if columns is None:
        return None
    return [vars(one) | {"transform": dump_transform(one.transform)} for one in columns]


def restore_columns(items: Any, n_targets: int) -> tuple[Column, ...] | None:
    """Make the columns that a file describes, with every number checked."""
    if items is None:
        return None
    if len(items) != n_targets:
        raise ValueError(f"the file describes {len(items)} targets, but holds {n_targets}")
    columns = []
    for item in items:
        transform = restore_transform(item["transform"])
        centre, unit = float(item["centre"]), float(item["unit"])
        if transform is None or not abs(centre) < _LARGEST or not 0.0 < unit < _LARGEST:
            raise ValueError("the scale of a target is not consistent")
        columns.append(Column(transform, centre, unit, bool(item["is_constant"])))
    return tuple(columns)
