"""``gradraker studio``: a page to explore a model and try changes."""

import os
import secrets
import sys
import webbrowser
from typing import TYPE_CHECKING, Any

import click

from gradraker._columns import ColumnNumber
from gradraker.cli import options as shared
from gradraker.cli.inputs import (
    FileOptions,
    check_starting_point,
    make_model,
    read_values_file,
    take_file_options,
)
from gradraker.cli.nodes.several_targets import refuse_targets
from gradraker.cli.option_groups import FILE_OPTIONS, GroupedCommand
from gradraker.cli.output import StatusLine

if TYPE_CHECKING:
    from gradraker.models import NodeModel
    from gradraker.studio import StudioOptions


@click.command(
    cls=GroupedCommand,
    groups={"Reading files": (*FILE_OPTIONS, "directed")},
    short_help="Open a page to explore a model and try changes.",
    epilog="Example: gradraker studio --edges edges.csv --values known.csv --unit °C",
)
@shared.add_edges()
@shared.add_values("Known values: nodes and numbers or classes.")
@shared.attributes_option
@shared.add_file("--model", "A saved model instead of files.")
@click.option("--demo", is_flag=True, help="January at Swiss weather stations instead of files.")
@shared.add_file(
    "--positions",
    "Positions of nodes: a table of nodes, x (or east) and y (or north). Default: such "
    "columns of --attributes, else a layout of the graph, which is computed once and stored.",
)
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--unit", default="", metavar="TEXT", help="Unit of the values.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Default any free port."
)
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@shared.file_options
@shared.directed_option
def studio(**options: Any) -> None:
    """Open a page to explore a model and try changes.

    It shows the graph with values, predictions, errors and uncertainties; every prediction as a
    weighted sum of known values; the effect of another value or link; the paper's learner with a
    slider for σ²; a stream; and editing with undo. The page is served to this machine only, loads
    nothing from elsewhere, and changes none of your files. Stop it with Ctrl-C.

    \b
    gradraker studio --demo
    gradraker studio --edges edges.csv --values known.csv --positions stations.csv
    gradraker studio --model model.gr --no-browser --port 8123
    """  # noqa: D301 - click does not rewrap lines after \b
    how = take_file_options(options)
    _check(options)
    try:
        from gradraker.studio import serve_studio
        from gradraker.studio.answers.graph_layout import load_igraph
    except ImportError as error:
        raise click.ClickException(
            f"studio needs more packages ({error.name} is missing): pip install 'gradraker[studio]'"
        ) from error
    refuse_targets(how.value)
    load_igraph()
    with StatusLine() as status:
        model, page = _prepare(options, how, status)
    token = secrets.token_urlsafe(24)
    serve_studio(
        model,
        page,
        port=options["port"],
        token=token,
        on_listen=lambda port: _print_address(port, token, is_opened=options["browser"]),
    )


def _check(options: dict[str, Any]) -> None:
    ways = ("demo", "model", "edges")
    if not any(options[name] for name in ways):
        raise click.UsageError("give --edges and --values, or --model, or --demo")
    check_starting_point(options, *ways)
    if options["attributes"] and not options["edges"]:
        raise click.UsageError("--attributes needs --edges and --values")
    if options["demo"] and options["positions"]:
        raise click.UsageError("--demo has its own positions: leave --positions out")


def _prepare(
    options: dict[str, Any], how: FileOptions, status: StatusLine
) -> "tuple[NodeModel, StudioOptions]":
    """Return the model and the options of the page."""
    from gradraker.studio import StudioOptions, make_demo

    if options["demo"]:
        status.show_stage("training")
        return make_demo()
    model = make_model(options, how, status)
    assert model is not None  # --model or --edges is given
    page = StudioOptions(
        title=options["title"] or os.path.basename(options["model"] or options["edges"]),
        unit=options["unit"],
        positions=_read_positions(options["positions"], status) if options["positions"] else {},
    )
    return model, page


def _read_positions(path: str, status: StatusLine) -> dict[str, tuple[float, float]]:
    """Read x and y from the second and third column of a table."""
    node, x, y = (ColumnNumber(number) for number in ("1", "2", "3"))
    found = read_values_file(path, status, FileOptions(node=node, value=[x, y], task="values"))
    return {str(name): (position["2"], position["3"]) for name, position in found.items()}


def _print_address(port: int, token: str, *, is_opened: bool) -> None:
    # Browsers do not send the part after the # over the network.
    address = f"http://127.0.0.1:{port}/studio#token={token}"
    click.echo(f"gradraker studio: {address}")
    has_screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if is_opened and has_screen:
        webbrowser.open(address)
