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


def render_predictions(summary: Mapping[str, Any]) -> str:
    """Make a page from a summary of predictions.

    Parameters
    ----------
    summary : dict
        What :func:`gradraker.report.summarize_predictions` returned, or what
        ``gradraker predict --json`` printed.

    Returns
    -------
    str
        HTML with everything in it. Equal summaries make equal pages.

    Examples
    --------
    >>> from gradraker import load_temperature, predict_nodes
    >>> from gradraker.report import render_predictions, summarize_predictions
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> page = render_predictions(summarize_predictions(predict_nodes(data, known)))
    >>> page.count("<figure")
    2
    """
    template = make_environment().get_template(_TEMPLATE)
    return template.render(
        summary=summary,
        figures=_draw_figures(summary),
        shown=summary["predictions"][:_N_SHOWN],
    )


def make_environment(*packages: str) -> "Environment":
    """Templates, with everything escaped and the filters that all pages use.

    Those of ``packages`` come before those of the report, and may extend them.
    """
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise ImportError(
            "a report needs jinja2 and matplotlib: pip install 'gradraker[report]'"
        ) from error
    # Names of nodes come from anywhere: everything is escaped unless it is marked as HTML.
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader(package) for package in (*packages, "gradraker.report")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": format_number, "count": format_count, "visible": show_hidden}
    return environment


def _draw_figures(summary: Mapping[str, Any]) -> "dict[str, Markup]":
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


def format_number(value: float | None) -> str:
    """A number with four digits that count.

    Examples
    --------
    >>> format_number(3.14159), format_number(-0.5), format_number(None)
    ('3.142', '−0.5', 'none')
    """
    if value is None or not math.isfinite(value):
        return "none"
    return f"{value:.4g}".replace("-", "−")


def format_count(value: int) -> str:
    """A whole number with thin spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def show_hidden(name: object) -> str:
    """A name in which nothing is hidden: control characters are written out."""
    text = str(name)
    if not text.strip():
        return repr(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
