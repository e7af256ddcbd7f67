"""The tables of a journal, the same in SQLite and PostgreSQL."""

import sqlalchemy as sa

FORMAT = "1"  # a journal of another format is refused

schema = sa.MetaData()
_Number = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite's row number, 64 bits as well


def _make_key() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True, autoincrement=False)


# Facts that never change: the format, the kind of values, whether edges have directions.
facts = sa.Table(
    "fact",
    schema,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)

# One row. Writers lock it, so that numbers have no gaps and become visible in their order.
counters = sa.Table("counter", schema, _make_key(), sa.Column("last_seq", _Number, nullable=False))

# Every change that was acknowledged, one row each. Rows are never changed or deleted.
changes = sa.Table(
    "change",
    schema,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column("op", sa.Text, nullable=False),
    sa.Column("node", sa.Text, nullable=False),
    sa.Column("target", sa.Text),
    sa.Column("value", sa.Text),  # JSON
    sa.Column("time", sa.Float(53), nullable=False),
    sa.Index("change_node", "node", "seq"),
    sa.Index("change_target", "target", "seq"),
)

# Keys that clients gave, so that a request that is sent twice counts once.
requests = sa.Table(
    "request",
    schema,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("first_seq", _Number, nullable=False),
    sa.Column("last_seq", _Number, nullable=False),
)

# Nodes that exist after the last change.
nodes = sa.Table("node", schema, sa.Column("name", sa.Text, primary_key=True))

# Which changes were learned together: written before they are learned.
batches = sa.Table(
    "batch",
    schema,
    sa.Column("number", _Number, primary_key=True, autoincrement=False),
    sa.Column("first_seq", _Number, nullable=False),
    sa.Column("last_seq", _Number, nullable=False),
    sa.Column("epoch", _Number, nullable=False),
    sa.Column("time", sa.Float(53), nullable=False),
)

# Changes that the model refused; a replay leaves them out.
refusals = sa.Table(
    "refusal",
    schema,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column("reason", sa.Text, nullable=False),
)

# Values and what was predicted before they were learned.
validations = sa.Table(
    "validation",
    schema,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column("node", sa.Text, nullable=False),
    sa.Column("value", sa.Text, nullable=False),  # JSON
    sa.Column("predicted", sa.Text, nullable=False),  # JSON
    sa.Column("is_first", sa.Boolean, nullable=False),  # whether the node had no value before
    sa.Column("error", sa.Float(53), nullable=False),  # prediction − value; 0 or 1 for labels
    sa.Column(
        "baseline_error", sa.Float(53), nullable=False
    ),  # by the mean, or the most common label
    sa.Column("time", sa.Float(53), nullable=False),
)

# Model files. Number 0 is the model that the journal began with; it is kept.
snapshots = sa.Table(
    "snapshot",
    schema,
    sa.Column("batch", _Number, primary_key=True, autoincrement=False),
    sa.Column("seq", _Number, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("model", sa.LargeBinary, nullable=False),
)

# One row: the process that decides what is learned next.
leases = sa.Table(
    "lease",
    schema,
    _make_key(),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("epoch", _Number, nullable=False),
    sa.Column("expires", sa.Float(53), nullable=False),
)
