"""The command line. Heavy imports are delayed until a command runs, so that help is quick."""

import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

import click

from gradraker import __version__
from gradraker.cli.interruption import INTERRUPTED, InterruptWatch
from gradraker.cli.nodes.data import data
from gradraker.cli.nodes.demo import demo
from gradraker.cli.nodes.explain import explain
from gradraker.cli.nodes.predict import predict
from gradraker.cli.nodes.serve import serve
from gradraker.cli.nodes.studio import studio
from gradraker.cli.nodes.update import update
from gradraker.cli.skg.bank import bank
from gradraker.cli.skg.ranges import ranges
from gradraker.cli.skg.reproduce import reproduce
from gradraker.cli.skg.series import series
from gradraker.cli.skg.sweep import sweep
from gradraker.exceptions import DeviceMemoryError, NoDeviceError

# Errors that the library raises with a message for users.
EXPECTED_ERRORS = (ValueError, TypeError, OSError, ImportError, NoDeviceError, DeviceMemoryError)


class OneSentenceGroup(click.Group):
    """A group of commands whose errors are one sentence, unless ``--debug`` is given."""

    watch = InterruptWatch()
    shows_traceback = False

    def main(self, *args: Any, standalone_mode: bool = True, **kwargs: Any) -> Any:
        """Run a command line; Ctrl-C gives exit code 130, where click gives 1."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **kwargs)  # type: ignore[call-overload]
        try:
            with InterruptWatch() as self.watch:
                code = super().main(*args, standalone_mode=False, **kwargs)  # type: ignore[call-overload]
        except click.Abort:
            _print_error("\nStopped.")  # below the ^C of the terminal
            sys.exit(INTERRUPTED)
        except click.ClickException as error:
            with suppress(OSError):
                error.show()
            sys.exit(error.exit_code)
        except OSError as error:
            if self.shows_traceback:
                raise
            # Standard output cannot be written; after a closed pipe nothing is printed.
            if not isinstance(error, BrokenPipeError):
                _print_error(f"Error: {format_error(error)}")
            sys.exit(1)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; exit code 1 if it fails (click gives 2 for wrong use)."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click handles these
        except KeyboardInterrupt as error:
            raise click.Abort from error
        except Exception as error:
            if self.watch.was_interrupted:
                raise click.Abort from error  # a consequence of the interruption
            self.shows_traceback = ctx.params["debug"]
            if self.shows_traceback:
                raise
            raise click.ClickException(format_error(error)) from error


def _print_error(message: str) -> None:
    with suppress(OSError):  # a full disk must not change the exit code
        click.echo(message, err=True)


def format_error(error: Exception) -> str:
    r"""Format an error as one line.

    Examples
    --------
    >>> format_error(ValueError("sigma2 must be positive;\n  got -1"))
    'sigma2 must be positive; got -1'
    >>> format_error(PermissionError(13, "Permission denied", "/etc/figure.png"))
    '/etc/figure.png: Permission denied'
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    message = " ".join(str(error).split())
    if isinstance(error, EXPECTED_ERRORS) and message:
        return message
    # Not meant for users: name the type, and how to see more for a bug report.
    kind = type(error).__name__
    return f"{kind}: {message} (run 'gradraker --debug ...' to see where)"


# "\b" keeps the lines of a paragraph as they are.
_COMPLETION = """\b
To complete commands and options with the tab key, in new shells:
  bash  echo 'eval "$(_GRADRAKER_COMPLETE=bash_source gradraker)"' >> ~/.bashrc
  zsh   echo 'eval "$(_GRADRAKER_COMPLETE=zsh_source gradraker)"' >> ~/.zshrc
  fish  echo '_GRADRAKER_COMPLETE=fish_source gradraker | source' \\
          > ~/.config/fish/completions/gradraker.fish
"""


@click.group(
    cls=OneSentenceGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_COMPLETION,
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__, prog_name="gradraker")
def main(debug: bool) -> None:
    """Predict unknown node values on a graph, online, and explain every prediction.

    Exit codes: 0 success, 1 an error of the data or the system, 2 wrong usage, 130 stopped with
    Ctrl-C.
    """
    # A terminal that cannot show σ² or ° prints a question mark instead of failing.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


for command in (
    predict,
    update,
    explain,
    bank,
    series,
    ranges,
    sweep,
    reproduce,
    serve,
    studio,
    data,
    demo,
):
    main.add_command(command)
