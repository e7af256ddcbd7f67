"""Settings of the learning process, and its start."""

from dataclasses import dataclass
from multiprocessing.connection import Connection


@dataclass(frozen=True)
class LearnerSettings:
    """What the learning process needs to know."""

    journal: str
    folder: str  # for files of states
    largest_batch: int = 2000
    lease_seconds: float = 5.0
    snapshot_seconds: float = 60.0
    snapshot_changes: int = 5000
    poll_seconds: float = 0.25


def start_learner(settings: LearnerSettings, channel: Connection) -> None:
    """Run the learning process; the process that starts it does not load what this one needs."""
    from gradraker.live.learning.learner import run_learner

    run_learner(settings, channel)
