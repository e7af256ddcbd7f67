"""``gradraker bank``: predictions by a bank of kernels, over layers and hops of a graph."""

from typing import TYPE_CHECKING, Any

import click

from gradraker.cli.inputs import (
    check_distinct,
    check_streams,
    read_edges_file,
    read_values_file,
    reword_errors,
    take_file_options,
    to_graph_options,
)
from gradraker.cli.option_groups import SKG_GROUPS, GroupedCommand
from gradraker.cli.options import (
    KERNELS,
    SIGMA2_RULES,
    FileName,
    add_values_option,
    directed_option,
    file_options,
    kernel_options,
    make_direction_option,
    output_options,
    unknown_nodes_option,
    vector_options,
)
from gradraker.cli.output import check_writable, echo_json, make_console, make_csv, write_outputs
from gradraker.cli.progress import Waiting
from gradraker.cli.tables import make_facts_table, make_rows_table, shorten

if TYPE_CHECKING:
    from gradraker.workflow import BankPredictions


# click's types take a parameter since 8.2 only.
class KernelList(click.ParamType):  # type: ignore[type-arg]
    """Variances and rules, separated by commas, each with a family in front if not Gaussian."""

    name = "kernels"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the entries as the library takes them; anything else is wrong use."""
        entries = []
        for text in str(value).split(","):
            family, colon, rest = text.strip().rpartition(":")
            entry = self._convert_entry(rest, param, ctx)
            if colon and family not in KERNELS:
                self.fail(f"{family!r} is not one of {', '.join(KERNELS)}", param, ctx)
            entries.append((family, entry) if colon else entry)
        return entries

    def _convert_entry(
        self, text: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | str:
        words = ("ranges", *SIGMA2_RULES)
        if text in words:
            return text
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not 0.0 < number < float("inf"):
            listed = ", ".join(words)
            self.fail(f"{text!r} is neither a positive number nor one of {listed}", param, ctx)
        return number


@click.command(
    cls=GroupedCommand,
    groups=SKG_GROUPS,
    short_help="Predict by a bank of kernels, over layers and hops.",
    epilog="Example: gradraker bank --layer mail=edges.csv --values known.csv "
    "--kernels ranges,laplacian:cv --hops 2 --out predicted.csv",
)
@click.option(
    "--layer",
    "layers",
    multiple=True,
    required=True,
    metavar="[NAME=]FILE",
    help="Edges of one kind, in any format of --edges of predict; give it once for each layer.",
)
@add_values_option(required=True, text="Known values: a table of nodes and numbers.")
@click.option(
    "--kernels",
    type=KernelList(),
    default="ranges",
    show_default=True,
    metavar="LIST",
    help="Variances, rules (theory, refined, median, cv) or 'ranges', separated by commas; "
    "'laplacian:2.5' is of another family.",
)
@click.option("--out", type=FileName(), metavar="FILE", help="Predictions as CSV; - is stdout.")
@file_options
@directed_option
@make_direction_option("out")
@vector_options
@kernel_options
@unknown_nodes_option
@output_options
def bank(
    layers: tuple[str, ...],
    values: str,
    kernels: Any,
    out: str | None,
    raw_names: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict unknown values by a bank of kernels that are weighed while they learn.

    Every layer, every number of hops up to --hops and every entry of --kernels is a member of the
    bank; --kernel is the family of entries without one. The output says how much each member
    counts, and how large the errors are on a fifth of the known nodes, held out once.
    """
    files = _split_layers(layers)
    how = take_file_options(options, task="values")
    check_streams(values=values, **{f"layer {name}": file for name, file in files.items()})
    check_streams(out=out, json="-" if as_json else None)
    check_distinct({"values": values, **{f"layer {n}": f for n, f in files.items()}}, {"out": out})
    check_writable(out)
    if options["kernel"] != "gaussian":
        kernels = [
            entry if isinstance(entry, tuple) else (options["kernel"], entry) for entry in kernels
        ]
    with Waiting() as waiting:
        from gradraker.workflow import predict_with_bank

        graphs = {name: read_edges_file(file, waiting, how) for name, file in files.items()}
        known = read_values_file(values, waiting, how)
        waiting.show_stage("training")
        with reword_errors(values):
            result = predict_with_bank(
                graphs,
                known,
                kernels=kernels,
                hops=options["hops"],
                hop_weights=options["hop_weights"],
                unknown_nodes=options["unknown_nodes"],
                vector_options={
                    "direction": options["direction"] or "out",
                    **to_graph_options(
                        self_loops=options["self_loops"],
                        unweighted=options["unweighted"],
                        directed=how.directed,
                    ),
                },
                n_frequencies=options["frequencies"],
                learning_rate=options["learning_rate"],
                n_epochs=options["epochs"],
                random_state=options["seed"],
            )
        if out is not None:
            write_outputs([(out, make_csv(_list_rows(result, raw_names=raw_names)))])
    summary = _summarise(result)
    if as_json:
        echo_json(summary)
        return
    _print_tables(summary, to_stderr=out == "-")
    if out not in (None, "-"):
        click.echo(f"Predictions: {out}")


