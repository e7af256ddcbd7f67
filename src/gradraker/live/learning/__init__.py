"""The process that learns, and the states that it hands over."""

from gradraker.live.learning.live_model import LiveModel, describe_base, make_empty_model
from gradraker.live.learning.predicted import USUAL_COVERAGE, ProbabilityModel, to_plain
from gradraker.live.learning.states import State, StateTable
from gradraker.live.learning.supervisor import Supervisor

__all__ = [
    "USUAL_COVERAGE",
    "LiveModel",
    "ProbabilityModel",
    "State",
    "StateTable",
    "Supervisor",
    "describe_base",
    "make_empty_model",
    "to_plain",
]
