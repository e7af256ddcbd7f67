"""``gradraker reproduce``: every figure and every number of the paper, beside ours."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.options import LARGEST_SEED
from gradraker.cli.output import console, echo_json
from gradraker.cli.progress import Waiting
from gradraker.cli.sweep import INTERRUPTED
from gradraker.cli.tables import facts_table, rows_table

if TYPE_CHECKING:
    from gradraker.paper.results import PaperResults

_CHECKPOINTS = "checkpoints"
# Progress is counted in whole numbers.
_UNITS = 1000


@click.command(
    short_help="Reproduce the paper: every figure, every number.",
    epilog="Example: gradraker reproduce --only fig6a --fast --out paper",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("gradraker-paper"),
    show_default=True,
    metavar="DIR",
    help="Folder for the page, figures and results; made if it is not there.",
)
@click.option(
    "--only",
    metavar="NAME,...",
    help="Some figures only, such as fig3,fig6a; a wrong name lists them all.",
)
@click.option("--fast", is_flag=True, help="Few repeats and variances, for a look in seconds.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Worker processes. Default: one process with threads on all cores.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=LARGEST_SEED),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed; the same seed gives the same files.",
)
@click.option("--download", is_flag=True, help="Fetch data sets that are not at hand.")
@click.option(
    "--redraw",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Run nothing: draw everything again from this results.jsonl.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def reproduce(
    folder: Path,
    only: str | None,
    fast: bool,
    jobs: int | None,
    seed: int,
    download: bool,
    redraw: Path | None,
    as_json: bool,
) -> None:
    """Run the paper's simulations, draw its figures, and compare every number it prints.

    Everything goes to a folder: report.html (one page that needs nothing else), report.md,
    report.json, results.jsonl, and figures as SVG, PNG and PDF with their numbers as CSV.
    Data sets that are not at hand are named, and the rest still runs.

    Ctrl-C keeps the repeats that are done; the same command goes on there. The exit code is 0
    whatever the verdicts are.
    """
    if redraw is not None and (only or fast or jobs or download or _is_given("seed")):
        raise click.UsageError(
            "--redraw runs nothing, so it goes with --out and --json only: the file has the rest"
        )
    names = None if only is None else _names(only)
    try:
        with Waiting() as waiting:
            waiting.stage("starting")
            _check_extras()
            results = (
                _run(folder, names, fast, jobs, seed, download, waiting)
                if redraw is None
                else _read(redraw)
            )
            waiting.stage("drawing")
            from gradraker.paper import write_reproduction

            summary = write_reproduction(results, folder, progress=waiting.read)
    except KeyboardInterrupt:
        click.echo(
            "\nStopped. What is done is kept: the same command goes on where it was.", err=True
        )
        raise click.exceptions.Exit(INTERRUPTED) from None
    if as_json:
        echo_json(summary)
        return
    _print_tables(summary)
    # Not through rich, which would break a long path into lines.
    click.echo(f"Page: {folder / 'report.html'}")


def _is_given(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is not click.core.ParameterSource.DEFAULT


def _check_extras() -> None:
    """Say before the work that a package is missing which is needed after it."""
    from gradraker.plotting.figure import make_axes
    from gradraker.report.html import environment

    environment()
    make_axes()


def _names(only: str) -> list[str]:
    from gradraker.paper import chosen_parts

    names = [name.strip() for name in only.split(",") if name.strip()]
    try:
        return chosen_parts(names or [""])
    except ValueError as error:
        message = str(error).removeprefix("only: ")
        raise click.BadParameter(message, param_hint="--only") from error


def _run(
    folder: Path,
    names: list[str] | None,
    fast: bool,
    jobs: int | None,
    seed: int,
    download: bool,
    waiting: Waiting,
) -> "PaperResults":
    from gradraker.paper import run_paper

    folder.mkdir(parents=True, exist_ok=True)

    def progress(name: str, done: float, total: float) -> None:
        waiting.read(name, round(_UNITS * done), round(_UNITS * total))

    return run_paper(
        names,
        fast=fast,
        random_state=seed,
        n_jobs=jobs,
        download=download,
        checkpoints=folder / _CHECKPOINTS,
        progress=progress,
    )


def _read(path: Path) -> "PaperResults":
    from gradraker.paper import read_results

    return read_results(path)


def _missing(summary: dict[str, Any]) -> list[str]:
    """For each data set that is not at hand, the figures that it takes and how to get it."""
    from gradraker.paper import DATA

    figures: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for one in summary["left_out"]:
        data = DATA[one["dataset"]]
        figures.setdefault(data.title, []).append(one["name"])
        # Addresses are on the page: a table would cut them.
        fetch = f"'gradraker data fetch {data.registered}'"
        more = {
            "are not at hand": f"--download or {fetch} gets them, the page says from where",
            "could not be downloaded": f"{fetch} says why",
        }.get(one["problem"], one["reason"])
        texts[data.title] = f"data of {data.title} {one['problem']}: {more}"
    return [f"{', '.join(names)}: {texts[title]}" for title, names in figures.items()]


def _print_tables(summary: dict[str, Any]) -> None:
    verdicts = summary["verdicts"]
    facts = [
        ("Figures", f"{len(summary['figures'])} drawn"),
        *((verdict.capitalize(), str(n)) for verdict, n in verdicts.items()),
    ]
    facts += [("Not drawn", text) for text in _missing(summary)]
    if summary["fast"]:
        facts.append(("Fast", "few repeats: verdicts may change with all of them"))
    page = console()
    page.print(facts_table("The paper, reproduced", facts))
    differing = [
        (one["place"], one["quantity"], one["printed"], one["shown"])
        for one in summary["findings"]
        if one["verdict"] == "differs"
    ]
    if differing:
        headings = ["Section", "Quantity", "Paper", "Ours"]
        page.print(rows_table("What differs; the page says why", headings, differing))
