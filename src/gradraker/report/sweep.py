"""Summarize a sweep over the kernel variance as a dict and as a page."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradraker._validation import to_json_number
from gradraker.kernels.shift_invariant import BOUNDARIES
from gradraker.plotting import plot_sweep, render_inline_svg
from gradraker.report.html import make_environment
from gradraker.sweep.sweep_result import SweepResult, name_ranges

_TEMPLATE = "sweep.html"


def summarize_sweep(
    result: SweepResult, *, inputs: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Summarize a sweep, as ``gradraker sweep --json`` prints it and the page shows it.

    Parameters
    ----------
    result : SweepResult
        Result of :func:`gradraker.sigma2_sweep`.
    inputs : mapping of str to str, optional
        Names of the files that the data came from.

    Returns
    -------
    dict
        Ready for JSON, without times: equal sweeps have equal summaries.

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> from gradraker.report import summarize_sweep
    >>> summary = summarize_sweep(sigma2_sweep(load_temperature(), n_repeats=2))
    >>> summary["best"]["sigma2"] > summary["boundaries"]["chaos_extending"]["median"]
    True
    """
    settings = {name: value for name, value in result.settings.items() if name != "sigma2"}
    mean, error = result.mean, result.standard_error
    best = int(np.argmin(mean))
    boundaries = result.median_boundaries
    ed = float(boundaries[1])
    ranges = name_ranges(boundaries, result.sigma2)
    return {
        "command": "sweep",
        "inputs": dict(inputs or {}),
        "data": settings.pop("data"),
        "best": {
            "sigma2": float(result.sigma2[best]),
            "gnmse": to_json_number(mean[best]),
            "standard_error": to_json_number(error[best]),
            "at_the_end": best in (0, mean.size - 1),
        },
        "theory": {
            "sigma2": to_json_number(ed),
            "gnmse": to_json_number(result.compute_mean_at(ed)),
        },
        "boundaries": {
            name: _summarize_repeats(column)
            for name, column in zip(BOUNDARIES, result.boundaries.T, strict=True)
        },
        "distances": {
            "smallest": _summarize_repeats(result.squared_distances[:, 0]),
            "largest": _summarize_repeats(result.squared_distances[:, 1]),
        },
        "curve": [
            {
                "sigma2": float(result.sigma2[s]),
                "range": ranges[s],
                "gnmse": to_json_number(mean[s]),
                "standard_error": to_json_number(error[s]),
            }
            for s in range(mean.size)
        ],
        "versions": settings.pop("versions"),
        "settings": settings,
    }


def render_sweep(result: SweepResult, *, inputs: Mapping[str, str] | None = None) -> str:
    """Make a page of a sweep: self-contained HTML. Equal sweeps make equal pages.

    Parameters
    ----------
    result, inputs
        As in :func:`summarize_sweep`.

    Returns
    -------
    str

    Examples
    --------
    >>> from gradraker import load_temperature, sigma2_sweep
    >>> from gradraker.report import render_sweep
    >>> page = render_sweep(sigma2_sweep(load_temperature(), n_repeats=2))
    >>> page.count("<figure")
    1
    """
    template = make_environment().get_template(_TEMPLATE)  # first: raises if jinja2 is missing
    from markupsafe import Markup

    display = plot_sweep(result)
    svg = render_inline_svg(
        display.figure_,
        prefix="sweep",
        description="Mean GNMSE over the kernel variance on a logarithmic axis; it is smallest "
        f"at {result.best_:.4g}.",
    )
    # Safe to mark: matplotlib wrote it, and texts are drawn as paths.
    return template.render(summary=summarize_sweep(result, inputs=inputs), figure=Markup(svg))


def _summarize_repeats(column: Any) -> dict[str, float | None]:
    """Return smallest, median and largest over the repeats that have a value."""
    finite = column[np.isfinite(column)]
    if finite.size == 0:
        return {"smallest": None, "median": None, "largest": None}
    return {
        "smallest": float(finite.min()),
        "median": float(np.median(finite)),
        "largest": float(finite.max()),
    }
