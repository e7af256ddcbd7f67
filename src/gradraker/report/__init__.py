"""What a user shows to others: a summary of a job as a dict, and a page made from it."""

from gradraker.report.explorer import build_explorer
from gradraker.report.html import render_predictions
from gradraker.report.summary import summarize_explanation, summarize_predictions, summarize_update
from gradraker.report.sweep import sweep_report, sweep_summary

__all__ = [
    "build_explorer",
    "render_predictions",
    "summarize_explanation",
    "summarize_predictions",
    "summarize_update",
    "sweep_report",
    "sweep_summary",
]
