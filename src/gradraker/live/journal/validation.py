"""Progressive validation: each value is predicted before it is learned."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sqlalchemy import insert, select

from gradraker.live.journal.journal import Batch, Journal, split
from gradraker.live.journal.tables import refusals, validations

_MAX_WINDOWS = 20


@dataclass(frozen=True)
class Validation:
    """A value, and its prediction by the last finished state before it was learned.

    ``error`` is prediction minus value, or 1 for a wrong label and 0 for the right one;
    ``baseline_error`` is that of the mean of the known values, or of their most common label.
    """

    seq: int
    node: str
    value: Any
    predicted: Any
    is_first: bool
    error: float
    baseline_error: float


def record_outcome(journal: Journal, found: Sequence[Validation], refused: dict[int, str]) -> None:
    """Write the outcome of a batch; existing rows are kept."""
    if not found and not refused:
        return
    numbers = [validation.seq for validation in found] + list(refused)
    with journal.engines.write.begin() as connection:
        for table, rows in (
            (validations, [_to_row(validation) for validation in found]),
            (refusals, [{"seq": seq, "reason": reason} for seq, reason in refused.items()]),
        ):
            inside = select(table.c.seq).where(table.c.seq.between(min(numbers), max(numbers)))
            existing = set(connection.execute(inside).scalars())
            for some in split((row for row in rows if row["seq"] not in existing), 1000):
                connection.execute(insert(table), some)


def has_outcome(journal: Journal, batch: Batch) -> bool:
    """Return whether the outcome of a batch was written."""
    inside = validations.c.seq.between(batch.first_seq, batch.last_seq)
    with journal.engines.read.connect() as connection:
        statement = select(validations.c.seq).where(inside).limit(1)
        return connection.execute(statement).first() is not None


def _to_row(validation: Validation) -> dict[str, Any]:
    texts = {name: json.dumps(getattr(validation, name)) for name in ("value", "predicted")}
    return asdict(validation) | texts | {"time": time.time()}


def read_validations(journal: Journal, *, last: int) -> list[Validation]:
    """Return the last validations, the newest first."""
    statement = select(validations).order_by(validations.c.seq.desc()).limit(last)
    with journal.engines.read.connect() as connection:
        return [
            Validation(seq, node, json.loads(value), json.loads(predicted), *rest)
            for seq, node, value, predicted, *rest, _ in connection.execute(statement)
        ]


def summarize_errors(journal: Journal, *, last: int, is_label: bool) -> dict[str, Any]:
    """Return errors over the last first values of nodes, as a whole and over time."""
    columns = (validations.c.seq, validations.c.error, validations.c.baseline_error)
    statement = select(*columns).where(validations.c.is_first)
    with journal.engines.read.connect() as connection:
        rows = connection.execute(statement.order_by(validations.c.seq.desc()).limit(last)).all()
    table = np.array([tuple(row) for row in reversed(rows)], dtype=np.float64).reshape(-1, 3)
    windows = np.array_split(table, min(_MAX_WINDOWS, max(1, len(table))))
    return _measure(table, is_label) | {
        "over_time": [
            {"first_seq": int(part[0, 0]), "last_seq": int(part[-1, 0]), **_measure(part, is_label)}
            for part in windows
            if len(part)
        ]
    }


def _measure(table: Any, is_label: bool) -> dict[str, Any]:
    """Return the accuracy of labels, or the errors of numbers, with those of the baseline."""
    if not len(table):
        return {"n": 0}
    squares = np.mean(table[:, 1:] ** 2, axis=0).tolist()
    if is_label:
        names = ("accuracy", "accuracy_of_most_common")
        return {"n": len(table)} | dict(zip(names, (1.0 - error for error in squares), strict=True))
    return {
        "n": len(table),
        "rmse": float(np.sqrt(squares[0])),
        "rmse_of_mean": float(np.sqrt(squares[1])),
        "mae": float(np.mean(np.abs(table[:, 1]))),
    }
