"""Encoders of the columns of a frame, fitted by skrub and scikit-learn, and taken out as data."""

import warnings
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from gradraker.attributes.columns import (
    DATE_PARTS,
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    TextColumn,
)

_SEED = 0
_MISSING_LIBRARY = (
    "attributes holds column {!r} of type {}, which skrub encodes: install gradraker[attributes], "
    "or give numbers only"
)


def fit_columns(columns: Mapping[str, nw.Series[Any]]) -> tuple[Column, ...]:
    """Fit the encoder of each column; numbers and booleans need none."""
    others = {
        n: s for n, s in columns.items() if not (s.dtype.is_numeric() or s.dtype == nw.Boolean)
    }
    fitted = _fit_others(others) if others else {}
    return tuple(fitted[name] if name in others else NumberColumn(name) for name in columns)


def _fit_others(columns: Mapping[str, nw.Series[Any]]) -> dict[str, Column]:
    try:
        import skrub
    except ImportError:
        name, series = next(iter(columns.items()))
        raise ImportError(_MISSING_LIBRARY.format(name, series.dtype)) from None
    found: dict[str, Column] = {}
    for name, series in columns.items():
        vectorizer = skrub.TableVectorizer(
            high_cardinality=skrub.StringEncoder(random_state=_SEED),
            datetime=skrub.DatetimeEncoder(resolution="microsecond"),
            drop_null_fraction=None,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its ways with small tables
            vectorizer.fit(series.alias(name).to_frame().to_native())
        found[name] = _take_out(name, vectorizer)
    return found


def _take_out(name: str, vectorizer: Any) -> Column:
    """What a fitted vectorizer of one column learned."""
    kind = vectorizer.column_to_kind_.get(name)
    if kind == "numeric":
        return NumberColumn(name)
    encoder = vectorizer.transformers_[name]
    if kind == "datetime":
        parts = tuple(part for part in encoder.extracted_features_ if part in DATE_PARTS)
        return DateColumn(name, parts, _find_form(vectorizer, name))
    null_texts = _list_null_texts()
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
    """The form of dates that came as texts."""
    for step in vectorizer.all_processing_steps_[name]:
        form = getattr(step, "format_", None)
        if isinstance(form, str):
            return form
    return None


def _list_null_texts() -> tuple[str, ...]:
    """Texts that skrub takes for a missing entry."""
    from skrub import _clean_null_strings

    return tuple(_clean_null_strings.STR_NA_VALUES)
