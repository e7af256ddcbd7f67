"""The process that learns, and the states that it hands over.

The process that answers imports this; what needs the models is in :mod:`.live_model`.
"""

from gradraker.live.learning.plain import USUAL_COVERAGE, ProbabilityModel, to_plain
from gradraker.live.learning.states import State, StateTable
from gradraker.live.learning.supervisor import Supervisor

__all__ = ["USUAL_COVERAGE", "ProbabilityModel", "State", "StateTable", "Supervisor", "to_plain"]
