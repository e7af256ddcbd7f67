"""Render the summary of a job as one self-contained HTML file, with or without scripts."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gradraker._validation import check_choice, show_hidden
from gradraker.plotting import (
    DrawnDisplay,
    plot_distribution,
    plot_errors,
    plot_held_out,
    plot_sigma2_ranges,
    render_inline_svg,
)
from gradraker.report.summary import list_least_certain

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_TEMPLATE = "prediction.html"
_TARGET_TEMPLATE = "target.html"
_MAX_TARGETS = 20
_N_SHOWN = 15
_N_LISTED = 10


@dataclass(frozen=True)
class NumberFormat:
    """The decimal mark and the separator of thousands.

    Examples
    --------
    >>> from gradraker.report.html import NUMBER_FORMATS
    >>> NUMBER_FORMATS["de"].format_number(3.14159), NUMBER_FORMATS["de"].format_count(12345)
    ('3,142', '12.345')
    >>> NUMBER_FORMATS["si"].format_number(-0.5), NUMBER_FORMATS["si"].format_number(None)
    ('−0.5', 'none')
    """

    decimal: str
    group: str

    def format_number(self, value: float | None) -> str:
        """Return a number with four significant digits; "none" if it is missing or not finite."""
        if value is None or not math.isfinite(value):
            return "none"
        text = f"{value:.4g}".replace("-", "−")
        if "e" not in text and abs(value) >= 1000.0:
            return f"{float(f'{value:.4g}'):,.0f}".replace("-", "−").replace(",", self.group)
        return text.replace(".", self.decimal)

    def format_count(self, value: int) -> str:
        """Return a whole number."""
        return f"{value:,}".replace(",", self.group)


NUMBER_FORMATS = {
    "si": NumberFormat(".", "\u202f"),
    "en": NumberFormat(".", ","),
    "de": NumberFormat(",", "."),
    "fr": NumberFormat(",", "\u202f"),
    "ch": NumberFormat(".", "’"),
}


def render_predictions(
    summary: Mapping[str, Any],
    *,
    explorer: Mapping[str, Any] | None = None,
    title: str | None = None,
    unit: str | None = None,
    number_language: str = "si",
) -> str:
    """Make a page from a summary of predictions.

    Parameters
    ----------
    summary : dict
        Result of :func:`gradraker.report.summarize_predictions`, or output of
        ``gradraker predict --json``.
    explorer : dict, optional
        Result of :func:`gradraker.report.build_explorer`: the page then has a searchable table of
        all nodes, and panels. Without it the page has no script.
    title : str, optional
        Title of the page.
    unit : str, optional
        Unit of the values, such as °C.
    number_language : {"si", "en", "de", "fr", "ch"}
        How numbers are written: 1 234.5, 1,234.5, 1.234,5, 1 234,5 or 1’234.5.

    Returns
    -------
    str
        Self-contained HTML. Equal summaries make equal pages.

    Examples
    --------
    >>> from gradraker import load_temperature, predict_nodes
    >>> from gradraker.report import render_predictions, summarize_predictions
    >>> data = load_temperature()
    >>> known = dict(zip(data.node_names[:60], data.values[:60]))
    >>> page = render_predictions(summarize_predictions(predict_nodes(data, known)), unit="°C")
    >>> page.count("<figure")
    3
    """
    kind = "values" if summary["task"] == "values" else "classes"
    part = _Part(summary, explorer, unit)
    return _render_page([part], title or f"Predicted node {kind}", number_language)


def render_targets(
    summaries: Mapping[str, Mapping[str, Any]],
    *,
    explorers: Mapping[str, Mapping[str, Any]],
    title: str | None = None,
    units: Mapping[str, str] | None = None,
    number_language: str = "si",
) -> str:
    """Make a page of several targets, of which the reader chooses one.

    Parameters
    ----------
    summaries, explorers : dict
        The same as for :func:`render_predictions`, by the name of the target.
    title : str, optional
        Title of the page.
    units : dict, optional
        Units of the values, by the name of the target.
    number_language : {"si", "en", "de", "fr", "ch"}
        As in :func:`render_predictions`.

    Returns
    -------
    str
        Self-contained HTML.

    Examples
    --------
    >>> from gradraker import NodeRegressor, load_temperature
    >>> from gradraker.report import build_explorer, render_targets, summarize_predictions
    >>> from gradraker.workflow import predict_all_targets
    >>> data = load_temperature()
    >>> known = {n: {"day": v, "night": v - 8} for n, v in zip(data.node_names[:60], data.values)}
    >>> found = predict_all_targets(NodeRegressor().fit(data, known))
    >>> summaries = {name: summarize_predictions(result) for name, result in found.items()}
    >>> explorers = {name: build_explorer(found[name], n_targets=2) for name in found}
    >>> render_targets(summaries, explorers=explorers).count("<figure")
    6
    """
    if len(summaries) > _MAX_TARGETS:
        raise ValueError(
            f"a page shows at most {_MAX_TARGETS} targets, got {len(summaries)}: choose some"
        )
    units = units or {}
    parts = [
        _Part(summary, explorers[name], units.get(name), name, f"t{i}-")
        for i, (name, summary) in enumerate(summaries.items(), start=1)
    ]
    return _render_page(parts, title or "Predicted node values", number_language)


@dataclass(frozen=True)
class _Part:
    """The part of a page about one target; its element ids begin with the prefix."""

    summary: Mapping[str, Any]
    explorer: Mapping[str, Any] | None
    unit: str | None
    target: str | None = None
    prefix: str = ""

    def to_row(self) -> dict[str, Any]:
        """Return the row of this target in the table of all targets."""
        values, held_out = self.summary["values"], self.summary["held_out"] or {}
        return {
            "target": self.target,
            "prefix": self.prefix,
            "known": values["known"],
            "unknown": values["unknown"],
            "rmse": held_out.get("rmse"),
            "rmse_of_mean": held_out.get("rmse_of_mean"),
            "unit": f" {self.unit}" if self.unit else "",
        }


def _render_page(parts: list[_Part], title: str, number_language: str) -> str:
    numbers = NUMBER_FORMATS[check_choice("number_language", number_language, NUMBER_FORMATS)]
    environment = make_environment(numbers=numbers)
    from markupsafe import Markup

    template = environment.get_template(_TARGET_TEMPLATE)
    rows = []
    for part in parts:
        live = {} if part.explorer is None else _pack_explorer(part.explorer, numbers, part.unit)
        body = template.render(
            summary=part.summary,
            figures=_draw_figures(part.summary, part.prefix),
            shown=part.summary["predictions"][:_N_SHOWN],
            lists=_list_remarkable(part.summary),
            page_title=title,
            target=part.target,
            unit=part.unit or "",
            prefix=part.prefix,
            **live,
        )
        rows.append(part.to_row() | {"body": Markup(body)})
    script: dict[str, Any] = {}
    if parts[0].explorer is not None:
        text = files("gradraker.report").joinpath("templates/explorer.js").read_text("utf-8")
        # The content security policy allows the script by its hash.
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        script = {"script": Markup(text), "script_hash": f"sha256-{digest}"}
    page = environment.get_template(_TEMPLATE)
    return page.render(parts=rows, summary=parts[0].summary, page_title=title, **script)


def _list_remarkable(summary: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the highest, the lowest and the least certain predictions, by title."""
    predictions = summary["predictions"]
    lists: dict[str, list[dict[str, Any]]] = {}
    if summary["task"] == "values" and len(predictions) > _N_LISTED:
        ranked = sorted(predictions, key=lambda entry: entry["prediction"])
        lists = {"The highest": ranked[: -_N_LISTED - 1 : -1], "The lowest": ranked[:_N_LISTED]}
    least = list_least_certain(predictions, _N_LISTED)
    return lists | ({"The least certain": least} if least else {})


