"""``gradraker data``: data sets that come with the library or are downloaded."""

from typing import TYPE_CHECKING, Any

import click

import gradraker
from gradraker.cli.inputs import check_files
from gradraker.cli.options import add_file, json_option
from gradraker.cli.output import (
    echo_json,
    list_column_rows,
    make_csv,
    make_facts_table,
    make_rows_table,
    shorten,
    show_facts,
    write_outputs,
)

if TYPE_CHECKING:
    from gradraker.datasets import DatasetInfo


@click.group(
    short_help="List, describe and fetch data sets.", epilog="Example: gradraker data list"
)
def data() -> None:
    """Data sets to try: list them, read about one, fetch it."""


@data.command("list", epilog="Example: gradraker data list")
@json_option
def list_(as_json: bool) -> None:
    """List the data sets."""
    datasets = gradraker.datasets
    listed = [datasets.describe_dataset(name) for name in datasets.list_datasets()]
    rows = [(info.name, _format_home(info), _format_counts(info)) for info in listed]
    table = make_rows_table("Data sets", ["Name", "Files", "Facts"], rows)
    facts = {"datasets": [_to_json(info) for info in listed]}
    show_facts(facts, lambda _: [table], as_json=as_json)


@data.command(epilog="Example: gradraker data info temperature")
@click.argument("name")
@json_option
def info(name: str, as_json: bool) -> None:
    """Describe the data set NAME: its nodes, terms of use and files."""
    dataset = _describe(name)
    facts = [
        ("What", dataset.description),
        ("Facts", _format_counts(dataset)),
        ("Files", _format_home(dataset)),
        *((file.name, f"{shorten(file.size)} bytes from {file.url}") for file in dataset.files),
        ("Licence", dataset.licence),
        ("Cite", dataset.citation),
        ("In Python", f"gradraker.datasets.{dataset.loader.__name__}()"),
    ]
    table = make_facts_table(dataset.name, facts)
    show_facts(_to_json(dataset), lambda _: [table], as_json=as_json)


@data.command(
    epilog="Example: gradraker data fetch temperature --edges edges.csv --values values.csv"
)
@click.argument("name")
@add_file(
    "--data-home",
    "Folder of the data sets; default GRADRAKER_DATA, or the user's cache.",
    metavar="DIR",
)
@add_file("--edges", "Write the edges as CSV.")
@add_file("--values", "Write the values as CSV.")
@json_option
def fetch(
    name: str, data_home: str | None, edges: str | None, values: str | None, as_json: bool
) -> None:
    """Fetch the data set NAME, unless its files exist already, and check it.

    With --edges and --values it is also written as files that the other commands read.
    """
    _describe(name)  # a wrong name is wrong usage, reported before any file is read
    check_files({}, {"edges": edges, "values": values}, as_json=as_json)
    dataset = gradraker.datasets.load_dataset(name, data_home=data_home)
    tables = ((edges, dataset.list_edges()), (values, dataset.list_values()))
    write_outputs(
        [(path, make_csv(list_column_rows(table, raw_names=False))) for path, table in tables]
    )
    if as_json:
        echo_json({"name": name, "nodes": dataset.n_nodes, "edges": dataset.n_edges})
        return
    to_stderr = "-" in (edges, values)
    click.echo(f"{dataset.name}: {dataset.n_nodes} nodes, {dataset.n_edges} edges", err=to_stderr)
    click.echo(f"Licence: {dataset.licence}", err=to_stderr)


def _describe(name: str) -> "DatasetInfo":
    try:
        return gradraker.datasets.describe_dataset(name)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error


def _to_json(info: "DatasetInfo") -> dict[str, Any]:
    return {
        "name": info.name,
        "description": info.description,
        "facts": dict(info.facts),
        "licence": info.licence,
        "citation": info.citation,
        "loader": info.loader.__name__,
        "files": [
            {"name": file.name, "bytes": file.size, "url": file.url, "sha256": file.sha256}
            for file in info.files
        ],
    }


def _format_home(info: "DatasetInfo") -> str:
    return f"{len(info.files)} to download" if info.files else "come with gradraker"


def _format_counts(info: "DatasetInfo") -> str:
    return ", ".join(f"{shorten(number)} {fact}" for fact, number in info.facts.items())
