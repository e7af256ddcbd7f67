"""The table of random frequencies: one row per referencing node, drawn when first needed."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gradraker._compiled.draws import draw_rows, mark_used
from gradraker.features.identities import identify_references, to_plain_name
from gradraker.features.parallel import parallel_for
from gradraker.kernels.shift_invariant import get_kernel

# With fewer draws in a block, a second thread costs more than it saves.
_DRAWS_PER_BLOCK = 50_000
# A call that uses so small a part of a large table does not look at the whole of it.
_FEW = 32


class FrequencyTable:
    """Unit frequencies Ξ (M × D) of a growing set of referencing nodes.

    Row m depends on the seed and on the name of node m only. The first nodes may be
    numbered (columns of an array without names); nodes with names follow. Memory is
    reserved for all rows but touched only by the rows that are used.

    Parameters
    ----------
    seed : int
        In [0, 2⁶⁴).
    n_frequencies : int
        D.
    kernel : str
        Name of the kernel.
    n_numbered : int, default=0
        Nodes named 0, 1, …, n_numbered − 1.
    named : sequence of names, default=()
        Nodes that follow them.
    """

    def __init__(
        self,
        seed: int,
        n_frequencies: int,
        kernel: str,
        *,
        n_numbered: int = 0,
        named: Sequence[Hashable] = (),
    ) -> None:
        self.seed = seed
        self.n_frequencies = int(n_frequencies)  # arithmetic with NumPy's small types overflows
        self.kernel = kernel
        self.n_numbered = n_numbered
        self.named: list[Hashable] = []
        self._rows_of_named: dict[Hashable, int] = {}
        # Rows that are drawn, by name: one-node calls look them up here.
        self.drawn_rows: dict[Hashable, int] = {}
        capacity = n_numbered + len(named)
        self.units = np.empty((capacity, n_frequencies), dtype=np.float32)  # [capacity, D]
        # [capacity]; those of numbered nodes are entered when they are drawn.
        self._identities = np.empty(capacity, dtype=np.uint64)
        self._is_drawn = np.zeros(capacity, dtype=np.bool_)  # [capacity]
        self.add(named)

    def __len__(self) -> int:
        return self.n_numbered + len(self.named)

    def __getstate__(self) -> dict[str, object]:
        # Everything else follows from these.
        return {
            "seed": self.seed,
            "n_frequencies": self.n_frequencies,
            "kernel": self.kernel,
            "n_numbered": self.n_numbered,
            "named": self.named,
        }

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def names(self) -> Sequence[Hashable]:
        """Names of the referencing nodes, in the order in which they were added."""
        numbered = range(self.n_numbered)
        return [*numbered, *self.named] if self.named else numbered

    def find(self, name: Hashable) -> int | None:
        """Return the row of a node, or None if the table does not have it."""
        row = self._rows_of_named.get(name)
        if row is not None or not isinstance(name, int | float | np.integer | np.floating):
            return row
        # Equal names are one node: 3, 3.0 and np.int32(3).
        return int(name) if 0 <= name < self.n_numbered and name == int(name) else None

    def add(self, names: Sequence[Hashable]) -> None:
        """Append nodes that are not yet in the table."""
        n_old, n_new = len(self), len(self) + len(names)
        plain = [to_plain_name(name) for name in names]
        identities = identify_references(plain)
        if n_new > self.units.shape[0]:
            self._reserve(max(n_new, 2 * n_old))
        self._identities[n_old:n_new] = identities
        self.named.extend(plain)
        self._rows_of_named.update(zip(plain, range(n_old, n_new), strict=True))

    def drop_from(self, n: int) -> None:
        """Forget the named nodes after the first ``n`` nodes."""
        for name in self.named[n - self.n_numbered :]:
            del self._rows_of_named[name]
            self.drawn_rows.pop(name, None)
        del self.named[n - self.n_numbered :]
        self._is_drawn[n:] = False

    def _reserve(self, capacity: int) -> None:
        n = len(self)
        units = np.empty((capacity, self.n_frequencies), dtype=np.float32)
        identities = np.empty(capacity, dtype=np.uint64)
        is_drawn = np.zeros(capacity, dtype=np.bool_)
        units[:n], identities[:n] = self.units[:n], self._identities[:n]
        is_drawn[:n] = self._is_drawn[:n]
        self.units, self._identities, self._is_drawn = units, identities, is_drawn

    def has_all(self, names: Iterable[Hashable]) -> bool:
        """Whether every name is in the table."""
        return all(self.find(name) is not None for name in names)

    def find_rows(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row of each name; all must be in the table."""
        return np.array([self.find(name) for name in names], dtype=np.int32)

    def find_columns(self, names: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row of each name, and numbers beyond the table for unknown names."""
        rows = [self.find(name) for name in names]
        beyond = len(self)
        return np.array([beyond + i if r is None else r for i, r in enumerate(rows)], np.int32)

    def add_missing(self, names: Iterable[Hashable]) -> None:
        """Append those of ``names`` that are not in the table, once each."""
        self.add([name for name in dict.fromkeys(names) if self.find(name) is None])

    def prepare(self, columns: NDArray[np.int32]) -> NDArray[np.float32]:
        """Draw the rows in ``columns`` that were not drawn before; return the table."""
        used = np.zeros(len(self), dtype=np.bool_)
        if not mark_used(columns, used):
            raise IndexError(f"X has column numbers outside the {len(self)} referencing nodes")
        if columns.size < len(self) // _FEW:  # most of the table is not even looked at
            rows = np.unique(columns).astype(np.int64)
            self._draw(rows[~self._is_drawn[rows]])
        else:
            self._draw(np.flatnonzero(used & ~self._is_drawn[: len(self)]))
        return self.units

    def prepare_names(self, names: Sequence[Hashable]) -> None:
        """Draw the rows of nodes in the table and enter them in ``drawn_rows``."""
        rows = self.find_rows(names)
        self.prepare(rows)
        self.drawn_rows.update(zip(names, rows.tolist(), strict=True))

    def _draw(self, rows: NDArray[np.int64]) -> None:
        distribution = get_kernel(self.kernel).distribution
        seed = np.uint64(self.seed)
        numbered = rows[rows < self.n_numbered]
        self._identities[numbered] = numbered.view(np.uint64)  # a number is its own identity

        def draw(start: int, stop: int) -> None:
            draw_rows(seed, self._identities, rows[start:stop], distribution, self.units)

        parallel_for(draw, rows.size, _DRAWS_PER_BLOCK // self.n_frequencies)
        self._is_drawn[rows] = True

    def select_names(self, names: Sequence[Hashable]) -> "FrequencyTable":
        """Return a table of only ``names`` from the same seed; this one is not changed."""
        return FrequencyTable(self.seed, self.n_frequencies, self.kernel, named=names)

    def compute_frequencies(self, scale: float) -> NDArray[np.float64]:
        """Return the frequencies of all nodes at ``scale`` = 1/σ, shape (M, D)."""
        n = len(self)
        return self.prepare(np.arange(n, dtype=np.int32))[:n] * np.float64(scale)
