"""Metrics of the service, in the text format of Prometheus."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Counters:
    """Counters and gauges of the service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        options: Any = {"registry": self.registry}
        self.requests = Counter(
            "gradraker_requests", "Requests, by path and status", ["path", "status"], **options
        )
        self.seconds = Histogram(
            "gradraker_request_seconds", "Time to answer", ["path"], buckets=_BUCKETS, **options
        )
        self.changes = Counter("gradraker_changes", "Changes written to the journal", **options)
        self.predictions = Counter("gradraker_predictions", "Nodes predicted", ["kind"], **options)
        self.states = Counter("gradraker_states", "States taken over", **options)
        self.learner_starts = Counter(
            "gradraker_learner_starts", "Starts of the learner", **options
        )
        self.last_seq = Gauge("gradraker_journal_seq", "Number of the last change", **options)
        self.state_seq = Gauge("gradraker_state_seq", "Last change that was learned", **options)
        self.pending = Gauge("gradraker_pending_changes", "Changes not learned yet", **options)
        self.nodes = Gauge("gradraker_nodes", "Nodes of the graph", **options)
        self.known = Gauge("gradraker_known_nodes", "Nodes with known values", **options)
        self.listeners = Gauge("gradraker_listeners", "Clients that listen to events", **options)
        self.is_learning = Gauge(
            "gradraker_holds_lease", "1 if this process decides what is learned", **options
        )
        self.trouble = Gauge("gradraker_trouble", "1 while changes cannot be learned", **options)

    def to_text(self) -> bytes:
        """Return all metrics in the format of Prometheus."""
        return generate_latest(self.registry)
