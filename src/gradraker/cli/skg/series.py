"""``gradraker series``: predict the next values of series at nodes, through a graph filter."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker.cli import options as shared
from gradraker.cli.inputs import check_files, read_edges_file, take_file_options, to_learner_options
from gradraker.cli.option_groups import SKG_GROUPS, GroupedCommand
from gradraker.cli.output import (
    StatusLine,
    list_column_rows,
    make_csv,
    make_facts_table,
    make_rows_table,
    shorten,
    show_facts,
    write_outputs,
)
from gradraker.exceptions import UnknownNodesError, format_names

if TYPE_CHECKING:
    from rich.table import Table

_SHIFTS = ("adjacency", "laplacian", "normalised", "mean")


@click.command(
    cls=GroupedCommand,
    groups=SKG_GROUPS,
    short_help="Predict the next values of series at the nodes of a graph.",
    epilog="Example: gradraker series --edges edges.csv --series series.csv --taps 3 --delay 0 "
    "--out next.csv",
)
@shared.add_edges(required=True)
@shared.add_file(
    "--series", "CSV or Parquet: one row per time, one column per node.", required=True
)
@click.option("--time-column", metavar="NAME", help="A column of --series that is not a node.")
@shared.out_option
@shared.add_count("--horizon", default=1, metavar="H", text="Steps to look ahead.")
@shared.add_count(
    "--taps", default=3, metavar="L", text="Length of the filter: values up to L - 1 hops away."
)
@shared.add_choice(
    "--shift",
    _SHIFTS,
    "What one hop of the filter does; mean is the mean over neighbours.",
    default="adjacency",
)
@shared.add_count(
    "--delay",
    default=1,
    least=0,
    metavar="STEPS",
    text="Steps back in time per hop; 0 takes the current values of neighbours.",
)
@shared.add_choice(
    "--direction",
    ("out", "in", "both"),
    "Which edges lead to the neighbours of a node.",
    default="out",
)
@shared.sigma2_option
@shared.edges_file_options
@shared.directed_option
@shared.kernel_options
@shared.output_options
def series(
    edges: str,
    series: str,
    time_column: str | None,
    out: str | None,
    horizon: int,
    taps: int,
    shift: str,
    delay: int,
    direction: str,
    raw_names: bool,
    as_json: bool,
    **learner: Any,
) -> None:
    """Predict the value of each node some steps after the end of its series.

    A node is described by recent values of itself and its surroundings, and SKG learns from all
    times. The output compares errors at the last fifth of the times with those of predicting the
    last value.
    """
    if series == "-":
        raise click.UsageError("--series cannot be '-': a table is read from a file")
    check_files({"edges": edges, "series": series}, {"out": out}, as_json=as_json)
    how = take_file_options(learner)
    with StatusLine() as status:
        from gradraker.io.series import read_series

        graph = read_edges_file(edges, status, how)
        table = read_series(series, leave_out=[] if time_column is None else [time_column])
        status.show_stage("training")
        try:
            result = gradraker.workflow.predict_series(
                graph,
                table,
                horizon=horizon,
                learner=gradraker.SKGRegressor(**to_learner_options(learner, "sigma2")),
                shift=shift,
                graph_options={"direction": direction, "directed": how.directed},
                taps=taps,
                delay=delay,
            )
        except UnknownNodesError as error:
            raise ValueError(
                f"{series} has columns that are not nodes of the graph: "
                f"{format_names(error.nodes)}; --time-column leaves one out"
            ) from error
        rows = list_column_rows(result.list_columns(), raw_names=raw_names)
        write_outputs([(out, make_csv(rows))])
    facts = gradraker.report.summarize_series(result)
    show_facts(facts, _list_tables, as_json=as_json, files={"Predictions": out})


def _list_tables(summary: dict[str, Any]) -> "Iterator[Table]":
    facts = [
        ("Series", f"{shorten(summary['nodes'])} nodes, {shorten(summary['times'])} times"),
        ("σ²", shorten(summary["sigma2"])),
    ]
    held_out = summary["held_out"]
    if held_out is not None:
        gnmse, of_last = shorten(held_out["gnmse"]), shorten(held_out["gnmse_of_last_value"])
        facts.append(("Held-out error", f"GNMSE {gnmse}; of the last value {of_last}"))
    title = f"Predicted {summary['horizon']} step{'s' * (summary['horizon'] > 1)} ahead"
    yield make_facts_table(title, facts)
    first = [
        (entry["node"], shorten(entry["last"]), shorten(entry["prediction"]))
        for entry in summary["predictions"][:10]
    ]
    yield make_rows_table("First nodes", ["Node", "Last value", "Prediction"], first)