def _pack_explorer(
    explorer: Mapping[str, Any], numbers: NumberFormat, unit: str | None
) -> dict[str, Any]:
    """Return the data of an interactive page."""
    from markupsafe import Markup

    formats = {"decimal": numbers.decimal, "group": numbers.group, "unit": unit or ""}
    text = json.dumps(dict(explorer) | formats, allow_nan=False, ensure_ascii=False)
    # Inside a script element only these characters could end it or have another meaning.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # Safe to mark: the text cannot end its element.
    return {"explorer": explorer, "explorer_json": Markup(text)}


def make_environment(*packages: str, numbers: NumberFormat = NUMBER_FORMATS["si"]) -> "Environment":
    """Make the template environment, which escapes everything and has the filters of all pages.

    Templates of ``packages`` take precedence over those of the report, and may extend them.
    """
    try:
        import jinja2  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            "a report needs jinja2 and matplotlib: pip install 'gradraker[report]'"
        ) from error
    return _make_environment(packages, numbers)


@cache
def _make_environment(packages: tuple[str, ...], numbers: NumberFormat) -> "Environment":
    # Cached: compiling templates takes longer than rendering them.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    # Names of nodes are untrusted: everything is escaped unless it is marked as HTML.
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader(package) for package in (*packages, "gradraker.report")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": numbers.format_number,
        "count": numbers.format_count,
        "visible": show_hidden,
    }
    return environment


def _draw_figures(summary: Mapping[str, Any], prefix: str) -> "dict[str, Markup]":
    """Draw SVG elements by name; a figure without data is omitted."""
    from markupsafe import Markup

    drawn: dict[str, tuple[DrawnDisplay, str]] = {}
    sigma2, held_out = summary["sigma2"], summary["held_out"]
    if sigma2 is not None and sigma2["boundaries"] is not None:
        drawn["ranges"] = (
            plot_sigma2_ranges(list(sigma2["boundaries"].values()), sigma2["value"]),
            f"The four ranges of the kernel variance on a logarithmic axis; the chosen variance "
            f"{sigma2['value']:.4g} is in the range {sigma2['range']}.",
        )
    if summary["task"] == "values" and summary["predictions"]:
        known, predictions = (
            summary["values"],
            [entry["prediction"] for entry in summary["predictions"]],
        )
        drawn["distribution"] = (
            plot_distribution(known["quantiles"], predictions),
            f"Distribution of {len(predictions)} predictions and of {known['known']} known values.",
        )
    if held_out is not None and "rmse" in held_out:
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
    # Safe to mark: matplotlib wrote it, and it holds only numbers and fixed labels.
    return {
        name: Markup(
            render_inline_svg(display.figure_, prefix=prefix + name, description=description)
        )
        for name, (display, description) in drawn.items()
    }
