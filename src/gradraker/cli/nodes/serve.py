"""``gradraker serve``: serve predictions over HTTP, and learn while serving."""

import os
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradraker.cli import options as shared
from gradraker.cli.inputs import FileOptions, check_starting_point, make_model, take_file_options
from gradraker.cli.nodes.several_targets import refuse_targets
from gradraker.cli.option_groups import FILE_OPTIONS, GroupedCommand
from gradraker.cli.output import StatusLine

if TYPE_CHECKING:
    from gradraker.models import NodeModel

TOKEN_VARIABLE = "GRADRAKER_TOKEN"


@click.command(
    cls=GroupedCommand,
    groups={"Reading files": (*FILE_OPTIONS, "directed")},
    short_help="Serve predictions over HTTP, and learn while serving.",
    epilog="Example: gradraker serve --edges edges.csv --values known.csv --journal live.db",
)
@shared.add_file("--model", "Start with a saved model.")
@shared.add_edges()
@shared.add_values("Known values to start with: nodes and numbers or classes.")
@shared.attributes_option
@click.option("--labels", is_flag=True, help="Values are labels; for a journal that starts empty.")
@click.option("--demo", is_flag=True, help="Start with Swiss weather stations and a stream.")
@click.option(
    "--journal",
    metavar="FILE|URL",
    help="A SQLite file, or postgresql://user@host/name. It is created if it does not exist; "
    "otherwise the service continues from it. Default live.db; a temporary one with --demo.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any free."
)
@click.option(
    "--token",
    metavar="TEXT",
    envvar=TOKEN_VARIABLE,
    help=f"Token that clients must send; safer as the variable {TOKEN_VARIABLE}, which other users "
    "cannot see. Default a new one, which is printed.",
)
@shared.add_choice(
    "--token-for", ("changes", "all", "nothing"), "Requests that need the token.", default="changes"
)
@shared.add_file("--tls-cert", "Certificate, for HTTPS.")
@shared.add_file("--tls-key", "Private key of the certificate.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Another host name under which the service is reached; may be repeated.",
)
@click.option(
    "--trust-proxy",
    "proxies",
    metavar="ADDRESS",
    help="Address of a proxy whose X-Forwarded headers are trusted.",
)
@click.option("--root-path", default="", metavar="PATH", help="Path prefix that a proxy strips.")
@shared.add_count(
    "--max-body", "body_bytes", default=8 * 2**20, least=1000, text="Largest request in bytes."
)
@shared.add_count(
    "--max-pending",
    "pending",
    default=50_000,
    text="Largest number of changes waiting to be learned; more are answered by 429.",
)
@shared.add_count(
    "--rate",
    default=1000.0,
    least=0.1,
    text="Largest number of requests per second and address; more are answered by 429.",
)
@shared.add_count(
    "--lease",
    "lease_seconds",
    default=5.0,
    least=0.5,
    metavar="SECONDS",
    text="Another process takes over learning if the current one is silent for this long.",
)
@shared.add_count(
    "--snapshot",
    "snapshot_seconds",
    default=60.0,
    least=0.1,
    metavar="SECONDS",
    text="Time between snapshots, which make a restart quick.",
)
@shared.file_options
@shared.directed_option
def serve(**options: Any) -> None:
    """Serve predictions over HTTP, and learn while serving.

    Changes are on disk before they are acknowledged. They are learned in batches; predictions
    come from the last finished state, and name it. The address shows a live page, and /docs the
    API. Stop it with Ctrl-C; the same command continues where it stopped.
    """
    how = take_file_options(options)
    _check(options)
    try:
        from gradraker.live.server import open_journal
        from gradraker.live.server import serve as run
        from gradraker.live.settings import Limits, Settings
    except ImportError as error:
        raise click.ClickException(
            f"serve needs more packages ({error.name} is missing): pip install 'gradraker[serve]'"
        ) from error
    refuse_targets(how.value)
    token, is_new_token = options["token"], False
    if token is None and options["token_for"] != "nothing":
        token, is_new_token = secrets.token_urlsafe(24), True
    journal, folder = _choose_journal(options)
    same = ("host", "port", "token_for", "hosts", "proxies", "lease_seconds", "snapshot_seconds")
    settings = Settings(
        journal=journal,
        token=token,
        certificate=options["tls_cert"],
        private_key=options["tls_key"],
        root_path=options["root_path"].rstrip("/"),
        limits=Limits(**{name: options[name] for name in ("body_bytes", "pending", "rate")}),
        **{name: options[name] for name in same},
    )
    with StatusLine() as status:
        status.show_stage("opening the journal")
        opened, is_new = open_journal(
            journal, lambda: _make_model(options, how, status), has_labels=options["labels"]
        )
    given = [
        f"--{name}"
        for name in ("model", "edges", "values", "attributes", "labels")
        if options[name]
    ]
    if not is_new and given:
        click.echo(
            f"The service continues from the journal: {', '.join(given)} not read.", err=True
        )
    stream: Any = None
    if options["demo"]:
        from gradraker.live.demo_stream import DemoStream

        stream = DemoStream(is_on=True).run
    try:
        run(
            opened,
            settings,
            background=stream,
            on_listen=lambda port: _print_address(settings, port, token if is_new_token else None),
            add_routes=lambda app, service: _add_studio(app, service, is_demo=options["demo"]),
        )
    finally:
        if folder is not None:
            folder.cleanup()


