"""Whole-number names of nodes → positions in the sorted names, in little memory."""

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
# Names in a range of at most this many numbers are marked by one bit each: 256 MB.
MOST_MARKED = 1 << 31


class MarkedNames:
    """Names of a limited range: a bit for each number, and counts of the bits before."""

    def __init__(self, batches: Iterable[Numbers], low: int, high: int) -> None:
        self._low = low
        n_bytes = (high - low) // 8 + 1
        self._bits = np.zeros(n_bytes, dtype=np.uint8)
        for names in batches:
            places = names - low
            for bit in range(8):  # a number may occur twice: each bit is set by itself
                self._bits[places[places & 7 == bit] >> 3] |= np.uint8(1 << bit)
        counts = np.bitwise_count(self._bits)
        self._before = np.zeros(n_bytes + 1, dtype=np.int32)
        np.cumsum(counts, out=self._before[1:])

    def list_names(self) -> Numbers:
        """All names, sorted."""
        found = np.empty(int(self._before[-1]), dtype=np.int64)
        step, n_found = 1 << 20, 0
        for start in range(0, self._bits.size, step):
            bits = np.unpackbits(self._bits[start : start + step], bitorder="little")
            marked = np.flatnonzero(bits)
            found[n_found : n_found + marked.size] = marked + (8 * start + self._low)
            n_found += marked.size
        return found

    def find(self, names: Numbers) -> NDArray[np.int32]:
        """Positions of names: the number of marked bits in earlier bytes and before in its byte."""
        places = names - self._low
        held = self._bits[places >> 3]
        below = np.bitwise_count(held & ((1 << (places & 7)) - 1).astype(np.uint8))
        return np.asarray(self._before[places >> 3] + below, dtype=np.int32)


class SortedNames:
    """Names of any range, sorted."""

    def __init__(self, batches: Iterable[Numbers]) -> None:
        self._names = np.empty(0, dtype=np.int64)
        for names in batches:
            self._names = np.union1d(self._names, names)

    def list_names(self) -> Numbers:
        """All names, sorted."""
        return self._names

    def find(self, names: Numbers) -> NDArray[np.int32]:
        """Positions of names."""
        return np.searchsorted(self._names, names).astype(np.int32)


# Distinct names, sorted, and the position of each.
Numbering: TypeAlias = MarkedNames | SortedNames
