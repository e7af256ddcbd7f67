"""Fitted encoders of columns as plain data, which turn entries into numbers.

skrub and scikit-learn fit them (:mod:`gradraker.attributes.vectorizing`). Only the fitted numbers
are kept, so that a model file holds no code; results equal theirs, to single precision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")
DATE_PARTS = (*_PARTS, "total_seconds")
# Attributes of an encoder that are arrays.
ARRAYS = ("idf", "components")
# Largest vocabulary that a file may hold.
MOST_WORDS = 2_000_000


class Column(Protocol):
    """The encoder of one column."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the numbers that an entry becomes."""

    def encode(self, entries: Sequence[Any]) -> Matrix:
        """Entries as numbers, (n, outputs); NaN where one is missing."""


def is_missing(entry: Any) -> bool:
    """Whether an entry is None, NaN or a missing value of pandas."""
    return entry is None or type(entry).__name__ in ("NAType", "NaTType") or bool(entry != entry)


@dataclass(frozen=True)
class NumberColumn:
    """Numbers and booleans, which may come as texts."""

    kind: ClassVar[str] = "number"
    name: str
    null_texts: tuple[str, ...] = ()  # texts for a missing number, if numbers came as texts

    @property
    def outputs(self) -> tuple[str, ...]:
        """The name of the column."""
        return (self.name,)

    def encode(self, entries: Sequence[Any]) -> Matrix:
        """Entries as numbers, (n, 1)."""
        numbers = np.empty((len(entries), 1))
        for i, entry in enumerate(entries):
            try:
                if isinstance(entry, timedelta):
                    entry = entry.total_seconds()
                numbers[i, 0] = np.nan if _is_null(entry, self.null_texts) else float(entry)
            except (TypeError, ValueError):
                raise ValueError(
                    f"attributes holds {entry!r} in column {self.name!r}, where there were numbers "
                    "before: give a number, or None if it is missing"
                ) from None
        return numbers


@dataclass(frozen=True)
class CategoryColumn:
    """Categories: one number per category, 1 for that of the entry; None stands for missing."""

    kind: ClassVar[str] = "category"
    name: str
    categories: tuple[str | None, ...]
    null_texts: tuple[str, ...]
    dropped: int | None = None  # a category whose number follows from the others

    @property
    def outputs(self) -> tuple[str, ...]:
        """The column and its categories."""
        return tuple(
            f"{self.name}_{'nan' if category is None else category}"
            for i, category in enumerate(self.categories)
            if i != self.dropped
        )

    def encode(self, entries: Sequence[Any]) -> Matrix:
        """Entries as zeros and ones, (n, outputs); all 0 for a category that is new."""
        places = {category: i for i, category in enumerate(self.categories)}
        codes = np.zeros((len(entries), len(self.categories)))
        for i, entry in enumerate(entries):
            place = places.get(_clean_text(entry, self.null_texts))
            if place is not None:
                codes[i, place] = 1.0
        return codes if self.dropped is None else np.delete(codes, self.dropped, axis=1)


def _is_null(entry: Any, null_texts: Sequence[str]) -> bool:
    """Whether an entry is missing, or one of the texts for a missing entry."""
    return is_missing(entry) or (
        bool(null_texts) and isinstance(entry, str) and _clean_text(entry, null_texts) is None
    )


def _clean_text(entry: Any, null_texts: Sequence[str]) -> str | None:
    if is_missing(entry):
        return None
    text = str(entry)
    return None if text in null_texts or not text.strip() else text


@dataclass(frozen=True)
class DateColumn:
    """Dates and times: year, month, …, and seconds since 1970."""

    kind: ClassVar[str] = "date"
    name: str
    parts: tuple[str, ...]
    form: str | None = None  # of dates that are texts, as strptime takes it
    null_texts: tuple[str, ...] = ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """The column and its parts."""
        return tuple(f"{self.name}_{part}" for part in self.parts)

    def encode(self, entries: Sequence[Any]) -> Matrix:
        """Entries as numbers, (n, parts)."""
        numbers = np.full((len(entries), len(self.parts)), np.nan)
        for i, entry in enumerate(entries):
            if not _is_null(entry, self.null_texts):
                moment = self._read(entry)
                numbers[i] = [_get_part(moment, part) for part in self.parts]
        return numbers

    def _read(self, entry: Any) -> datetime:
        if isinstance(entry, date):
            return to_moment(entry)
        try:
            text = str(entry)
            if self.form is None:
                return datetime.fromisoformat(text)
            return datetime.strptime(text, self.form)
        except ValueError:
            raise ValueError(
                f"attributes holds {entry!r} in column {self.name!r}, where there were dates "
                "before: give a date, or None if it is missing"
            ) from None


