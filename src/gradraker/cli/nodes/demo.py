"""``gradraker demo``: learn Swiss temperatures at some stations, predict the others."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker.cli.options import add_count, add_folder, json_option
from gradraker.cli.output import echo_json, make_csv, make_facts_table, write_outputs

if TYPE_CHECKING:
    from gradraker.workflow.demo import DemoResult

FIGURE_NAME = "temperature-jan.png"
# Three commands to run one after the other.
_NEXT_COMMANDS = (
    "gradraker predict --edges {0}/edges.csv --values {0}/known.csv --undirected "
    "--coverage 0.9 --unit °C --model {0}/model.gr --report {0}/report.html",
    "gradraker explain --model {0}/model.gr --node {1}",
    "gradraker update --model {0}/model.gr --values {0}/values.csv",
)


def write_files(result: "DemoResult", folder: Path) -> None:
    """Write edges, known values and all values, for the commands to try next."""
    folder.mkdir(parents=True, exist_ok=True)
    values = list(zip(result.stations, result.true_c.tolist(), strict=True))
    known = [row for row, is_known in zip(values, result.is_known, strict=True) if is_known]
    tables: dict[str, list[tuple[object, ...]]] = {
        "edges.csv": [("source", "target"), *result.edges],
        "known.csv": [("node", "value"), *known],
        "values.csv": [("node", "value"), *values],
    }
    write_outputs([(str(folder / name), make_csv(rows)) for name, rows in tables.items()])


def print_tables(summary: dict[str, Any]) -> None:
    """Print the summary for a reader, in 80 columns and without colour when piped."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from gradraker.workflow.demo import KNOWN_FRACTION

    texts = {
        "Graph": "{n_nodes} nodes, {n_edges} edges",
        "Split": "{n_sampled} known, {n_tested} unknown (seed {seed})",
        "σ² of the kernel": "{sigma2:.3g}, from the known nodes alone (rule '{sigma2_rule}')",
        "GNMSE of the node model": "{gnmse_of_node_model:.4f}, the model of 'gradraker predict'",
        "GNMSE of SKG": "{gnmse:.4f}, the paper's learner",
        "GNMSE of the mean": "{gnmse_of_mean:.4f}, if every node gets the known mean",
    }
    facts = [(label, text.format(**summary)) for label, text in texts.items()]
    head = f"{summary['dataset']}: predicted from {KNOWN_FRACTION:.0%} of the stations"

    stations = Table(
        title="Three best and three worst predicted stations of SKG, temperatures in °C",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    stations.add_column("")
    stations.add_column("Station")
    for heading in ("Altitude (m)", "True", "Predicted", "Error"):
        stations.add_column(heading, justify="right")
    for title, group in (("best", summary["best"]), ("worst", summary["worst"])):
        for rank, row in enumerate(group):
            stations.add_row(
                title if rank == 0 else "",
                row["station"],
                f"{row['altitude_m']:.0f}",
                f"{row['true_c']:z.1f}",  # z: no minus sign before 0.0
                f"{row['predicted_c']:z.1f}",
                f"{row['error_c']:+z.1f}",
            )
        stations.add_section()

    why = Table(
        title="Reasons for the predictions of {station} ({true_c:z.1f} °C), in °C".format(
            **summary["explained"][0]
        ),
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for heading in ("Method", "Predicted", "Known stations that count most (weight, value)"):
        why.add_column(heading, justify="right" if heading == "Predicted" else "left")
    for entry in summary["explained"]:
        reasons = (
            f"{r['station']} ({r['weight']:.2f}, {r['value_c']:z.1f})" for r in entry["reasons"][:3]
        )
        why.add_row(entry["method"], f"{entry['predicted_c']:z.1f}", "; ".join(reasons))

    console = Console(markup=False)
    for table in (make_facts_table(head, facts), stations, why):
        console.print(table)


@click.command(
    short_help="Predict Swiss January temperatures and draw a figure.",
    epilog="Example: gradraker demo --seed 1 --out figures",
)
@add_folder("gradraker-demo", "Folder for the figure and the files; created if it does not exist.")
@add_count("--seed", default=0, least=0, text="Seed of the split and of the learner.")
@json_option
def demo(folder: Path, seed: int, as_json: bool) -> None:
    """Predict January temperatures at Swiss weather stations, and draw a figure.

    Stations are joined if their altitudes differ by less than 300 m. The values
    of 40 % of them are given to a node model, which 'gradraker predict' uses, and to SKG, the
    paper's learner; both predict the others, and explain why.
    """
    from gradraker.plotting.demo import plot_demo
    from gradraker.workflow.demo import ATTRIBUTION, run_demo

    result = run_demo(seed=seed)
    write_files(result, folder)
    figure: Path | None = None
    missing = ""
    try:
        figure = gradraker.plotting.write_figure(plot_demo(result), folder / FIGURE_NAME)
    except ImportError as error:
        missing = f"No figure: {error}"  # the numbers are printed anyway

    if as_json:
        facts = result.summary | {"figure": None if figure is None else str(figure)}
        echo_json(facts)
        if missing:
            click.echo(missing, err=True)
        return
    print_tables(result.summary)
    # Not through rich, which would wrap a long path.
    click.echo(missing or f"Figure: {figure}")
    click.echo(ATTRIBUTION)
    station = result.summary["explained"][0]["station"]
    click.echo("Try next, with the same stations:")
    for line in _NEXT_COMMANDS:
        click.echo(f"  {line.format(shlex.quote(str(folder)), shlex.quote(station))}")
