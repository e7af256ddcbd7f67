"""Figures of results. matplotlib is imported only when one is drawn."""

from gradraker.plotting.values import PredictedValuesDisplay

__all__ = ["PredictedValuesDisplay"]
