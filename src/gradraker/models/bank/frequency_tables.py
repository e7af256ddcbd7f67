"""Unit frequencies of a bank: the same referencing nodes, one table for each kernel family."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gradraker.features import FrequencyTable


class FamilyTables:
    """Frequency tables of several kernel families that grow together.

    Each is the table that a single-kernel model of that family and seed has, so that members
    of one family share their frequencies and a bank of one is that model.

    Parameters
    ----------
    tables : sequence of FrequencyTable
        One for each family, with the same names in the same order.
    """

    def __init__(self, tables: Sequence[FrequencyTable]) -> None:
        self.tables = {table.kernel: table for table in tables}
        self._first = tables[0]

    @classmethod
    def from_families(
        cls,
        families: Iterable[str],
        seed: int,
        n_frequencies: int,
        *,
        n_numbered: int = 0,
        named: Sequence[Hashable] = (),
    ) -> "FamilyTables":
        """Tables of the given families; see :class:`FrequencyTable`."""
        return cls(
            [
                FrequencyTable(seed, n_frequencies, family, n_numbered=n_numbered, named=named)
                for family in dict.fromkeys(families)
            ]
        )

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, family: str) -> FrequencyTable:
        return self.tables[family]

    @property
    def seed(self) -> int:
        """What the frequencies are drawn from."""
        return self._first.seed

    @property
    def n_frequencies(self) -> int:
        """D."""
        return self._first.n_frequencies

    @property
    def n_numbered(self) -> int:
        """How many nodes are named by their numbers."""
        return self._first.n_numbered

    @property
    def named(self) -> list[Hashable]:
        """Nodes that follow them."""
        return self._first.named

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the referencing nodes, in the order in which they came."""
        return self._first.names

    def has_all(self, names: Iterable[Hashable]) -> bool:
        """Whether every name is known."""
        return self._first.has_all(names)

    def find_rows(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row of each name; all must be known."""
        return self._first.find_rows(names)

    def add_missing(self, names: Sequence[Hashable]) -> None:
        """Append those of ``names`` that are not known, once each."""
        for table in self.tables.values():
            table.add_missing(names)

    def drop_from(self, n: int) -> None:
        """Forget the named nodes that came after the first ``n`` nodes."""
        for table in self.tables.values():
            table.drop_from(n)

    def select_names(self, names: Sequence[Hashable]) -> "FamilyTables":
        """Return tables of just ``names`` from the same seed; these are not changed."""
        return FamilyTables([table.select_names(names) for table in self.tables.values()])

    def prepare(self, columns: NDArray[np.int32]) -> dict[str, NDArray[np.float32]]:
        """Draw the rows in ``columns`` that were not drawn before; return the units by family."""
        return {family: table.prepare(columns) for family, table in self.tables.items()}
