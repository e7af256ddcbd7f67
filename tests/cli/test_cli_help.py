"""All commands: their help, their documentation, and shell completion."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import gradraker
from command_line import invoke
from gradraker.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


COMMAND = [sys.executable, "-m", "gradraker"]


def commands(group: Any = main, prefix: Any = ()) -> Iterator[Any]:
    """All commands and groups below a group, by the words that call them."""
    for name, command in group.commands.items():
        yield (*prefix, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*prefix, name))


COMMANDS = dict(commands())


def example(command: Any) -> list[str]:
    found = re.fullmatch(r"Example: gradraker (.+)", command.epilog or "")
    assert found, f"{command.name} has no example in its help"
    return shlex.split(found.group(1))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_has_texts_and_an_example_that_runs(
    run_in_copy: Callable[..., Any], words: tuple[Any, ...]
) -> None:
    command = COMMANDS[words]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
    shown = run_in_copy(*words, "--help")
    assert shown.exit_code == 0
    arguments = example(command)
    assert arguments[: len(words)] == list(words) or isinstance(command, click.Group)
    assert " ".join(arguments) in " ".join(shown.stdout.split())
    if words in (("serve",), ("studio",)):
        return  # they serve until they are stopped; tests run them in processes of their own
    result = run_in_copy(*arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", main.commands)
def test_every_command_has_a_section_in_the_documentation(name: str) -> None:
    page = PAGE.read_text("utf-8")
    assert f"\n## gradraker {name}\n" in page
    section = page.split(f"\n## gradraker {name}\n")[1].split("\n## ")[0]
    assert f"gradraker {name} " in section


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_mentioned_in_the_documentation(words: tuple[Any, ...]) -> None:
    assert words[-1] in PAGE.read_text("utf-8")


def test_every_section_of_the_documentation_is_a_command() -> None:
    sections = re.findall(r"^## gradraker (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(sections) == set(main.commands)


def documented() -> Iterator[Any]:
    """Commands of the page, with the outputs that it shows."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


@pytest.mark.process
def test_the_page_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shown = list(documented())
    assert len(shown) > 10
    for command, output in shown:
        if command.startswith("gradraker "):
            result = invoke(*shlex.split(command)[1:])
            assert result.exit_code == 0, result.output
            printed = result.stdout
        else:
            printed = subprocess.run(
                command, shell=True, check=True, capture_output=True, text=True, encoding="utf-8"
            ).stdout
        assert tidy(printed) == tidy(output), command


def tidy(text: str) -> list[Any]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.process
def test_help_of_every_command_is_quick() -> None:
    program = (
        "import sys\n"
        "from gradraker.cli import main\n"
        f"for words in {[list(words) for words in COMMANDS]!r}:\n"
        "    main([*words, '--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich', 'jinja2'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=60)


def test_version_is_that_of_the_package(run: Callable[..., Any]) -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"gradraker, version {gradraker.__version__}\n")


def test_every_command_and_option_has_help(run: Callable[..., Any]) -> None:
    assert "demo" in main.commands
    for name, command in main.commands.items():
        assert command.help, name
        assert "Example: gradraker " in run(name, "--help").stdout
        for option in command.params:
            assert isinstance(option, click.Option)
            assert option.help, option.name


@pytest.mark.process
def test_process_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from gradraker.cli import main\n"
        "main(['demo', '--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=60)


@pytest.mark.process
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered_for_three_shells(shell: Any, run: Any) -> None:
    environment = os.environ | {"_GRADRAKER_COMPLETE": f"{shell}_source"}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=True)
    assert "_GRADRAKER_COMPLETE" in done.stdout
    assert f"_GRADRAKER_COMPLETE={shell}_source" in run("--help").stdout
