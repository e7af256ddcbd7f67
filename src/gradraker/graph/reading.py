"""How a table was read: which column has which role. What was taken is always told."""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """How a table was read.

    Attributes
    ----------
    roles : tuple of pairs (role, column)
        The column of each role: its name, its number from 1 if it has no name, None for no column.
    n_header_lines : int or None
        Lines that name the columns; None for tables that have no lines.
    unused : tuple
        Names or numbers of the other columns.

    Examples
    --------
    >>> from gradraker.graph.reading import Reading
    >>> str(Reading((("source", "sender"), ("target", "receiver")), 1, ("time",)))
    'read as: source = sender, target = receiver; 1 header line; not used: time'
    """

    roles: tuple[tuple[str, Hashable], ...]
    n_header_lines: int | None = None
    unused: tuple[Hashable, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether columns are called what they are and all of them are used: nothing to tell."""
        return not self.unused and all(column in (role, None) for role, column in self.roles)

    def __str__(self) -> str:
        text = ", ".join(self._format_role(role, column) for role, column in self.roles)
        parts = [f"read as: {text}"]
        if self.n_header_lines is not None:
            parts.append(f"{self.n_header_lines or 'no'} header line")
        if self.unused:
            shown = [self._format_column(column) for column in self.unused[:4]]
            more = len(self.unused) - len(shown)
            parts.append(f"not used: {', '.join(shown)}{f' and {more} more' if more else ''}")
        return "; ".join(parts)

    def _format_role(self, role: str, column: Hashable) -> str:
        shown = "none" if column is None else self._format_column(column)
        return role if shown == role else f"{role} = {shown}"

    def _format_column(self, column: Hashable) -> str:
        if isinstance(column, int):
            return f"column {column}"
        return str(column) if str(column).strip() else repr(column)
