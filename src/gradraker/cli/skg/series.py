"""``gradraker series``: the next values of series at nodes, through a graph filter."""

from typing import Any

import click

from gradraker.cli.inputs import (
    check_distinct,
    check_streams,
    read_edges_file,
    take_file_options,
)
from gradraker.cli.option_groups import SKG_GROUPS, GroupedCommand
from gradraker.cli.options import (
    SIGMA2_RULES,
    FileName,
    NumberOrWord,
    directed_option,
    edges_file_options,
    edges_option,
    kernel_options,
    output_options,
)
from gradraker.cli.output import check_writable, echo_json, make_console, make_csv, write_outputs
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten

_SHIFTS = ("adjacency", "laplacian", "normalised", "mean")


@click.command(
    cls=GroupedCommand,
    groups=SKG_GROUPS,
    short_help="Predict the next values of series at the nodes of a graph.",
    epilog="Example: gradraker series --edges edges.csv --series series.csv --taps 3 --delay 0 "
    "--out next.csv",
)
@edges_option
@click.option(
    "--series",
    type=FileName(),
    required=True,
    metavar="FILE",
    help="CSV or Parquet: one row per time, one column per node.",
)
@click.option("--time-column", metavar="NAME", help="A column of --series that is no node.")
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@click.option(
    "--horizon",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="H",
    help="How many steps ahead.",
)
@click.option(
    "--taps",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="L",
    help="Length of the filter: values up to L - 1 hops away.",
)
@click.option(
    "--shift",
    type=click.Choice(_SHIFTS),
    default="adjacency",
    show_default=True,
    help="What one hop of the filter does; mean is the mean over neighbours.",
)
@click.option(
    "--delay",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    metavar="STEPS",
    help="Steps back per hop; 0 takes present values of neighbours.",
)
@click.option(
    "--direction",
    type=click.Choice(["out", "in", "both"]),
    default="out",
    show_default=True,
    help="Which edges lead to the neighbours of a node.",
)
@click.option(
    "--sigma2",
    type=NumberOrWord(SIGMA2_RULES),
    default="cv",
    show_default=True,
    metavar=f"[{'|'.join(SIGMA2_RULES)}|NUMBER]",
    help="Variance σ² of the kernel, or the rule that chooses it.",
)
@edges_file_options
@directed_option
@kernel_options
@output_options
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
    check_streams(out=out, json="-" if as_json else None)
    check_distinct({"edges": edges, "series": series}, {"out": out})
    check_writable(out)
    how = take_file_options(learner)
    with Waiting() as waiting:
        from gradraker import SKGRegressor
        from gradraker.exceptions import UnknownNodesError, format_names
        from gradraker.graph import adjacency_vectors
        from gradraker.io.series import read_series
        from gradraker.workflow import predict_series

        graph = read_edges_file(edges, waiting, how)
        table = read_series(series, leave_out=[] if time_column is None else [time_column])
        waiting.show_stage("training")
        options: dict[str, Any] = {"direction": direction, "directed": how.directed}
        if shift == "mean":
            options["hop_weights"] = "random_walk"
        vectors = adjacency_vectors(graph, **options)
        settings = SKGRegressor(**_name_settings(learner))
        try:
            result = predict_series(
                vectors,
                table,
                horizon=horizon,
                learner=settings,
                taps=taps,
                delay=delay,
                **({"unit_norm": False} if shift == "mean" else {"shift": shift}),
            )
        except UnknownNodesError as error:
            raise ValueError(
                f"{series} has columns that are not nodes of the graph: "
                f"{format_names(error.nodes)}; --time-column leaves one out"
            ) from error
        columns = (result.nodes, result.last, result.predictions)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        if out is not None:
            from gradraker.io.text.names_in_text import escape_name

            named = [(str(n) if raw_names else escape_name(str(n)), *rest) for n, *rest in rows]
            write_outputs([(out, make_csv([("node", "last", "prediction"), *named]))])
    summary = {
        "command": "series",
        "nodes": len(rows),
        "times": result.n_times,
        "horizon": horizon,
        "sigma2": float(result.model.sigma2_),
        "held_out": None
        if result.gnmse is None
        else {"gnmse": result.gnmse, "gnmse_of_last_value": result.gnmse_of_last},
        "predictions": [{"node": str(n), "last": a, "prediction": b} for n, a, b in rows],
    }
    if as_json:
        echo_json(summary)
        return
    _print_tables(summary, to_stderr=out == "-")
    if out not in (None, "-"):
        click.echo(f"Predictions: {out}")


def _name_settings(learner: dict[str, Any]) -> dict[str, Any]:
    """Options of the learner by the names of its parameters."""
    return {
        "sigma2": learner["sigma2"],
        "kernel": learner["kernel"],
        "n_frequencies": learner["frequencies"],
        "learning_rate": learner["learning_rate"],
        "n_epochs": learner["epochs"],
        "random_state": learner["seed"],
    }


def _print_tables(summary: dict[str, Any], *, to_stderr: bool) -> None:
    page = make_console(to_stderr=to_stderr)
    facts = [
        ("Series", f"{shorten(summary['nodes'])} nodes, {shorten(summary['times'])} times"),
        ("σ²", shorten(summary["sigma2"])),
    ]
    held_out = summary["held_out"]
    if held_out is not None:
        facts.append(
            (
                "Held-out error",
                f"GNMSE {shorten(held_out['gnmse'])}; of the last value "
                f"{shorten(held_out['gnmse_of_last_value'])}",
            )
        )
    title = f"Predicted {summary['horizon']} step{'s' * (summary['horizon'] > 1)} ahead"
    page.print(make_facts_table(title, facts))
    first = [
        (one["node"], shorten(one["last"]), shorten(one["prediction"]))
        for one in summary["predictions"][:10]
    ]
    page.print(make_rows_table("First nodes", ["Node", "Last value", "Prediction"], first))
