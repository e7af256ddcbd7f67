"""Changes that tests write to journals."""

from typing import Any

from gradraker.live.journal.changes import Change
from gradraker.live.journal.writing import Submission

FACTS = {"values": "numbers", "edges": "directed", "names": "text"}


def put(node: Any, value: Any, key: Any = None) -> Any:
    return Submission((Change("put_value", node, value=value),), key)
