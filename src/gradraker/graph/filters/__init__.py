"""Graph filters: shifts, and value series passed through them."""

from gradraker.graph.filters.signals import FilteredSignals, filtered_signals

__all__ = ["FilteredSignals", "filtered_signals"]
