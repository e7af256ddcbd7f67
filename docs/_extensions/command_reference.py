"""The directive ``commands``: every command with its options, from the commands themselves."""

import inspect
from collections.abc import Iterator
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from gradraker.cli import main


def list_commands(command: click.Command, words: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and its subcommands, each with the words that call it."""
    yield words, command
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield from list_commands(child, f"{words} {name}")


def format_text(text: str | None) -> Iterator[str]:
    r"""Paragraphs of a help text; those that begin with \b keep their lines."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield f"```text\n{paragraph[2:]}\n```\n"
        elif paragraph:
            yield f"{escape(paragraph)}\n"


def escape(text: str) -> str:
    """Escape the characters that Markdown would interpret."""
    for character in "\\`*_<>[]|$":
        text = text.replace(character, f"\\{character}")
    return text


def format_command(words: str, command: click.Command) -> Iterator[str]:
    """Yield the lines of the section about a command."""
    context = click.Context(command, info_name=words)
    yield f"## {words}\n" if words != "gradraker" else "## All commands\n"
    yield from format_text(command.help)
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
    groups = getattr(command, "groups", {})
    title_of = {name: title for title, names in groups.items() for name in names}
    sections: dict[str, list[tuple[str, str]]] = {"Options": [], **{title: [] for title in groups}}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            sections[title_of.get(parameter.name or "", "Options")].append(record)
    for title, records in sections.items():
        if records:
            yield f"**{escape(title)}**\n"
        for names, text in records:
            yield f"`{names}`\n: {escape(text)}\n"
    yield from format_text(command.epilog)


class Commands(SphinxDirective):
    """All commands, one section each."""

    def run(self) -> list[nodes.Node]:
        """Write the sections as Markdown, and parse it."""
        self.env.note_dependency(inspect.getfile(type(main)))
        lines = [
            line
            for words, command in list_commands(main, "gradraker")
            for line in format_command(words, command)
        ]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
