"""``gradraker demo``: learn Swiss temperatures at some stations, predict the others."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gradraker.workflow.demo import DemoResult, DemoSummary

FIGURE_NAME = "temperature-jan.png"


def write_figure(result: "DemoResult", folder: Path) -> Path:
    """Draw true and predicted temperatures by altitude; ImportError without matplotlib."""
    from gradraker._files import write_atomically
    from gradraker.plotting import PredictedValuesDisplay

    display = PredictedValuesDisplay.from_predictions(
        result.altitude_m,
        result.true_c,
        result.predicted_c,
        known=result.sampled,
        position_label="Altitude (m a.s.l.)",
        value_label="January mean temperature (°C)",
    )
    folder.mkdir(parents=True, exist_ok=True)
    return write_atomically(folder / FIGURE_NAME, display.figure_.savefig)


def print_tables(summary: "DemoSummary") -> None:
    """Print the summary for a reader, in 80 columns and without colour when piped."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from gradraker.workflow.demo import KNOWN_FRACTION

    facts = Table(
        title=f"{summary.dataset}: predicted from {KNOWN_FRACTION:.0%} of the stations",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_header=False,
    )
    facts.add_column(style="bold")
    facts.add_column()
    facts.add_row("Graph", f"{summary.n_nodes} nodes, {summary.n_edges} edges")
    facts.add_row(
        "Split", f"{summary.n_sampled} known, {summary.n_tested} unknown (seed {summary.seed})"
    )
    facts.add_row(
        "σ² of the kernel",
        f"{summary.sigma2:.3g}, from the known nodes alone (rule '{summary.sigma2_rule}')",
    )
    facts.add_row("GNMSE", f"{summary.gnmse:.4f} on unknown nodes, values scaled to [0, 1]")
    facts.add_row("GNMSE of a node model", f"{summary.gnmse_of_node_model:.4f}, see below")
    facts.add_row("GNMSE of the mean", f"{summary.gnmse_of_mean:.4f} if all get the known mean")

    stations = Table(
        title="Three best and three worst predicted stations, temperatures in °C",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    stations.add_column("")
    stations.add_column("Station")
    for heading in ("Altitude (m)", "True", "Predicted", "Error"):
        stations.add_column(heading, justify="right")
    for title, group in (("best", summary.best), ("worst", summary.worst)):
        for rank, one in enumerate(group):
            stations.add_row(
                title if rank == 0 else "",
                one.station,
                f"{one.altitude_m:.0f}",
                f"{one.true_c:z.1f}",  # z: no minus sign before 0.0
                f"{one.predicted_c:z.1f}",
                f"{one.error_c:+z.1f}",
            )
        stations.add_section()

    console = Console(markup=False)
    console.print(facts)
    console.print(stations)


@click.command(
    short_help="Predict Swiss January temperatures and draw a figure.",
    epilog="Example: gradraker demo --seed 1 --out figures",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("gradraker-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the figure; made if it is not there.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of the split and of the learner.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def demo(folder: Path, seed: int, as_json: bool) -> None:
    """Predict January temperatures at Swiss weather stations, and draw a figure.

    Stations are joined if their altitudes differ by less than 300 m. The values
    of 40 % of them are given to the learner, the others are predicted.
    """
    from gradraker.workflow.demo import ATTRIBUTION, run_demo

    result = run_demo(seed=seed)
    figure: Path | None = None
    missing = ""
    try:
        figure = write_figure(result, folder)
    except ImportError as error:
        missing = f"No figure: {error}"  # the numbers do not need it

    if as_json:
        facts = asdict(result.summary) | {"figure": None if figure is None else str(figure)}
        click.echo(json.dumps(facts, indent=2, allow_nan=False))
        if missing:
            click.echo(missing, err=True)
        return
    print_tables(result.summary)
    # Not through rich, which would break a long path into lines.
    click.echo(missing or f"Figure: {figure}")
    click.echo("Shown is SKG, the paper's learner; 'gradraker predict' uses a node model.")
    click.echo(ATTRIBUTION)
