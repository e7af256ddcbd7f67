"""The reproduction of the paper as a folder: figures, their numbers, a page, Markdown and JSON."""

import base64
import csv
import io
import json
import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from gradraker._files import write_atomically
from gradraker.paper.captions import TITLES, caption
from gradraker.paper.drawing import draw_paper_figure
from gradraker.paper.findings import counts, findings
from gradraker.paper.plan import PARTS, SIMULATIONS
from gradraker.paper.results import PaperResults
from gradraker.paper.rules import RULES
from gradraker.paper.tables import figure_table
from gradraker.plotting import FORMATS, freeze_layout, render_figure, to_inline_svg
from gradraker.report.html import environment

RESULTS_NAME = "results.jsonl"
# Figures that belong together, by the beginnings of their names.
_SIDE_BY_SIDE = (("fig1", "fig2"), ("fig3",), ("fig4", "fig5"), ("fig6",), ("fig7", "fig8"))
# Sections of the paper, by the beginning of a place.
_SECTIONS = {
    "III": "III: similarity measure and contribution weight",
    "IV": "IV: Gaussian variance for a graph",
    "V.B": "V.B: data sets",
    "V.C": "V.C: exponential approximation of B",
    "V.D": "V.D: boundaries, and the impact of σ²",
    "V.E": "V.E: performance of the proposed algorithm",
    "VI": "VI: discussion",
}


def paper_summary(results: PaperResults) -> dict[str, Any]:
    """Everything worth telling about a reproduction, as a dict that JSON can hold.

    Parameters
    ----------
    results : PaperResults
        What :func:`gradraker.paper.run_paper` returned.

    Returns
    -------
    dict
        Without dates and times: equal results have equal summaries.

    Examples
    --------
    >>> from gradraker.paper import run_paper
    >>> from gradraker.paper import paper_summary
    >>> summary = paper_summary(run_paper(["fig6a"], fast=True))
    >>> [figure["name"] for figure in summary["figures"]]
    ['fig6a']
    >>> sum(summary["verdicts"].values()) == len(summary["findings"])
    True
    """
    found = findings(results)
    return {
        "command": "reproduce",
        "again": _command(results),
        "fast": results.header["fast"],
        "seed": results.header["random_state"],
        "verdicts": counts(found),
        "findings": [one.as_dict() for one in found],
        "rules": {rule.name: rule.text for rule in RULES.values()},
        "figures": [
            {"name": name, "title": TITLES[name], "caption": caption(results, name)}
            for name in drawn_figures(results)
        ],
        "left_out": _left_out(results),
        "datasets": dict(results.header["datasets"]),
        "simulations": {
            name: {"dataset": simulation["dataset"], "settings": simulation["settings"]}
            for name, simulation in results.simulations.items()
        },
        # Figures are matplotlib's, whenever the simulations were run.
        "versions": {**results.header["versions"], "matplotlib": version("matplotlib")},
    }


def write_reproduction(
    results: PaperResults,
    folder: str | os.PathLike[str],
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Draw everything from results and write it to a folder.

    Parameters
    ----------
    results : PaperResults
        What was run, or what :func:`gradraker.paper.read_results` read.
    folder : path-like
        Made if it is not there. It gets ``report.html``, ``report.md``, ``report.json``,
        ``results.jsonl``, and in ``figures`` each figure as SVG, PNG and PDF with its numbers as
        CSV.
    progress : callable, optional
        Called with a word, the number of figures done and that of all.

    Returns
    -------
    dict
        The summary. Equal results make equal files.
    """
    home = Path(folder)
    summary = paper_summary(results)
    templates = environment()  # first: it says if jinja2 is missing
    templates.filters |= {"cell": _cell, "setting": _setting}
    (home / "figures").mkdir(parents=True, exist_ok=True)
    results.save(home / RESULTS_NAME)
    figures = {}
    for i, figure in enumerate(summary["figures"]):
        if progress is not None:
            progress("drawing", i, len(summary["figures"]))
        figures[figure["name"]] = _write_figure(results, figure, home / "figures")
    shown = {
        "summary": summary,
        "figures": figures,
        "sections": sections(summary),
        "groups": groups(summary),
    }
    _write(home / "report.html", templates.get_template("paper.html").render(**shown))
    _write(home / "report.md", templates.get_template("paper.md").render(**shown))
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
    _write(home / "report.json", f"{text}\n")
    return summary


def drawn_figures(results: PaperResults) -> list[str]:
    """Names of the figures that were asked for and can be drawn."""
    asked = [name for name in results.header["parts"] if name in TITLES]
    return [name for name in asked if all(map(results.has, PARTS[name]))]


def _left_out(results: PaperResults) -> list[dict[str, str]]:
    """Figures that were asked for, but whose data are not at hand."""
    datasets: Mapping[str, Mapping[str, Any]] = results.header["datasets"]
    left_out = []
    for name in results.header["parts"]:
        if name in TITLES and not all(map(results.has, PARTS[name])):
            data = SIMULATIONS[PARTS[name][0]].data
            left_out.append(
                {
                    "name": name,
                    "title": TITLES[name],
                    "dataset": data,
                    "problem": datasets[data]["problem"],
                    "reason": datasets[data]["missing"],
                }
            )
    return left_out


def _command(results: PaperResults) -> str:
    """What to type to do it again."""
    header = results.header
    words = ["gradraker reproduce", f"--seed {header['random_state']}"]
    if header["fast"]:
        words.append("--fast")
    if header["parts"] != list(PARTS):
        words.append(f"--only {','.join(header['parts'])}")
    return " ".join(words)


def sections(summary: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """Findings by the section of the paper."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for finding in summary["findings"]:
        title = next(
            title for place, title in _SECTIONS.items() if finding["place"].startswith(place)
        )
        found.setdefault(title, []).append(finding)
    return found


def groups(summary: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """Figures that stand side by side on the page."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for figure in summary["figures"]:
        name = figure["name"]
        group = next((part for part in _SIDE_BY_SIDE if name.startswith(part)), ())
        found.setdefault(str(group), []).append(figure)
    return list(found.values())


def _write_figure(results: PaperResults, figure: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write a figure and its numbers; return what a page shows of them."""
    from markupsafe import Markup

    name = figure["name"]
    drawn = draw_paper_figure(results, name)
    freeze_layout(drawn)
    files = {kind: render_figure(drawn, kind) for kind in FORMATS}
    files["csv"] = _csv(figure_table(results, name)).encode()
    for kind, content in files.items():
        _write_bytes(folder / f"{name}.{kind}", content)
    svg = to_inline_svg(files["svg"].decode(), prefix=name, description=figure["caption"])
    return {
        # Safe to mark: matplotlib wrote it, texts are paths, and the description is escaped.
        "svg": Markup(svg),
        "csv": f"data:text/csv;base64,{base64.b64encode(files['csv']).decode()}",
    }


def _csv(table: list[list[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(
        ["" if cell is None or cell != cell else cell for cell in row] for row in table
    )
    return buffer.getvalue()


def _cell(text: str) -> str:
    """A text that does not end a cell of a Markdown table."""
    return text.replace("|", "\\|")


def _setting(value: Any) -> str:
    """A setting in few words.

    Examples
    --------
    >>> _setting(0.1), _setting([0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
    ('0.1', '6 from 0.02 to 1')
    """
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if len(value) > 5:
        return f"{len(value)} from {value[0]:g} to {value[-1]:g}"
    return ", ".join(map(_setting, value))


def _write(path: Path, text: str) -> None:
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, content: bytes) -> None:
    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_atomically(path, write)
