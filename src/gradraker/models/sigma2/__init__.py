"""Rules that choose σ² from the training rows."""

from gradraker.models.sigma2.measured_ranges import sigma2_ranges

__all__ = ["sigma2_ranges"]
