"""``gradraker ranges``: the four ranges of the kernel variance for a graph."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
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
from gradraker.cli.option_groups import SKG_GROUPS, GroupedCommand
from gradraker.cli.output import StatusLine, make_facts_table, make_rows_table, shorten, show_facts

if TYPE_CHECKING:
    from rich.table import Table

    from gradraker.kernels import Sigma2Ranges

_NOISES = ("formula", "refined", "minimum")


@click.command(
    cls=GroupedCommand,
    groups=SKG_GROUPS,
    short_help="Show the four ranges of the kernel variance for a graph.",
    epilog="Example: gradraker ranges --edges edges.csv --values known.csv",
)
@shared.add_edges(required=True)
@shared.add_values("Known values: only their nodes are used, as in predict.")
@shared.add_word_or_number(
    "--noise",
    _NOISES,
    "Upper end of the noise range over twice the learning rate, or how to find it.",
    below=0.9,
)
@shared.add_number(
    "--closeness",
    "How close to equal the farthest nodes are where averaging begins, below 0.5.",
    between=(0.0, 0.5),
    metavar="PART",
    default=0.1,
)
@shared.graph_options
@shared.add_unknown_nodes(isolated=False)
@shared.json_option
def ranges(edges: str, values: str | None, as_json: bool, **options: Any) -> None:
    """Show where the four ranges of the kernel variance σ² lie for a graph.

    Without --values all nodes are used. With --values, --noise refined measures the noise range on
    the unknown nodes, and minimum takes the widest of their ranges. Learning rate, epochs and seed
    matter for these two only.
    """
    check_files({"edges": edges, "values": values}, {})
    how = take_file_options(options, task="values")
    with StatusLine() as status:
        graph = read_edges_file(edges, status, how)
        known = None if values is None else read_values_file(values, status, how)
        status.show_stage("measuring distances")
        with reword_errors(values):
            found, n_nodes = gradraker.workflow.find_ranges(
                graph,
                known,
                unknown_nodes=options["unknown_nodes"],
                vector_options=to_vector_options(options, how),
                **to_learner_options(options, "noise", "closeness"),
            )
    facts = {"nodes": n_nodes, **asdict(found)}
    show_facts(facts, lambda _: _list_tables(found, n_nodes), as_json=as_json)


def _list_tables(found: "Sigma2Ranges", n_nodes: int) -> "Iterator[Table]":
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
    yield make_facts_table("Ranges of the kernel variance σ²", facts)
    from gradraker.kernels.shift_invariant import RANGES

    ends = ["0", *map(shorten, found.boundaries), "∞"]
    table = [
        (name, start, stop, found.get_meaning(name))
        for name, (start, stop) in zip(RANGES, pairwise(ends), strict=True)
    ]
    yield make_rows_table("", ["Range", "from", "to", "Predictions"], table)
