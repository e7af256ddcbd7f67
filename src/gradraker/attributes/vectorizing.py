"""Encoders of the columns of a frame, fitted by skrub and scikit-learn, and stored as data."""

import warnings
from datetime import date
from typing import Any

import numpy as np

from gradraker.attributes.columns import (
    DATE_PARTS,
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    TextColumn,
    to_moment,
)
from gradraker.attributes.entries import Entries, RawColumn, has_only

_SEED = 0
_MISSING_LIBRARY = (
    "attributes holds column {!r} of type {}, which skrub encodes: install gradraker[attributes], "
    "or give numbers only"
)


def fit_column(name: str, raw: RawColumn) -> Column:
    """Fit the encoder of a column; numbers and booleans need none.

    It depends on the entries, not on their order.
    """
    entries = np.array(sorted(raw.entries, key=lambda e: (e is None, str(e))), dtype=object)
    if not raw.is_categorical and has_only(entries, bool, int, float):
        return NumberColumn(name)
    series = _to_series(name, entries, is_categorical=raw.is_categorical)
    try:
        import skrub
    except ImportError:
        raise ImportError(_MISSING_LIBRARY.format(name, series.dtype)) from None
    vectorizer = skrub.TableVectorizer(
        high_cardinality=skrub.StringEncoder(random_state=_SEED),
        datetime=skrub.DatetimeEncoder(resolution="microsecond"),
        drop_null_fraction=None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about small tables
        vectorizer.fit(series.to_frame())
    return _extract_column(name, vectorizer)


def _to_series(name: str, entries: Entries, *, is_categorical: bool) -> Any:
    """Entries as a column of polars: dates, or texts, which may be categories."""
    import polars as pl  # loads slowly

    if not is_categorical and has_only(entries, date):
        moments = [None if e is None else to_moment(e).replace(tzinfo=None) for e in entries]
        return pl.Series(name, moments, dtype=pl.Datetime)
    texts = pl.Series(name, [None if e is None else str(e) for e in entries], dtype=pl.String)
    return texts.cast(pl.Categorical) if is_categorical else texts


def _extract_column(name: str, vectorizer: Any) -> Column:
    """The encoder of one column, from a fitted vectorizer."""
    from skrub._clean_null_strings import STR_NA_VALUES

    kind = vectorizer.column_to_kind_.get(name)
    null_texts = tuple(STR_NA_VALUES)  # that skrub reads as a missing entry
    if kind == "numeric":
        return NumberColumn(name, null_texts)
    encoder = vectorizer.transformers_[name]
    if kind == "datetime":
        parts = tuple(part for part in encoder.extracted_features_ if part in DATE_PARTS)
        return DateColumn(name, parts, _find_form(vectorizer, name), null_texts)
    if kind == "low_cardinality":
        (listed,), dropped = encoder.categories_, encoder.drop_idx_
        categories = tuple(None if c is None or c != c else str(c) for c in listed)
        place = None if dropped is None or dropped[0] is None else int(dropped[0])
        return CategoryColumn(name, categories, null_texts, place)
    words = sorted(encoder.vectorizer_.vocabulary_, key=encoder.vectorizer_.vocabulary_.get)
    components = None
    if hasattr(encoder, "tsvd_"):
        components = np.asarray(encoder.tsvd_.components_, dtype=np.float32)
    return TextColumn(
        name,
        tuple(words),
        np.asarray(encoder.vectorizer_.idf_, dtype=np.float64),
        components,
        int(encoder.n_components_),
        float(encoder.scaling_factor_),
        tuple(encoder.vectorizer_.ngram_range),
        null_texts,
    )


def _find_form(vectorizer: Any, name: str) -> str | None:
    """The format of dates that were given as texts."""
    forms = (getattr(step, "format_", None) for step in vectorizer.all_processing_steps_[name])
    return next((form for form in forms if isinstance(form, str)), None)
