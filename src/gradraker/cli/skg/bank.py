"""``gradraker bank``: predictions by a bank of kernels, over layers and hops of a graph."""

from collections.abc import Iterator
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

if TYPE_CHECKING:
    from rich.table import Table


class KernelList(shared.NumberOrWord):
    """Variances and rules, separated by commas, each with a family in front if not Gaussian."""

    name = "kernels"

    def __init__(self) -> None:
        super().__init__(("ranges", *shared.SIGMA2_RULES))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the entries as the library takes them; anything else is wrong usage."""
        entries: list[Any] = []
        for text in str(value).split(","):
            family, colon, rest = text.strip().rpartition(":")
            entry = super().convert(rest, param, ctx)
            if colon and family not in shared.KERNELS:
                self.fail(f"{family!r} is not one of {', '.join(shared.KERNELS)}", param, ctx)
            entries.append((family, entry) if colon else entry)
        return entries


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
    help="Edges of one kind, in any format of --edges of predict; repeat it for each layer.",
)
@shared.add_values("Known values: a table of nodes and numbers.", required=True)
@click.option(
    "--kernels",
    type=KernelList(),
    default="ranges",
    show_default=True,
    metavar="LIST",
    help="Variances, rules (theory, refined, median, cv) or 'ranges', separated by commas; "
    "'laplacian:2.5' is of another family.",
)
@shared.out_option
@shared.graph_options
@shared.add_unknown_nodes(isolated=False)
@shared.output_options
def bank(
    layers: tuple[str, ...],
    values: str,
    kernels: Any,
    out: str | None,
    raw_names: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Predict unknown values by a bank of kernels, which are weighted while they learn.

    Every layer, every number of hops up to --hops and every entry of --kernels is a member of the
    bank; --kernel is the family of entries without one. The output shows how much each
    member counts, and the errors on a fifth of the known nodes, held out once.
    """
    files = _split_layers(layers)
    how = take_file_options(options, task="values")
    named = {f"layer {name}": file for name, file in files.items()}
    check_files({"values": values} | named, {"out": out}, as_json=as_json)
    if options["kernel"] != "gaussian":
        kernels = [
            entry if isinstance(entry, tuple) else (options["kernel"], entry) for entry in kernels
        ]
    with StatusLine() as status:
        graphs = {name: read_edges_file(file, status, how) for name, file in files.items()}
        known = read_values_file(values, status, how)
        status.show_stage("training")
        settings = to_vector_options(options, how)
        views = {name: settings.pop(name) for name in ("hops", "hop_weights")}
        learner = to_learner_options(options)
        del learner["kernel"]  # part of the entries of kernels
        with reword_errors(values):
            result = gradraker.workflow.predict_with_bank(
                graphs,
                known,
                kernels=kernels,
                unknown_nodes=options["unknown_nodes"],
                vector_options=settings,
                **views,
                **learner,
            )
        rows = list_column_rows(result.list_columns(), raw_names=raw_names)
        write_outputs([(out, make_csv(rows))])
    facts = gradraker.report.summarize_bank(result)
    show_facts(facts, _list_tables, as_json=as_json, files={"Predictions": out})


def _split_layers(layers: tuple[str, ...]) -> dict[str, str]:
    """Return name and file of each layer; a layer without a name gets its number."""
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


def _list_tables(summary: dict[str, Any]) -> "Iterator[Table]":
    facts = [
        ("Nodes", f"{shorten(summary['nodes'])}, {shorten(summary['known'])} of them known"),
        ("Members", shorten(len(summary["members"]))),
    ]
    held_out = summary["held_out"]
    if held_out is not None:
        rmse, of_mean = shorten(held_out["rmse"]), shorten(held_out["rmse_of_mean"])
        text = f"RMSE {rmse}; of the mean {of_mean}; {held_out['nodes']} nodes"
        facts.append(("Held-out error", text))
    yield make_facts_table("Predicted by a bank of kernels", facts)
    heaviest = sorted(summary["members"], key=lambda member: -member["member_weight"])[:10]
    rows = [
        (m["view"], m["kernel"], shorten(m["sigma2"]), f"{m['member_weight']:.1%}")
        for m in heaviest
    ]
    yield make_rows_table("Members that count most", ["View", "Kernel", "σ²", "Weight"], rows)
