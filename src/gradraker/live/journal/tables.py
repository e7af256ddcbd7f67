"""The tables of a journal, the same in SQLite and PostgreSQL."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

FORMAT = "1"  # a journal of another format is refused

schema = sa.MetaData()
_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # row numbers of SQLite have 64 bits
_Float = sa.Float(53)


def _make_table(
    name: str, /, *indexes: sa.Index, optional: Collection[str] = (), **kinds: Any
) -> sa.Table:
    """Make a table from the types of its columns: the first is the key, optional ones nullable."""
    key, *_ = kinds
    columns = (
        sa.Column(c, kind, primary_key=c == key, nullable=c in optional, autoincrement=False)
        for c, kind in kinds.items()
    )
    return sa.Table(name, schema, *columns, *indexes)


# Facts that never change: the format, the kind of values, whether edges have directions.
facts = _make_table("fact", name=sa.Text, text=sa.Text)

# One row. Writers lock it, so that numbers have no gaps and become visible in order.
counters = _make_table("counter", id=sa.Integer, last_seq=_Number)

# One row per acknowledged change. Rows are never changed or deleted.
changes = _make_table(
    "change",
    sa.Index("change_node", "node", "seq"),
    sa.Index("change_target", "target", "seq"),
    seq=_Number,
    op=sa.Text,
    node=sa.Text,
    target=sa.Text,
    value=sa.Text,  # JSON
    time=_Float,
    optional=("target", "value"),
)

# Keys of clients, so that a request that is sent twice counts once.
requests = _make_table("request", key=sa.Text, digest=sa.Text, first_seq=_Number, last_seq=_Number)

# Nodes that exist after the last change.
nodes = _make_table("node", name=sa.Text)

# Which changes were learned together: written before they are learned.
batches = _make_table(
    "batch", number=_Number, first_seq=_Number, last_seq=_Number, epoch=_Number, time=_Float
)

# Changes that the model refused; a replay skips them.
refusals = _make_table("refusal", seq=_Number, reason=sa.Text)

# Values, and their predictions before they were learned.
validations = _make_table(
    "validation",
    seq=_Number,
    node=sa.Text,
    value=sa.Text,  # JSON
    predicted=sa.Text,  # JSON
    is_first=sa.Boolean,  # whether the node had no value before
    error=_Float,  # prediction − value; 0 or 1 for labels
    baseline_error=_Float,  # by the mean, or the most common label
    time=_Float,
)

# Model files. Number 0 is the model that the journal started with; it is never deleted.
snapshots = _make_table(
    "snapshot", batch=_Number, seq=_Number, digest=sa.Text, model=sa.LargeBinary
)

# One row: the process that defines the next batch to learn.
leases = _make_table("lease", id=sa.Integer, holder=sa.Text, epoch=_Number, expires=_Float)
