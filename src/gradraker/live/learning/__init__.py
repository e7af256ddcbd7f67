"""The process that learns, and the states that it hands over.

The process that answers imports this; what needs the models is in :mod:`.live_model`.
"""

from gradraker.live.learning.states import (
    USUAL_COVERAGE,
    State,
    StateTable,
    is_integer_name,
    to_plain,
)
from gradraker.live.learning.supervisor import Supervisor

__all__ = ["USUAL_COVERAGE", "State", "StateTable", "Supervisor", "is_integer_name", "to_plain"]
