"""``gradraker sweep``: how the error depends on the kernel variance, over many splits."""

import math
import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker.cli import options as shared
from gradraker.cli.inputs import (
    check_files,
    read_edges_file,
    read_values_file,
    reword_errors,
    take_file_options,
    to_learner_options,
    to_vector_options,
)
from gradraker.cli.interruption import INTERRUPTED
from gradraker.cli.option_groups import SKG_GROUPS, GroupedCommand
from gradraker.cli.output import (
    StatusLine,
    make_content,
    make_facts_table,
    make_rows_table,
    make_text,
    shorten,
    show_facts,
    write_outputs,
)
from gradraker.exceptions import ArgumentError, SweepError, SweepFileError

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.datasets import GraphDataset
    from gradraker.graph import EdgeList
    from gradraker.sweep.sweep_result import SweepResult

_FIGURE_SUFFIXES = (".svg", ".png", ".pdf")
_CONNECT_SECONDS = 30


def _check_variances(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> list[float] | None:
    """Parse LOW:HIGH:COUNT, a logarithmic grid, or a list of variances, into a rising list."""
    if value is None:
        return None
    try:
        grid = _parse_grid(value)
    except ValueError:
        grid = []
    if not grid or not all(0.0 < number < math.inf for number in grid):
        wanted = "LOW:HIGH:COUNT, such as 0.1:100:40, nor a list of positive numbers, such as 1,2,5"
        raise click.BadParameter(f"{value!r} is neither {wanted}", ctx, param)
    return grid


def _parse_grid(text: str) -> list[float]:
    if ":" not in text:
        return sorted({float(number) for number in text.split(",")})
    low, high, count = text.split(":")
    first, last, n = math.log(float(low)), math.log(float(high)), int(count)
    if not first < last or n < 2:
        raise ValueError(text)
    inner = [math.exp(first + (last - first) * i / (n - 1)) for i in range(1, n - 1)]
    return [float(low), *inner, float(high)]


def _check_figure_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and Path(value).suffix.lower() not in _FIGURE_SUFFIXES:
        endings = ", ".join(_FIGURE_SUFFIXES)
        raise click.BadParameter(f"{value!r} does not end in one of {endings}", ctx, param)
    return value


def _check_address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    # Dask would report it too, but only after a minute.
    if value is not None and re.fullmatch(r"(\w+://)?[^/\s]+:\d+", value) is None:
        raise click.BadParameter(f"{value!r} is not an address such as tcp://host:8786", ctx, param)
    return value


@click.command(
    cls=GroupedCommand,
    groups=SKG_GROUPS,
    short_help="Show how the error depends on the kernel variance.",
    epilog="Example: gradraker sweep --edges edges.csv --values values.csv --repeats 20",
)
@shared.add_edges()
@shared.add_values("Known values: a table of nodes and numbers.")
@click.option(
    "--dataset", metavar="NAME", help="A data set of 'gradraker data list' instead of files."
)
@click.option(
    "--sigma2",
    callback=_check_variances,
    metavar="LOW:HIGH:COUNT",
    help="Variances on a logarithmic scale, or a list 1,2,5. Default: 40 that cover the four "
    "ranges.",
)
@shared.add_count(
    "--repeats",
    "n_repeats",
    default=10,
    text="Splits of the nodes, each with new frequencies and orders.",
)
@shared.add_number(
    "--fraction",
    "Share of the nodes to learn from; the others are predicted.",
    between=(0.0, 1.0),
    metavar="PART",
    default=0.4,
)
@shared.add_file(
    "--out",
    "Results as JSON lines. Repeats of the same sweep that it holds already are kept.",
    default="sweep.jsonl",
    show_default=True,
)
@shared.add_file("--report", "Report as one HTML file.")
@shared.add_file("--plot", "The figure as .svg, .png or .pdf.", callback=_check_figure_name)
@shared.jobs_option
@click.option(
    "--scheduler",
    callback=_check_address,
    metavar="ADDRESS",
    help="Run on a Dask cluster, such as tcp://host:8786.",
)
@shared.graph_options
@shared.add_unknown_nodes()
@shared.json_option
def sweep(
    edges: str | None,
    values: str | None,
    dataset: str | None,
    out: str,
    report: str | None,
    plot: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show how the error depends on the kernel variance σ², over many splits of the nodes.

    Only nodes with known values are used: each repeat learns from some of them and predicts the
    others. Every repeat is appended to --out when it is done; the same command continues where it
    stopped, and a larger --repeats adds to the finished ones.
    """
    if (dataset is None) == (edges is None) or (edges is None) != (values is None):
        raise click.UsageError("give --edges and --values, or --dataset")
    if options["n_jobs"] is not None and options["scheduler"] is not None:
        raise click.UsageError("--jobs and --scheduler exclude each other")
    if out == "-":
        raise click.UsageError("--out cannot be '-': results are added to a file")
    outputs = {"out": out, "report": report, "plot": plot}
    check_files({"edges": edges, "values": values}, outputs, as_json=as_json)
    with StatusLine() as status:
        status.show_stage("starting")
        _check_extras(report, plot)
        data = _read_data(edges, values, dataset, status, options)
        result = _run_sweep(data, out, status, options)
        status.show_stage("writing")
        inputs = {name: str(file) for name, file in (("edges", edges), ("values", values)) if file}
        summary = gradraker.report.summarize_sweep(result, inputs=inputs)
        page = figure = None
        if report is not None:
            page = make_text(gradraker.report.render_sweep(result, inputs=inputs))
        if plot is not None:
            kind = Path(plot).suffix.lower().removeprefix(".")
            figure = make_content(gradraker.plotting.render_figure(result.plot().figure_, kind))
        write_outputs([(plot, figure), (report, page)])
    written = {"Results": out, "Report": report, "Figure": plot}
    show_facts(summary, _list_tables, as_json=as_json, files=written)


def _check_extras(report: str | None, plot: str | None) -> None:
    """Raise before the work if a package is missing that is needed after it."""
    if report is not None:
        from gradraker.report.html import make_environment

        make_environment()
    if report is not None or plot is not None:
        from gradraker.plotting.figure import make_axes

        make_axes()


def _read_data(
    edges: str | None,
    values: str | None,
    dataset: str | None,
    status: StatusLine,
    options: dict[str, Any],
) -> "GraphDataset":
    """Read the graph of the nodes with known values."""
    from gradraker.sweep.known_subgraph import build_known_subgraph

    how = take_file_options(options, task="values")
    graph: GraphDataset | EdgeList
    known: dict[Hashable, float]
    if edges is None or values is None:
        try:
            graph = gradraker.datasets.load_dataset(str(dataset))
        except ArgumentError as error:
            raise click.BadParameter(str(error), param_hint="--dataset") from error
        name, known = graph.name, dict(zip(graph.node_names, graph.values.tolist(), strict=True))
    else:
        graph = read_edges_file(edges, status, how)
        name, known = Path(edges).name, read_values_file(values, status, how)
    with reword_errors(values or "-", isolated=True):
        return build_known_subgraph(
            graph,
            known,
            name="standard input" if name == "-" else name,
            unknown_nodes=options["unknown_nodes"],
            **to_vector_options(options, how),
        )


def _run_sweep(
    data: "GraphDataset", out: str, status: StatusLine, options: dict[str, Any]
) -> "SweepResult":
    arguments = to_learner_options(options, "sigma2", "n_repeats", "fraction", "n_jobs")
    try:
        with _connect(options["scheduler"]):
            return gradraker.sigma2_sweep(
                data, checkpoint=out, progress=status.show_progress, **arguments
            )
    except KeyboardInterrupt:
        click.echo(
            f"\nStopped: {_count_done(out)} of {options['n_repeats']} repeats are in {out}. "
            "The same command continues from there.",
            err=True,
        )
        raise click.exceptions.Exit(INTERRUPTED) from None
    except SweepFileError as error:
        raise click.ClickException(f"--out {error.file!r} {error.problem}") from error
    except SweepError as error:
        option_of = {p.name: p.opts[0] for p in click.get_current_context().command.params}
        remedies = [f"{action} {option_of[name]}" for name, action in error.remedies.items()]
        raise click.ClickException(f"{error.problem}: {', or '.join(remedies)}") from error


def _count_done(out: str) -> int:
    from gradraker.sweep.sweep_result import read_sweep

    try:
        return len(read_sweep(out)[1])
    except (OSError, ValueError):  # stopped before the file was created
        return 0


@contextmanager
def _connect(scheduler: str | None) -> Iterator[None]:
    """Make joblib send repeats to a Dask cluster, if ``scheduler`` is given."""
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ImportError(
            "--scheduler needs the package distributed: pip install 'gradraker[dask]'"
        ) from error
    from joblib import parallel_config

    with (
        Client(  # type: ignore[no-untyped-call]
            scheduler, timeout=_CONNECT_SECONDS, set_as_default=False
        ) as client,
        parallel_config(backend="dask", client=client, wait_for_workers_timeout=_CONNECT_SECONDS),
    ):
        yield


def _list_tables(summary: dict[str, Any]) -> "Iterator[Table]":
    settings, best, theory = summary["settings"], summary["best"], summary["theory"]
    n_nodes, n_edges = summary["data"]["nodes"], summary["data"]["edges"]
    n_known = round(settings["fraction"] * n_nodes)
    split = f"{shorten(n_known)} known, {shorten(n_nodes - n_known)} unknown"
    numbers = "D = {n_frequencies}, η = {learning_rate:g}, E = {n_epochs}".format(**settings)
    facts = [
        ("Graph", f"{shorten(n_nodes)} nodes with values, {shorten(n_edges)} edges"),
        ("Split", f"{split}; {shorten(settings['n_repeats'])} repeats"),
        ("Learner", f"{settings['kernel']} kernel, {numbers}"),
    ]
    if best["at_the_end"]:
        facts.append(("Note", "the best σ² is at an end of the grid: widen --sigma2"))
    yield make_facts_table(f"Sweep over {len(summary['curve'])} variances σ²", facts)
    points = {
        "Best of the sweep": best,
        "σ²_ed, by the theory": theory,
        "Smallest σ²": summary["curve"][0],
        "Largest σ²": summary["curve"][-1],
    }
    rows = [
        (name, point["sigma2"], "" if point["gnmse"] is None else point["gnmse"])
        for name, point in points.items()
        if point["sigma2"] is not None
    ]
    yield make_rows_table("Mean GNMSE, values scaled to [0, 1]", ["", "σ²", "GNMSE"], rows)
