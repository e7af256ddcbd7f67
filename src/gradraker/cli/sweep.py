"""``gradraker sweep``: how the error depends on the kernel variance, over many splits."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    VECTOR_OPTIONS,
    check_distinct,
    check_streams,
    read_edges_file,
    read_values_file,
    reword_errors,
    to_vector_options,
)
from gradraker.cli.options import (
    FileName,
    kernel_options,
    unknown_or_isolated_option,
    values_option,
    vector_options,
)
from gradraker.cli.output import check_writable, echo_json, make_console, write_text
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten

if TYPE_CHECKING:
    from gradraker.datasets import GraphDataset
    from gradraker.sweep.sweep_result import SweepResult

INTERRUPTED = 130  # what shells give for Ctrl-C
_FIGURES = (".svg", ".png", ".pdf")
_CONNECT_SECONDS = 30
# Errors of the library name its arguments.
_IN_WORDS_OF_THE_COMMAND_LINE = {
    "checkpoint '": "--out '",
    "lower fraction, or take another random_state": "lower --fraction, or take another --seed",
    "give sigma2, or raise fraction": "give --sigma2, or raise --fraction",
}


class Variances(click.ParamType):  # type: ignore[type-arg]
    """Variances as LOW:HIGH:COUNT on a logarithmic scale, or as a list with commas."""

    name = "variances"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[float]:
        """Return rising numbers; anything else is wrong use."""
        try:
            grid = _grid(str(value))
        except ValueError:
            grid = []
        if not grid or not all(0.0 < number < math.inf for number in grid):
            self.fail(
                f"{value!r} is neither LOW:HIGH:COUNT, such as 0.1:100:40, nor a list of positive "
                "numbers, such as 1,2,5",
                param,
                ctx,
            )
        return grid


def _grid(text: str) -> list[float]:
    if ":" not in text:
        return sorted({float(number) for number in text.split(",")})
    low, high, count = text.split(":")
    first, last, n = math.log(float(low)), math.log(float(high)), int(count)
    if not first < last or n < 2:
        raise ValueError(text)
    inner = [math.exp(first + (last - first) * i / (n - 1)) for i in range(1, n - 1)]
    return [float(low), *inner, float(high)]


def _fraction(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if not 0.0 < value < 1.0:
        raise click.BadParameter(f"{value!r} is not between 0 and 1", ctx, param)
    return value


def _figure_name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and Path(value).suffix.lower() not in _FIGURES:
        endings = ", ".join(_FIGURES)
        raise click.BadParameter(f"{value!r} does not end in one of {endings}", ctx, param)
    return value


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    # Dask tells it as well, but then waits for a minute.
    if value is not None and re.fullmatch(r"(\w+://)?[^/\s]+:\d+", value) is None:
        raise click.BadParameter(f"{value!r} is no address such as tcp://host:8786", ctx, param)
    return value


@click.command(
    short_help="Show how the error depends on the kernel variance.",
    epilog="Example: gradraker sweep --edges edges.csv --values values.csv --repeats 20",
)
@click.option(
    "--edges",
    type=FileName(),
    metavar="FILE",
    help="Edges: CSV, TSV, blanks, Parquet, Matrix Market or GraphML, also gzipped; "
    "- is standard input.",
)
@values_option(required=False, text="Known values: a table of nodes and numbers.")
@click.option(
    "--dataset", metavar="NAME", help="A data set of 'gradraker data list' instead of files."
)
@click.option(
    "--sigma2",
    type=Variances(),
    metavar="LOW:HIGH:COUNT",
    help="Variances on a logarithmic scale, or a list 1,2,5. Default: 40 that cover the four "
    "ranges.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Splits of the nodes, each with new frequencies and orders.",
)
@click.option(
    "--fraction",
    type=float,
    callback=_fraction,
    default=0.4,
    show_default=True,
    metavar="PART",
    help="Part of the nodes to learn from; the others are predicted.",
)
@click.option(
    "--out",
    type=FileName(),
    default="sweep.jsonl",
    show_default=True,
    metavar="FILE",
    help="Results as JSON lines. If it holds some repeats of the same sweep, these are kept.",
)
@click.option("--report", type=FileName(), metavar="FILE", help="A page to show, as one HTML file.")
@click.option(
    "--plot",
    type=FileName(),
    callback=_figure_name,
    metavar="FILE",
    help="The figure as .svg, .png or .pdf.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Worker processes. Default: one process with threads on all cores.",
)
@click.option(
    "--scheduler",
    callback=_address,
    metavar="ADDRESS",
    help="Run on a Dask cluster, such as tcp://host:8786.",
)
@vector_options
@kernel_options
@unknown_or_isolated_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
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

    Only nodes with known values take part: each repeat learns from some of them and predicts the
    others. Every repeat is kept in --out when it is done; the same command goes on where it was
    stopped, and with more --repeats it adds to those that are there.
    """
    if (dataset is None) == (edges is None) or (edges is None) != (values is None):
        raise click.UsageError("give --edges and --values, or --dataset")
    if options["jobs"] is not None and options["scheduler"] is not None:
        raise click.UsageError("--jobs and --scheduler exclude each other")
    check_streams(edges=edges, values=values)
    check_streams(report=report, json="-" if as_json else None)
    if out == "-":
        raise click.UsageError("--out cannot be '-': results are added to a file")
    check_distinct({"edges": edges, "values": values}, {"out": out, "report": report, "plot": plot})
    check_writable(out, report, plot)
    with Waiting() as waiting:
        waiting.stage("starting")
        _check_extras(report, plot)
        data = _data(edges, values, dataset, waiting, options)
        result = _swept(data, out, waiting, options)
        waiting.stage("writing")
        inputs = {name: str(file) for name, file in (("edges", edges), ("values", values)) if file}
        from gradraker.report import sweep_report, sweep_summary

        summary = sweep_summary(result, inputs=inputs)
        page = None if report is None else sweep_report(result, inputs=inputs)
        if plot is not None:
            from gradraker.plotting import write_figure

            write_figure(result.plot().figure.figure, plot)
        if report is not None and page is not None:
            write_text(report, page)
    if as_json:
        echo_json(summary)
        return
    _print_tables(summary, to_stderr=report == "-")
    for what, file in (("Results", out), ("Report", report), ("Figure", plot)):
        if file not in (None, "-"):
            click.echo(f"{what}: {file}", err=report == "-")


