"""Reports of a job: a summary as a dict, and a page made from it."""

from gradraker.report.answers import (
    summarize_bank,
    summarize_explanation,
    summarize_series,
    summarize_targets,
    summarize_update,
)
from gradraker.report.explorer import build_explorer
from gradraker.report.html import render_predictions, render_targets
from gradraker.report.summary import summarize_predictions
from gradraker.report.sweep import render_sweep, summarize_sweep

__all__ = [
    "build_explorer",
    "render_predictions",
    "render_sweep",
    "render_targets",
    "summarize_bank",
    "summarize_explanation",
    "summarize_predictions",
    "summarize_series",
    "summarize_sweep",
    "summarize_targets",
    "summarize_update",
]