def to_moment(day: date) -> datetime:
    """Return a date as a moment: the start of its day, unless it has a time."""
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)


def _get_part(moment: datetime, part: str) -> float:
    if part == "total_seconds":
        epoch = datetime(1970, 1, 1, tzinfo=None if moment.tzinfo is None else UTC)
        return (moment - epoch).total_seconds()
    return float(getattr(moment, part))


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Texts: weighted counts of short runs of characters, projected to a few numbers."""

    kind: ClassVar[str] = "text"
    name: str
    words: tuple[str, ...]  # runs of characters, by their place
    idf: NDArray[np.float64]  # [words]
    components: NDArray[np.float32] | None  # [outputs, words]; None: the first few counts
    n_outputs: int
    scale: float
    lengths: tuple[int, int]  # of the runs
    null_texts: tuple[str, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        """The column and numbers."""
        digits = len(str(self.n_outputs - 1))
        return tuple(f"{self.name}_{str(i).zfill(digits)}" for i in range(self.n_outputs))

    @cached_property
    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer  # it loads rich and much else

        places = {word: i for i, word in enumerate(self.words)}
        fitted = TfidfVectorizer(analyzer="char_wb", ngram_range=self.lengths, vocabulary=places)
        fitted.idf_ = self.idf
        return fitted

    def encode(self, entries: Sequence[Any]) -> Matrix:
        """Entries as numbers, (n, outputs)."""
        texts = [_clean_text(entry, self.null_texts) or "" for entry in entries]
        counts = self._vectorizer.transform(texts).astype(np.float32)
        if self.components is None:
            found = counts[:, : self.n_outputs].toarray()
        else:
            found = counts @ self.components.T
        return np.asarray(found / np.float32(self.scale), dtype=np.float64)


def dump_column(column: Column) -> tuple[dict[str, Any], Arrays]:
    """Return an encoder as a dict that JSON can hold, and arrays."""
    state: dict[str, Any] = {"kind": column.kind}
    arrays: Arrays = {}
    for name, entry in vars(column).items():
        if name in ARRAYS:
            arrays |= {} if entry is None else {name: entry}
        elif not name.startswith("_"):  # others are computed and cached
            state[name] = list(entry) if isinstance(entry, tuple) else entry
    return state, arrays


def restore_column(item: Mapping[str, Any], arrays: Arrays) -> Column:
    """Make an encoder from data of a file, checked."""
    name, kind = _check_text(item["name"]), item["kind"]
    null_texts = tuple(map(_check_text, item["null_texts"]))
    if kind == "number":
        return NumberColumn(name, null_texts)
    if kind == "date":
        parts, form = tuple(item["parts"]), item["form"]
        if not parts or not set(parts) <= set(DATE_PARTS) or not isinstance(form, str | None):
            raise ValueError(f"the parts of dates are {parts!r}")
        return DateColumn(name, parts, form, null_texts)
    if kind == "category":
        listed = tuple(None if c is None else _check_text(c) for c in item["categories"])
        dropped = item["dropped"]
        is_place = type(dropped) is int and 0 <= dropped < len(listed)
        if len(set(listed)) != len(listed) or not (dropped is None or is_place):
            raise ValueError("the categories are not consistent")
        return CategoryColumn(name, listed, null_texts, dropped)
    if kind == "text":
        return _restore_text(name, item, arrays, null_texts)
    raise ValueError(f"the kind of a column is {kind!r}")


def _restore_text(
    name: str, item: Mapping[str, Any], arrays: Arrays, null_texts: tuple[str, ...]
) -> TextColumn:
    words = tuple(map(_check_text, item["words"]))
    shortest, longest = item["lengths"]
    idf = arrays["idf"].astype(np.float64, casting="safe")
    components = arrays.get("components")
    n_outputs, scale = item["n_outputs"], float(item["scale"])
    is_sound = (
        0 < len(words) <= MOST_WORDS
        and len(set(words)) == len(words)
        and type(shortest) is int
        and type(longest) is int
        and 1 <= shortest <= longest <= 10
        and type(n_outputs) is int
        and 1 <= n_outputs <= len(words)
        and idf.shape == (len(words),)
        and bool(np.isfinite(idf).all())
        and 0.0 < scale < np.inf
    )
    if is_sound and components is not None:
        components = components.astype(np.float32, casting="same_kind")
        is_sound = components.shape == (n_outputs, len(words)) and bool(
            np.isfinite(components).all()
        )
    if not is_sound:
        raise ValueError("the encoder of texts is not consistent")
    lengths = (shortest, longest)
    return TextColumn(name, words, idf, components, n_outputs, scale, lengths, null_texts)


def _check_text(text: Any) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not a text")
    return text
