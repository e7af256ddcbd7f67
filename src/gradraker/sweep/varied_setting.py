"""Sweeps over σ² that differ in one other setting: D, η or E."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from gradraker._fields import describe_fields
from gradraker._validation import check_choice
from gradraker.exceptions import ArgumentError
from gradraker.sweep.sweep_result import SweepResult
from gradraker.sweep.variance_sweep import sigma2_sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gradraker.plotting import DrawnDisplay

# Settings of a sweep that may vary, with the paper's symbols.
SYMBOLS = {"n_frequencies": "D", "learning_rate": "η", "n_epochs": "E"}


@describe_fields
@dataclass(frozen=True, eq=False, repr=False)
class SettingsSweep:
    """Sweeps over σ² that differ in one setting; see :func:`gradraker.sweep.settings_sweep`.

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> from gradraker.sweep import settings_sweep
    >>> found = settings_sweep(load_temperature(), setting="n_epochs", values=[1, 3], n_repeats=2)
    >>> len(found.results)
    2
    """

    setting: Annotated[
        str, 'The one that differs: ``"n_frequencies"``, ``"learning_rate"`` or ``"n_epochs"``.'
    ]
    values: Annotated[tuple[float, ...], "Its values."]
    results: Annotated[tuple[SweepResult, ...], "The sweep of each value."]

    def to_frame(self) -> Any:
        """Concatenate the frames of all sweeps, with a column for the setting."""
        frames = [result.to_frame() for result in self.results]  # raises if pandas is missing
        import pandas as pd

        for frame, value in zip(frames, self.values, strict=True):
            frame.insert(0, self.setting, value)
        return pd.concat(frames, ignore_index=True)

    def plot(self, *, ax: "Axes | None" = None) -> "DrawnDisplay":
        """Draw one curve of mean GNMSE over σ² for each value of the setting."""
        from gradraker.plotting import plot_settings_sweep

        return plot_settings_sweep(self, ax=ax)

    def __repr__(self) -> str:
        lines = [f"SettingsSweep over {self.setting} ({SYMBOLS[self.setting]})"]
        for value, result in zip(self.values, self.results, strict=True):
            lines.append(
                f"  {value:<6g}  smallest GNMSE {result.mean.min():.4g} at σ² = "
                f"{result.best_:.4g}, σ²_ed = {result.median_boundaries[1]:.4g}"
            )
        return "\n".join(lines)


def settings_sweep(
    data: Any,
    y: Any = None,
    *,
    setting: str,
    values: Sequence[float],
    checkpoint: Any = None,
    **others: Any,
) -> SettingsSweep:
    """Repeat :func:`gradraker.sigma2_sweep` for several values of D, η or E.

    Splits, frequencies and orders are shared: with more frequencies or epochs the first ones
    stay the same. So curves differ only because of the setting, not by chance.

    Parameters
    ----------
    data, y
        As in :func:`gradraker.sigma2_sweep`.
    setting : {"n_frequencies", "learning_rate", "n_epochs"}
        The setting to vary.
    values : sequence of numbers
        Its values.
    checkpoint : path-like, optional
        A folder for one file of results per value; it is created if it does not exist.
    **others
        The other arguments of :func:`gradraker.sigma2_sweep`. By default all values share the
        grid ``sigma2`` of the first.

    Returns
    -------
    SettingsSweep

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> from gradraker.sweep import settings_sweep
    >>> found = settings_sweep(
    ...     load_temperature(), setting="learning_rate", values=[0.01, 0.03, 0.1], n_repeats=20
    ... )
    >>> found
    SettingsSweep over learning_rate (η)
      0.01    smallest GNMSE ... at σ² = ..., σ²_ed = ...
      0.03    smallest GNMSE ... at σ² = ..., σ²_ed = ...
      0.1     smallest GNMSE ... at σ² = ..., σ²_ed = ...

    A learning rate that is too small moves the best variance up:

    >>> found.results[0].best_ > found.results[2].best_
    True
    """
    check_choice("setting", setting, SYMBOLS)
    if np.ndim(values) != 1 or len(values) == 0:
        raise ArgumentError("values", "a sequence of numbers, at least one", values)
    if setting in others:
        raise ValueError(f"{setting} varies: give its values as values={others[setting]!r}")
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    results: list[SweepResult] = []
    for value in values:
        file = None if folder is None else folder / f"{setting}-{value}.jsonl"
        others[setting] = value
        result = sigma2_sweep(data, y, checkpoint=file, **others)
        others["sigma2"] = result.sigma2
        results.append(result)
    return SettingsSweep(setting, tuple(values), tuple(results))
