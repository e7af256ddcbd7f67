"""``gradraker reproduce``: the paper's figures and numbers, compared with ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli import options as shared
from gradraker.cli.interruption import INTERRUPTED
from gradraker.cli.output import StatusLine, make_facts_table, make_rows_table, show_facts
from gradraker.exceptions import UnknownFigureError

if TYPE_CHECKING:
    from rich.table import Table

# Progress is reported in whole steps, this many per unit of work.
_STEPS = 1000


@click.command(
    short_help="Reproduce the paper: its figures, numbers and statements.",
    epilog="Example: gradraker reproduce --only fig6a --fast --out paper",
)
@shared.add_folder(
    "gradraker-paper", "Folder for the page, figures and results; created if it does not exist."
)
@click.option(
    "--only",
    metavar="NAME,...",
    help="Only these figures, such as fig3,fig6a; a wrong name lists them all.",
)
@click.option("--fast", is_flag=True, help="Few repeats and variances, for a quick look.")
@shared.jobs_option
@shared.add_seed("Seed; the same seed gives the same files.")
@click.option("--download", is_flag=True, help="Download missing data sets.")
@click.option(
    "--redraw",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw everything again from this results.jsonl, without running simulations.",
)
@shared.json_option
def reproduce(
    folder: Path,
    only: str | None,
    fast: bool,
    n_jobs: int | None,
    random_state: int,
    download: bool,
    redraw: Path | None,
    as_json: bool,
) -> None:
    """Run the paper's simulations, draw its figures, and compare its numbers and statements.

    Figures 1 to 5, 6 (a), 6 (b) and 7 use data that come with gradraker. Figures 6 (c) and 8 need
    Cora, 6 (d) Email-Eu-core, and 6 (e) the visits of Wikipedia Math: --download gets them.

    Everything is written to a folder: report.html (one self-contained page), report.md,
    report.json, results.jsonl, and figures as SVG, PNG and PDF with their numbers as CSV.
    Missing data sets are named, and the rest still runs.

    Ctrl-C keeps finished repeats; the same command continues from there. The exit code is 0
    whatever the verdicts are.
    """
    if redraw is not None and (only or fast or n_jobs or download or _is_given("random_state")):
        raise click.UsageError(
            "--redraw runs no simulation, so it takes only --out and --json: the file has the rest"
        )
    from gradraker.paper import redraw_paper, reproduce_paper

    try:
        with StatusLine() as status:

            def show_progress(name: str, done: float, total: float) -> None:
                status.show_progress(name, round(_STEPS * done), round(_STEPS * total))

            if redraw is not None:
                summary = redraw_paper(redraw, folder, progress=show_progress)
            else:
                summary = reproduce_paper(
                    folder,
                    only=None if only is None else _split_names(only),
                    fast=fast,
                    random_state=random_state,
                    n_jobs=n_jobs,
                    download=download,
                    progress=show_progress,
                )
    except UnknownFigureError as error:
        known = ", ".join(error.known)
        raise click.BadParameter(
            f"there is no {error.name!r}; it must be some of {known}", param_hint="--only"
        ) from error
    except KeyboardInterrupt:
        click.echo(
            "\nStopped. Finished repeats are kept: the same command continues from there.", err=True
        )
        raise click.exceptions.Exit(INTERRUPTED) from None
    show_facts(summary, _list_tables, as_json=as_json, files={"Page": folder / "report.html"})


def _is_given(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is not click.core.ParameterSource.DEFAULT


def _split_names(only: str) -> list[str]:
    # An empty list becomes the empty name, which is refused as no figure has it.
    return [name.strip() for name in only.split(",") if name.strip()] or [""]


def _describe_missing(summary: dict[str, Any]) -> list[str]:
    """Describe each missing data set: the figures that need it and how to get it."""
    from gradraker.paper import DATA

    figures: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for figure in summary["left_out"]:
        data = DATA[figure["dataset"]]
        figures.setdefault(data.title, []).append(figure["name"])
        # Addresses are on the page: a table would cut them.
        fetch = f"'gradraker data fetch {data.info.name}'"
        more = {
            "are not at hand": f"--download or {fetch} gets them, the page says from where",
            "could not be downloaded": f"{fetch} says why",
        }.get(figure["problem"], figure["reason"])
        texts[data.title] = f"data of {data.title} {figure['problem']}: {more}"
    return [f"{', '.join(names)}: {texts[title]}" for title, names in figures.items()]


def _list_tables(summary: dict[str, Any]) -> "Iterator[Table]":
    verdicts = summary["verdicts"]
    facts = [
        ("Figures", f"{len(summary['figures'])} drawn"),
        *((verdict.capitalize(), str(n)) for verdict, n in verdicts.items()),
    ]
    facts += [("Not drawn", text) for text in _describe_missing(summary)]
    if summary["fast"]:
        facts.append(("Fast", "few repeats: verdicts may change with all of them"))
    yield make_facts_table("The paper, reproduced", facts)
    differing = [
        (finding["place"], finding["quantity"], finding["printed"], finding["shown"])
        for finding in summary["findings"]
        if finding["verdict"] in ("at the edge", "differs")
    ]
    if differing:
        headings = ["Section", "Quantity", "Paper", "Ours"]
        yield make_rows_table("Differences; the page gives reasons", headings, differing)
