"""Reproduce the paper: choose its parts, run them, and write the results to a folder.

The folder holds figures, their numbers, a page, Markdown and JSON.
"""

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradraker._files import write_bytes
from gradraker.exceptions import UnknownFigureError
from gradraker.paper.claims import RULES, Finding, check_claims, count_verdicts
from gradraker.paper.figures import CLAIMS as FIGURE_CLAIMS
from gradraker.paper.figures import FIGURES
from gradraker.paper.figures.fig2 import WEIGHTS
from gradraker.paper.figures.fig7_8 import PAPER_PAIRS, STATION_PAIRS
from gradraker.paper.numbers import CLAIMS as NUMBER_CLAIMS
from gradraker.paper.numbers import SIMULATIONS as NUMBER_SIMULATIONS
from gradraker.paper.numbers.section_v import SIMILARITIES
from gradraker.paper.simulations import (
    PaperFigure,
    PaperResults,
    Progress,
    RunOptions,
    Simulation,
    Table,
    read_results,
    run_simulations,
    to_csv,
)
from gradraker.plotting import FORMATS, freeze_layout, render_figure, to_inline_svg
from gradraker.plotting.figure import make_axes
from gradraker.report.html import make_environment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The order in which simulations are run and written: quick ones first, then the sweeps.
_ORDER: tuple[Simulation[Any], ...] = (
    WEIGHTS,
    SIMILARITIES,
    STATION_PAIRS,
    PAPER_PAIRS,
    *NUMBER_SIMULATIONS,
    *(figure.simulation for figure in FIGURES.values()),
)
SIMULATIONS: dict[str, Simulation[Any]] = {simulation.name: simulation for simulation in _ORDER}

# Names that ``--only`` takes, with the simulations that they need.
PARTS: dict[str, tuple[str, ...]] = {
    **{name: (figure.simulation.name,) for name, figure in FIGURES.items()},
    "numbers": tuple(simulation.name for simulation in NUMBER_SIMULATIONS),
}

# In the paper's order, which is alphabetical for sections II to VI.
CLAIMS = tuple(
    sorted((*FIGURE_CLAIMS, *NUMBER_CLAIMS), key=lambda claim: claim.place.partition(",")[0])
)

RESULTS_NAME = "results.jsonl"
_CHECKPOINTS = "checkpoints"
# Sections of the paper, by the beginning of a place.
_SECTIONS = {
    "III": "III: similarity measure and contribution weight",
    "II": "II: steps when applying SKG",
    "IV": "IV: Gaussian variance for a graph",
    "V.A": "V.A: performance measure",
    "V.B": "V.B: data sets",
    "V.C": "V.C: exponential approximation of B",
    "V.D": "V.D: boundaries, and the impact of σ²",
    "V.E": "V.E: performance of the proposed algorithm",
    "VI": "VI: discussion",
}


def choose_parts(names: Iterable[str] | None) -> list[str]:
    """Choose parts by name, in the paper's order; "fig3" is all of figure 3, None everything.

    Examples
    --------
    >>> choose_parts(["fig6b", "fig3"])
    ['fig3a', 'fig3b', 'fig3c', 'fig3d', 'fig6b']
    >>> choose_parts(["fig9"])
    Traceback (most recent call last):
    ...
    gradraker.exceptions.UnknownFigureError: only: there is no 'fig9'; it must be some of fig1, ...
    """
    if names is None:
        return list(PARTS)
    wanted: set[str] = set()
    for name in names:
        found = [part for part in PARTS if name in (part, _get_figure_name(part))]
        if not found:
            known = dict.fromkeys(word for part in PARTS for word in (_get_figure_name(part), part))
            raise UnknownFigureError(name, tuple(known))
        wanted.update(found)
    return [part for part in PARTS if part in wanted]


def _get_figure_name(part: str) -> str:
    """Return the name of the figure that a panel is part of, or the part itself."""
    return part.rstrip("abcde") if part.startswith("fig") else part


