"""The summary of a job as one HTML file that works without a network and without scripts."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradraker.plotting import plot_errors, plot_held_out, plot_sigma2_ranges, render_inline_svg

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_TEMPLATE = "prediction.html"
_N_SHOWN = 15


def prediction_report(summary: Mapping[str, Any]) -> str:
    """Make a page from a summary of predictions.

    Parameters
    ----------
    summary : dict
        What :func:`gradraker.report.prediction_summary` returned, or what
        ``gradraker predict --json`` printed.

    Returns
    -------
    str
        HTML with everything in it. Equal summaries make equal pages.

    Examples
    --------
    >>> from gradraker import load_temperature
    >>> from gradraker.workflow import predict_unknown
    >>> from gradraker.report import prediction_report, prediction_summary
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> page = prediction_report(prediction_summary(predict_unknown(data, known)))
    >>> page.count("<figure")
    2
    """
    template = environment().get_template(_TEMPLATE)
    return template.render(
        summary=summary,
        figures=_figures(summary),
        shown=summary["predictions"][:_N_SHOWN],
    )


def environment() -> "Environment":
    """Templates, with everything escaped and the filters that all pages use."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise ImportError(
            "a report needs jinja2 and matplotlib: pip install 'gradraker[report]'"
        ) from error
    # Names of nodes come from anywhere: everything is escaped unless it is marked as HTML.
    environment = Environment(
        loader=PackageLoader("gradraker.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "count": _count, "visible": _visible}
    return environment


def _figures(summary: Mapping[str, Any]) -> "dict[str, Markup]":
    """SVG elements by name; a figure is left out where there is nothing to draw."""
    from markupsafe import Markup

    drawn = {}
    sigma2, held_out = summary["sigma2"], summary["held_out"]
    if sigma2 is not None and sigma2["boundaries"] is not None:
        drawn["ranges"] = (
            plot_sigma2_ranges(list(sigma2["boundaries"].values()), sigma2["value"]),
            f"The four ranges of the kernel variance on a logarithmic axis; the chosen variance "
            f"{sigma2['value']:.4g} is in the range {sigma2['range']}.",
        )
    if held_out is not None:
        values = [point["value"] for point in held_out["points"]]
        predictions = [point["prediction"] for point in held_out["points"]]
        drawn["held_out"] = (
            plot_held_out(values, predictions, mean=held_out["mean"]),
            f"Predictions against values of {len(values)} held-out nodes.",
        )
        drawn["errors"] = (
            plot_errors(values, predictions, mean=held_out["mean"]),
            f"Histogram of the residuals of {len(values)} held-out nodes.",
        )
    # Safe to mark: matplotlib wrote it, and it holds numbers and our own words only.
    return {
        name: Markup(render_inline_svg(axes.figure.figure, prefix=name, description=description))
        for name, (axes, description) in drawn.items()
    }


def _number(value: float | None) -> str:
    """A number with four digits that count.

    Examples
    --------
    >>> _number(3.14159), _number(-0.5), _number(None)
    ('3.142', '−0.5', 'none')
    """
    if value is None or not math.isfinite(value):
        return "none"
    return f"{value:.4g}".replace("-", "−")


def _count(value: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def _visible(name: object) -> str:
    """A name in which nothing is hidden: control characters are written out."""
    text = str(name)
    if not text.strip():
        return repr(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
