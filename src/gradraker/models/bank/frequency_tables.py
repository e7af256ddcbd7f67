"""Unit frequencies of a bank: the same referencing nodes, one table for each kernel family."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.features import FrequencyTable


class FamilyTables(FrequencyTable):
    """The table of the first kernel family of a bank, and those of others, which grow with it.

    Each is the table of a single-kernel model of that family and seed, so that members of one
    family share their frequencies and a bank of one kernel is that model.

    Parameters
    ----------
    seed, n_frequencies, n_numbered, named
        As for :class:`FrequencyTable`.
    families : iterable of str
        Names of the kernels; those that repeat count once.
    """

    def __init__(
        self, seed: int, n_frequencies: int, families: Iterable[str], **nodes: Any
    ) -> None:
        first, *others = dict.fromkeys(families)
        self.others: dict[str, FrequencyTable] = {}
        super().__init__(seed, n_frequencies, first, **nodes)
        for family in others:
            self.others[family] = FrequencyTable(seed, n_frequencies, family, **nodes)

    def __getstate__(self) -> dict[str, object]:
        state = super().__getstate__()
        del state["kernel"]
        return state | {"families": self.families}

    @property
    def families(self) -> list[str]:
        """Names of the kernels."""
        return [self.kernel, *self.others]

    def __getitem__(self, family: str) -> FrequencyTable:
        return self if family == self.kernel else self.others[family]

    def add(self, names: Sequence[Hashable]) -> None:
        """Append nodes that are not yet in the tables."""
        super().add(names)
        for table in self.others.values():
            table.add(names)

    def drop_from(self, n: int) -> None:
        """Forget the named nodes after the first ``n`` nodes."""
        super().drop_from(n)
        for table in self.others.values():
            table.drop_from(n)

    def select_names(self, names: Sequence[Hashable]) -> "FamilyTables":
        """Return tables of just ``names`` from the same seed; these are not changed."""
        return FamilyTables(self.seed, self.n_frequencies, self.families, named=names)

    def prepare(self, columns: NDArray[np.int32]) -> NDArray[np.float32]:
        """Draw the rows in ``columns`` that were not drawn before; return those of the first."""
        for table in self.others.values():
            table.prepare(columns)
        return super().prepare(columns)