def _check_extras(report: str | None, plot: str | None) -> None:
    """Say before the work that a package is missing which is needed after it."""
    if report is not None:
        from gradraker.report.html import make_environment

        make_environment()
    if report is not None or plot is not None:
        from gradraker.plotting.figure import new_axes

        new_axes()


def _data(
    edges: str | None,
    values: str | None,
    dataset: str | None,
    waiting: Waiting,
    options: dict[str, Any],
) -> "GraphDataset":
    """The nodes that take part."""
    from gradraker.sweep.known_subgraph import known_part

    graph: Any
    if edges is None or values is None:
        graph = _dataset(str(dataset))
        name, known = graph.name, dict(zip(graph.node_names, graph.values.tolist(), strict=True))
    else:
        graph = read_edges_file(edges, waiting)
        name, known = Path(edges).name, read_values_file(values, waiting)
    with reword_errors(values or "-", isolated=True):
        return known_part(
            graph,
            known,
            name="standard input" if name == "-" else name,
            unknown_nodes=options["unknown_nodes"],
            **to_vector_options(**{name: options[name] for name in VECTOR_OPTIONS}),
        )


def _dataset(name: str) -> "GraphDataset":
    import gradraker

    try:
        info = gradraker.datasets.dataset_info(name)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--dataset") from error
    loaded: GraphDataset = getattr(gradraker.datasets, info.loader)()
    return loaded


def _swept(
    data: "GraphDataset", out: str, waiting: Waiting, options: dict[str, Any]
) -> "SweepResult":
    import gradraker

    try:
        with _cluster(options["scheduler"]):
            return gradraker.sigma2_sweep(
                data,
                sigma2=options["sigma2"],
                n_repeats=options["repeats"],
                fraction=options["fraction"],
                n_frequencies=options["frequencies"],
                learning_rate=options["learning_rate"],
                n_epochs=options["epochs"],
                kernel=options["kernel"],
                random_state=options["seed"],
                n_jobs=options["jobs"],
                checkpoint=out,
                progress=waiting.read,
            )
    except KeyboardInterrupt:
        click.echo(
            f"\nStopped: {_n_kept(out)} of {options['repeats']} repeats are in {out}. "
            "The same command goes on from there.",
            err=True,
        )
        raise click.exceptions.Exit(INTERRUPTED) from None
    except ValueError as error:
        message = str(error)
        for words, other in _IN_WORDS_OF_THE_COMMAND_LINE.items():
            message = message.replace(words, other)
        raise ValueError(message) from error


def _n_kept(out: str) -> int:
    from gradraker.sweep.checkpoint import read_sweep

    try:
        return len(read_sweep(out)[1])
    except (OSError, ValueError):  # stopped before there was a file
        return 0


@contextmanager
def _cluster(scheduler: str | None) -> Iterator[None]:
    """Let joblib send repeats to a Dask cluster, if there is one."""
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


def _print_tables(summary: dict[str, Any], *, to_stderr: bool) -> None:
    data, settings, best = summary["data"], summary["settings"], summary["best"]
    theory = summary["theory"]
    n_sampled = round(settings["fraction"] * data["nodes"])
    facts = [
        ("Graph", f"{shorten(data['nodes'])} nodes with values, {shorten(data['edges'])} edges"),
        (
            "Split",
            f"{shorten(n_sampled)} sampled, {shorten(data['nodes'] - n_sampled)} tested; "
            f"{shorten(settings['n_repeats'])} repeats",
        ),
        (
            "Learner",
            f"{settings['kernel']} kernel, D = {settings['n_frequencies']}, "
            f"η = {settings['learning_rate']:g}, E = {settings['n_epochs']}",
        ),
    ]
    if best["at_the_end"]:
        facts.append(("Note", "the best σ² is at an end of the grid: widen --sigma2"))
    page = make_console(to_stderr=to_stderr)
    page.print(make_facts_table(f"Sweep over {len(summary['curve'])} variances σ²", facts))
    rows = [("Best of the sweep", best["sigma2"], best["gnmse"])]
    if theory["sigma2"] is not None:
        rows.append(("σ²_ed, by the theory", theory["sigma2"], theory["gnmse"]))
    low, high = summary["curve"][0], summary["curve"][-1]
    rows += [
        ("Smallest σ²", low["sigma2"], low["gnmse"]),
        ("Largest σ²", high["sigma2"], high["gnmse"]),
    ]
    table = [(what, sigma2, "" if gnmse is None else gnmse) for what, sigma2, gnmse in rows]
    page.print(make_rows_table("Mean GNMSE, values scaled to [0, 1]", ["", "σ²", "GNMSE"], table))
