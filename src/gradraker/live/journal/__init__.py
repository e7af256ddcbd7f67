"""The journal of a live service, in SQLite or PostgreSQL."""

from gradraker.live.journal.engines import is_out_of_space
from gradraker.live.journal.journal import Batch, Journal, Snapshot
from gradraker.live.journal.lease import Lease
from gradraker.live.journal.validation import (
    Validation,
    has_outcome,
    read_validations,
    record_outcome,
    summarize_errors,
)
from gradraker.live.journal.writing import (
    Answer,
    KeyConflict,
    Receipt,
    Submission,
    UnknownNode,
    append,
)

__all__ = [
    "Answer",
    "Batch",
    "Journal",
    "KeyConflict",
    "Lease",
    "Receipt",
    "Snapshot",
    "Submission",
    "UnknownNode",
    "Validation",
    "append",
    "has_outcome",
    "is_out_of_space",
    "read_validations",
    "record_outcome",
    "summarize_errors",
]
