"""``gradraker ranges``: which kernel variances make sense for a graph."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    check_streams,
    read_edges_file,
    read_values_file,
    reword_errors,
    take_file_options,
    to_vector_options,
)
from gradraker.cli.option_groups import SKG_GROUPS, GroupedCommand
from gradraker.cli.options import (
    NumberOrWord,
    add_values_option,
    directed_option,
    edges_option,
    file_options,
    kernel_options,
    make_direction_option,
    unknown_nodes_option,
    vector_options,
)
from gradraker.cli.output import echo_json, make_console
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten

if TYPE_CHECKING:
    from gradraker.kernels import Sigma2Ranges

_NOISES = ("formula", "refined", "minimum")


def check_closeness(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Check the closeness, since a range of click lets NaN pass."""
    if not 0.0 < value < 0.5:
        raise click.BadParameter(f"{value!r} is not between 0 and 0.5", ctx, param)
    return value


@click.command(
    cls=GroupedCommand,
    groups=SKG_GROUPS,
    short_help="Show the four ranges of the kernel variance for a graph.",
    epilog="Example: gradraker ranges --edges edges.csv --values known.csv",
)
@edges_option
@add_values_option(required=False, text="Known values: only their nodes count, as in predict.")
@click.option(
    "--noise",
    type=NumberOrWord(_NOISES, below=0.9),
    default="formula",
    show_default=True,
    metavar="[formula|refined|minimum|NUMBER]",
    help="Upper end of the noise range over twice the learning rate, or how to find it.",
)
@click.option(
    "--closeness",
    type=float,
    callback=check_closeness,
    default=0.1,
    show_default=True,
    metavar="PART",
    help="How close to equal the farthest nodes are where averaging begins, below 0.5.",
)
@file_options
@directed_option
@make_direction_option("out")
@vector_options
@kernel_options
@unknown_nodes_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def ranges(
    edges: str,
    values: str | None,
    noise: float | str,
    closeness: float,
    direction: str,
    self_loops: str,
    unweighted: bool,
    hops: int,
    hop_weights: str,
    unknown_nodes: Any,
    as_json: bool,
    **learner: Any,
) -> None:
    """Show where the four ranges of the kernel variance σ² lie for a graph.

    Without --values all nodes count. With them, --noise refined measures the noise range on the
    other nodes, which are to be predicted, and minimum takes the widest of theirs. Learning rate,
    epochs and seed play a role with these two only.
    """
    check_streams(edges=edges, values=values)
    how = take_file_options(learner | {"unweighted": unweighted}, task="values")
    with Waiting() as waiting:
        from gradraker.workflow import find_ranges

        graph = read_edges_file(edges, waiting, how)
        known = None if values is None else read_values_file(values, waiting, how)
        waiting.show_stage("measuring distances")
        options = to_vector_options(
            direction=direction,
            self_loops=self_loops,
            unweighted=unweighted,
            hops=hops,
            hop_weights=hop_weights,
            directed=how.directed,
        )
        with reword_errors(values):
            found, n_nodes = find_ranges(
                graph,
                known,
                unknown_nodes=unknown_nodes,
                vector_options=options,
                noise=noise,
                closeness=closeness,
                kernel=learner["kernel"],
                n_frequencies=learner["frequencies"],
                learning_rate=learner["learning_rate"],
                n_epochs=learner["epochs"],
                random_state=learner["seed"],
            )
    if as_json:
        echo_json({"nodes": n_nodes, **asdict(found)})
        return
    _print_tables(found, n_nodes)


def _print_tables(found: "Sigma2Ranges", n_nodes: int) -> None:
    page = make_console()
    facts = [
        ("Nodes", shorten(n_nodes)),
        (
            "Distances",
            f"{shorten(found.smallest_distance)} (smallest that is not 0) to "
            f"{shorten(found.largest_distance)}",
        ),
        ("Kernel", f"{found.kernel}, {shorten(found.n_frequencies)} random frequencies"),
        ("Noise ratio", f"{shorten(found.noise_ratio)} ({found.noise})"),
        ("Rule 'theory'", f"σ² = {shorten(found.extending_disturbing)}"),
    ]
    page.print(make_facts_table("Ranges of the kernel variance σ²", facts))
    boundaries = [
        shorten(found.chaos_extending),
        shorten(found.extending_disturbing),
        shorten(found.disturbing_averaging),
    ]
    table = [
        (name, start, stop, found.get_meaning(name))
        for name, start, stop in zip(
            ("chaos", "extending", "disturbing", "averaging"),
            ["0", *boundaries],
            [*boundaries, "∞"],
            strict=True,
        )
    ]
    page.print(make_rows_table("", ["Range", "from", "to", "Predictions"], table))