def _split_layers(layers: tuple[str, ...]) -> dict[str, str]:
    """Name and file of each layer; a file without a name is called by its number."""
    files: dict[str, str] = {}
    for number, text in enumerate(layers, start=1):
        name, equals, file = text.partition("=")
        if not equals:
            name, file = f"layer {number}", text
        if not name or not file:
            raise click.BadParameter(f"{text!r} is not NAME=FILE", param_hint="--layer")
        if name in files:
            raise click.BadParameter(f"the name {name!r} is given twice", param_hint="--layer")
        files[name] = file
    return files


def _list_rows(result: "BankPredictions", *, raw_names: bool) -> list[list[object]]:
    from gradraker.io.text.names_in_text import escape_name

    rows: list[list[object]] = [["node", "known", "value", "prediction"]]
    for node, value, prediction in zip(
        result.nodes.tolist(), result.values.tolist(), result.predictions.tolist(), strict=True
    ):
        known = value == value  # NaN is not equal to itself
        name = str(node) if raw_names else escape_name(str(node))
        rows.append([name, "true" if known else "false", value if known else "", prediction])
    return rows


def _summarise(result: "BankPredictions") -> dict[str, Any]:
    model, error = result.model, result.held_out_error
    n_known = int((result.values == result.values).sum())
    return {
        "command": "bank",
        "nodes": len(result.nodes),
        "known": n_known,
        "members": [
            {
                "view": member.view,
                "kernel": member.kernel,
                "sigma2": float(member.sigma2),
                "member_weight": float(weight),
            }
            for member, weight in zip(model.members_, model.kernel_weights_, strict=True)
        ],
        "held_out": None
        if error is None
        else {"rmse": error.rmse, "rmse_of_mean": error.rmse_of_mean, "nodes": error.n_nodes},
    }


def _print_tables(summary: dict[str, Any], *, to_stderr: bool) -> None:
    page = make_console(to_stderr=to_stderr)
    facts = [
        ("Nodes", f"{shorten(summary['nodes'])}, {shorten(summary['known'])} of them known"),
        ("Members", shorten(len(summary["members"]))),
    ]
    held_out = summary["held_out"]
    if held_out is not None:
        facts.append(
            (
                "Held-out error",
                f"RMSE {shorten(held_out['rmse'])}; of the mean "
                f"{shorten(held_out['rmse_of_mean'])}; {held_out['nodes']} nodes",
            )
        )
    page.print(make_facts_table("Predicted by a bank of kernels", facts))
    heaviest = sorted(summary["members"], key=lambda member: -member["member_weight"])[:10]
    rows = [
        (m["view"], m["kernel"], shorten(m["sigma2"]), f"{m['member_weight']:.1%}")
        for m in heaviest
    ]
    page.print(make_rows_table("Members that count most", ["View", "Kernel", "σ²", "Weight"], rows))