def _check(options: dict[str, Any]) -> None:
    start = check_starting_point(options, "model", "edges", "demo")
    if options["attributes"] and not options["edges"]:
        raise click.UsageError("--attributes needs --edges")
    if options["labels"] and start:
        raise click.UsageError(f"--labels cannot be given with {start[0]}")
    if (options["tls_cert"] is None) != (options["tls_key"] is None):
        raise click.UsageError("--tls-cert and --tls-key must be given together")
    for name in ("tls_cert", "tls_key"):
        if options[name] is not None:
            Path(options[name]).read_bytes()  # raises an OSError that names the file
    is_local = options["host"] in ("127.0.0.1", "localhost", "::1")
    if options["token_for"] == "nothing" and not is_local:
        raise click.UsageError("--token-for nothing is for --host 127.0.0.1 only")
    token = options["token"]
    if token is not None and (len(token) < 8 or not token.isascii() or not token.isprintable()):
        raise click.UsageError("--token must have at least 8 printable ASCII characters")


def _choose_journal(options: dict[str, Any]) -> tuple[str, Any]:
    """Return the journal, and its folder if that is temporary."""
    if options["journal"] is not None or not options["demo"]:
        return options["journal"] or "live.db", None
    folder = tempfile.TemporaryDirectory(prefix="gradraker-demo-")
    return os.path.join(folder.name, "live.db"), folder


def _add_studio(app: Any, service: Any, *, is_demo: bool) -> None:
    # Imported late: it loads the models at the same time as the learning process does.
    from gradraker.studio import add_studio, describe_stations

    add_studio(app, service, describe_stations() if is_demo else None)


def _make_model(
    options: dict[str, Any], how: FileOptions, status: StatusLine
) -> "NodeModel | None":
    """Return the model that a new journal starts with."""
    if options["demo"]:
        from gradraker.live.demo_stream import make_demo_model

        return make_demo_model()
    return make_model(options, how, status)


def _print_address(settings: Any, port: int, token: str | None) -> None:
    scheme = "http" if settings.certificate is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"{scheme}://{host}:{port}{settings.root_path}/"
    click.echo(f"gradraker live: {address} (API: /docs, studio: /studio)")
    if token is None:
        return
    if settings.token_for == "all":
        # Browsers do not send the part after the # over the network.
        click.echo(f"Token: {token} (in a browser: {address}studio#token={token})")
    else:
        click.echo(f"Token for changes: {token}")
