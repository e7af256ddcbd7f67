"""``gradraker ranges``: which kernel variances make sense for a graph."""

from dataclasses import asdict
from typing import Any

import click

from gradraker.cli.inputs import (
    check_streams,
    in_words_of_the_command_line,
    read_edges_file,
    read_values_file,
    vector_settings,
)
from gradraker.cli.options import (
    NumberOrWord,
    edges_option,
    kernel_options,
    unknown_nodes_option,
    values_option,
    vector_options,
)
from gradraker.cli.output import console, echo_json
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import facts_table, rows_table, short

_NOISES = ("formula", "refined")


@click.command(
    short_help="Show the four ranges of the kernel variance for a graph.",
    epilog="Example: gradraker ranges --edges edges.csv --values known.csv",
)
@edges_option
@values_option(required=False, text="Known values: only their nodes count, as in predict.")
@click.option(
    "--noise",
    type=NumberOrWord(_NOISES, below=0.9),
    default="formula",
    show_default=True,
    metavar="[formula|refined|NUMBER]",
    help="Upper end of the noise range over twice the learning rate, or how to find it.",
)
@vector_options
@kernel_options
@unknown_nodes_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def ranges(
    edges: str,
    values: str | None,
    noise: float | str,
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

    Without --values all nodes count. Learning rate, epochs and seed play a role with
    --noise refined only.
    """
    check_streams(edges=edges, values=values)
    with Waiting() as waiting:
        from gradraker import adjacency_vectors, sigma2_ranges
        from gradraker.graph import known_values

        graph = read_edges_file(edges, waiting)
        known = None if values is None else read_values_file(values, waiting)
        waiting.stage("measuring distances")
        settings = vector_settings(
            direction=direction,
            self_loops=self_loops,
            unweighted=unweighted,
            hops=hops,
            hop_weights=hop_weights,
        )
        with in_words_of_the_command_line(values or "-"):
            vectors = adjacency_vectors(graph, **settings)
            rows = vectors.rows
            if known is not None:
                aligned = known_values(known, vectors.nodes, unknown_nodes=unknown_nodes)
                rows = rows[aligned == aligned]  # NaN where a value is not known
        if rows.shape[0] < 2:
            raise ValueError(
                f"{rows.shape[0]} nodes have known values, but at least two are needed to measure "
                "a distance"
            )
        found = sigma2_ranges(
            rows,
            noise=noise,
            kernel=learner["kernel"],
            n_frequencies=learner["frequencies"],
            learning_rate=learner["learning_rate"],
            n_epochs=learner["epochs"],
            random_state=learner["seed"],
        )
    if as_json:
        echo_json({"nodes": rows.shape[0], **asdict(found)})
        return
    page = console()
    facts = [
        ("Nodes", short(int(rows.shape[0]))),
        (
            "Distances",
            f"{short(found.smallest_distance)} (smallest that is not 0) to "
            f"{short(found.largest_distance)}",
        ),
        ("Kernel", f"{found.kernel}, {short(found.n_frequencies)} random frequencies"),
        ("Noise ratio", f"{short(found.noise_ratio)} ({found.noise})"),
        ("Rule 'theory'", f"σ² = {short(found.extending_disturbing)}"),
    ]
    page.print(facts_table("Ranges of the kernel variance σ²", facts))
    boundaries = [
        short(found.chaos_extending),
        short(found.extending_disturbing),
        short(found.disturbing_averaging),
    ]
    table = [
        (name, start, stop, found.meaning(name))
        for name, start, stop in zip(
            ("chaos", "extending", "disturbing", "averaging"),
            ["0", *boundaries],
            [*boundaries, "∞"],
            strict=True,
        )
    ]
    page.print(rows_table("", ["Range", "from", "to", "Predictions"], table))
