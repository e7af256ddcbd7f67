"""The tables of a journal, the same in SQLite and PostgreSQL."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

FORMAT = "1"  # a journal of another format is refused

schema = MetaData()
_Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite's row number, 64 bits as well


def _make_key() -> Column[int]:
    return Column("id", Integer, primary_key=True, autoincrement=False)


# Facts that never change: the format, the kind of values, whether edges have directions.
facts = Table(
    "fact", schema, Column("name", Text, primary_key=True), Column("text", Text, nullable=False)
)

# One row. Writers lock it, so that numbers have no gaps and become visible in their order.
counters = Table("counter", schema, _make_key(), Column("last_seq", _Number, nullable=False))

# Every change that was acknowledged, one row each. Rows are never changed or deleted.
changes = Table(
    "change",
    schema,
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("op", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("target", Text),
    Column("value", Text),  # JSON
    Column("time", Float(53), nullable=False),
    Index("change_node", "node", "seq"),
    Index("change_target", "target", "seq"),
)

# Keys that clients gave, so that a request that is sent twice counts once.
requests = Table(
    "request",
    schema,
    Column("key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("first_seq", _Number, nullable=False),
    Column("last_seq", _Number, nullable=False),
)

# Nodes that exist after the last change.
nodes = Table("node", schema, Column("name", Text, primary_key=True))

# Which changes were learned together: written before they are learned.
batches = Table(
    "batch",
    schema,
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("first_seq", _Number, nullable=False),
    Column("last_seq", _Number, nullable=False),
    Column("epoch", _Number, nullable=False),
    Column("time", Float(53), nullable=False),
)

# Changes that the model refused; a replay leaves them out.
refusals = Table(
    "refusal",
    schema,
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("reason", Text, nullable=False),
)

# Values and what was predicted before they were learned.
validations = Table(
    "validation",
    schema,
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("node", Text, nullable=False),
    Column("value", Text, nullable=False),  # JSON
    Column("predicted", Text, nullable=False),  # JSON
    Column("is_first", Boolean, nullable=False),  # whether the node had no value before
    Column("error", Float(53), nullable=False),  # prediction − value; 0 or 1 for labels
    Column("baseline_error", Float(53), nullable=False),  # by the mean, or the most common label
    Column("time", Float(53), nullable=False),
)

# Model files. Number 0 is the model that the journal began with; it is kept.
snapshots = Table(
    "snapshot",
    schema,
    Column("batch", _Number, primary_key=True, autoincrement=False),
    Column("seq", _Number, nullable=False),
    Column("digest", Text, nullable=False),
    Column("model", LargeBinary, nullable=False),
)

# One row: the process that decides what is learned next.
leases = Table(
    "lease",
    schema,
    _make_key(),
    Column("holder", Text, nullable=False),
    Column("epoch", _Number, nullable=False),
    Column("expires", Float(53), nullable=False),
)
