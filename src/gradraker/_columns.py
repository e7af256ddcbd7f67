"""Columns as the command line names them; nothing else is loaded, so that help is quick."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnNumber:
    """A column as the command line names it: by its name, or by its number from 1."""

    text: str

    def __repr__(self) -> str:
        return repr(self.text)