def run_paper(
    only: Iterable[str] | None = None,
    *,
    fast: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    download: bool = False,
    checkpoints: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> PaperResults:
    """Run the simulations of the paper's sections II to VI.

    Parameters
    ----------
    only : iterable of str, optional
        Names of figures, such as "fig6a" or "fig3"; by default everything.
    fast : bool, default=False
        Few repeats and variances, for a quick look.
    random_state : int, default=0
        Seed.
    n_jobs : int, optional
        As in :func:`gradraker.sigma2_sweep`; results do not depend on it.
    download : bool, default=False
        Whether to download missing data sets.
    checkpoints : path-like, optional
        Folder that keeps repeats of sweeps as they are done; the same call continues from there.
    progress : callable, optional
        Called with the name of a simulation, the cost of the finished work and the total cost.

    Returns
    -------
    PaperResults

    Raises
    ------
    UnknownFigureError
        If a name is not that of a figure.

    Examples
    --------
    >>> from gradraker.paper import run_paper
    >>> run_paper(["fig3", "fig6b"], fast=True)
    PaperResults of weights, sweep-temperature-weighted
    """
    parts = choose_parts(only)
    wanted = {name for part in parts for name in PARTS[part]}
    chosen = [simulation for name, simulation in SIMULATIONS.items() if name in wanted]
    folder = None if checkpoints is None else Path(checkpoints)
    options = RunOptions(random_state, n_jobs=n_jobs, checkpoints=folder)
    return run_simulations(
        chosen, options, parts=parts, fast=fast, download=download, progress=progress
    )


def compare_with_paper(results: PaperResults) -> list[Finding]:
    """Compare every number and statement of the paper with the results.

    Claims whose simulations were not requested are skipped; those whose data set is missing
    cannot be checked.

    Examples
    --------
    >>> from gradraker.paper import compare_with_paper, read_results
    >>> findings = compare_with_paper(read_results("paper/results.jsonl"))  # doctest: +SKIP
    """
    return check_claims(CLAIMS, results)


def reproduce_paper(
    folder: str | os.PathLike[str],
    *,
    only: Iterable[str] | None = None,
    fast: bool = False,
    random_state: int = 0,
    n_jobs: int | None = None,
    download: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run the paper's simulations, and write a report to a folder.

    Parameters
    ----------
    folder : path-like
        As in :func:`write_reproduction`. Repeats of sweeps are kept there as they are done, and
        the same call continues from them.
    only, fast, random_state, n_jobs, download, progress
        As in :func:`run_paper`.

    Returns
    -------
    dict
        The summary, as of :func:`build_summary`.

    Raises
    ------
    UnknownFigureError
        If a name is not that of a figure; nothing is written.

    Examples
    --------
    >>> from gradraker.paper import reproduce_paper
    >>> _ = reproduce_paper("paper", only=["fig1"], fast=True)  # doctest: +SKIP
    """
    parts = choose_parts(only)
    _check_extras()
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    results = run_paper(
        parts,
        fast=fast,
        random_state=random_state,
        n_jobs=n_jobs,
        download=download,
        checkpoints=home / _CHECKPOINTS,
        progress=progress,
    )
    return write_reproduction(results, home, progress=progress)


def redraw_paper(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write everything again from a results file; runs no simulation.

    Parameters
    ----------
    path : path-like
        A ``results.jsonl``.
    folder, progress
        As in :func:`write_reproduction`.

    Returns
    -------
    dict
        The summary, as of :func:`build_summary`.

    Examples
    --------
    >>> from gradraker.paper import redraw_paper
    >>> _ = redraw_paper("paper/results.jsonl", "again")  # doctest: +SKIP
    """
    _check_extras()
    return write_reproduction(read_results(path), folder, progress=progress)


def _check_extras() -> None:
    """Raise before the work if a package is missing that is needed after it."""
    make_environment()
    make_axes()


def build_summary(results: PaperResults) -> dict[str, Any]:
    """Summarize a reproduction as a dict ready for JSON.

    Parameters
    ----------
    results : PaperResults
        Returned by :func:`gradraker.paper.run_paper`, or read from a file.

    Returns
    -------
    dict
        Without dates and times: equal results have equal summaries.

    Examples
    --------
    >>> from gradraker.paper import build_summary, run_paper
    >>> summary = build_summary(run_paper(["fig6a"], fast=True))
    >>> [figure["name"] for figure in summary["figures"]]
    ['fig6a']
    >>> sum(summary["verdicts"].values()) == len(summary["findings"])
    True
    """
    findings = compare_with_paper(results)
    requested = [FIGURES[name] for name in results.header["parts"] if name in FIGURES]
    return {
        "command": "reproduce",
        "again": _format_command(results),
        "fast": results.header["fast"],
        "seed": results.header["random_state"],
        "verdicts": count_verdicts(findings),
        "findings": [finding.to_dict() for finding in findings],
        "rules": {rule.name: rule.text for rule in RULES.values()},
        "figures": [
            {
                "name": figure.name,
                "title": figure.title,
                "caption": write_caption(results, figure.name),
            }
            for figure in requested
            if results.has(figure.simulation.name)
        ],
        "left_out": [
            _describe_left_out(results, figure)
            for figure in requested
            if not results.has(figure.simulation.name)
        ],
        "datasets": dict(results.header["datasets"]),
        "simulations": {
            name: {"dataset": simulation["dataset"], "settings": simulation["settings"]}
            for name, simulation in results.simulations.items()
        },
        # Figures may be drawn later than the simulations were run.
        "versions": {**results.header["versions"], "matplotlib": version("matplotlib")},
    }


def _format_command(results: PaperResults) -> str:
    """Format the command that reproduces the results."""
    header = results.header
    command = ["gradraker reproduce", f"--seed {header['random_state']}"]
    if header["fast"]:
        command.append("--fast")
    if header["parts"] != list(PARTS):
        command.append(f"--only {','.join(header['parts'])}")
    return " ".join(command)


def _describe_left_out(results: PaperResults, figure: PaperFigure[Any]) -> dict[str, str]:
    """Describe why a figure was not drawn: its data are missing."""
    data = figure.simulation.data
    facts: Mapping[str, Any] = results.header["datasets"][data]
    return {
        "name": figure.name,
        "title": figure.title,
        "dataset": data,
        "problem": facts["problem"],
        "reason": facts["missing"],
    }


def write_reproduction(
    results: PaperResults, folder: str | os.PathLike[str], *, progress: Progress | None = None
) -> dict[str, Any]:
    """Draw everything from results and write it to a folder.

    Parameters
    ----------
    results : PaperResults
        Returned by :func:`gradraker.paper.run_paper`, or read from a file.
    folder : path-like
        Created if it does not exist. It gets ``report.html``, ``report.md``, ``report.json``,
        ``results.jsonl``, and in ``figures`` each figure as SVG, PNG and PDF with its numbers as
        CSV.
    progress : callable, optional
        Called with a word, the number of figures done and the number of all figures.

    Returns
    -------
    dict
        The summary. Equal results make equal files.

    Examples
    --------
    >>> from gradraker.paper import read_results, write_reproduction
    >>> results = read_results("paper/results.jsonl")  # doctest: +SKIP
    >>> write_reproduction(results, "again")  # doctest: +SKIP
    """
    home = Path(folder)
    summary = build_summary(results)
    templates = make_environment(__package__)  # first: it raises if jinja2 is missing
    templates.filters |= {
        "cell": lambda text: text.replace("|", "\\|"),  # a bar would end a cell in Markdown
        "setting": _format_setting,
    }
    (home / "figures").mkdir(parents=True, exist_ok=True)
    results.save(home / RESULTS_NAME)
    figures = {}
    for i, figure in enumerate(summary["figures"]):
        if progress is not None:
            progress("drawing", i, len(summary["figures"]))
        figures[figure["name"]] = _write_figure(results, figure, home / "figures")
    context = {
        "summary": summary,
        "figures": figures,
        "sections": _group_by_section(summary["findings"]),
        "rows": _group_by_row(summary["figures"]),
    }
    texts = {
        name: templates.get_template(f"paper.{name}").render(**context) for name in ("html", "md")
    }
    texts["json"] = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    for kind, text in texts.items():
        write_bytes(home / f"report.{kind}", text.encode())
    return summary


def _group_by_section(findings: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group findings by the section of the paper."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for finding in findings:
        title = next(
            title for place, title in _SECTIONS.items() if finding["place"].startswith(place)
        )
        groups.setdefault(title, []).append(finding)
    return groups


def _group_by_row(figures: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group figures that stand side by side on the page."""
    found: dict[int, list[dict[str, Any]]] = {}
    for figure in figures:
        found.setdefault(FIGURES[figure["name"]].row, []).append(figure)
    return list(found.values())


def _write_figure(results: PaperResults, figure: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write a figure and its numbers; return both as a page embeds them."""
    from markupsafe import Markup

    name = figure["name"]
    drawn = draw_figure(results, name)
    freeze_layout(drawn)
    files = {kind: render_figure(drawn, kind) for kind in FORMATS}
    files["csv"] = to_csv(make_table(results, name)).encode()
    for kind, content in files.items():
        write_bytes(folder / f"{name}.{kind}", content)
    svg = to_inline_svg(files["svg"].decode(), prefix=name, description=figure["caption"])
    return {
        # Safe to mark: matplotlib wrote it, texts are paths, and the description is escaped.
        "svg": Markup(svg),
        "csv": f"data:text/csv;base64,{base64.b64encode(files['csv']).decode()}",
    }


def _format_setting(value: Any) -> str:
    """Format a setting briefly.

    Examples
    --------
    >>> _format_setting(0.1), _format_setting([0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
    ('0.1', '6 from 0.02 to 1')
    """
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if len(value) > 5:
        return f"{len(value)} from {value[0]:g} to {value[-1]:g}"
    return ", ".join(map(_format_setting, value))


def draw_figure(results: PaperResults, name: str) -> "Figure":
    """Draw one figure of the paper, or one of section VI.B.2 that it only describes.

    Parameters
    ----------
    results : PaperResults
        Returned by :func:`gradraker.paper.run_paper`, or read from a file.
    name : str
        Such as "fig6a".

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gradraker.paper import draw_figure, run_paper
    >>> figure = draw_figure(run_paper(["fig4"]), "fig4")
    >>> figure.axes[0].get_xlabel()
    'Training time $i$ (nodes seen)'
    """
    figure = FIGURES[name]
    return figure.draw(results.get(figure.simulation)).figure_


def make_table(results: PaperResults, name: str) -> Table:
    """List the numbers that a figure shows, the header first.

    Examples
    --------
    >>> from gradraker.paper import make_table, run_paper
    >>> make_table(run_paper(["fig6a"], fast=True), "fig6a")[0]
    ['sigma2', 'mean', 'standard_error', 'repeat_0', 'repeat_1', 'repeat_2']
    """
    figure = FIGURES[name]
    return figure.make_table(results.get(figure.simulation))


def write_caption(results: PaperResults, name: str) -> str:
    """Write the caption of a figure: its content, and the main observation."""
    figure = FIGURES[name]
    # A minus sign, as on the axes.
    return re.sub(r"(?<=[ (])-(?=\d)", "−", figure.write_caption(results.get(figure.simulation)))
