"""What a user shows to others: a summary of a job as a dict, and a page made from it."""

from gradraker.report.html import prediction_report
from gradraker.report.summary import prediction_summary
from gradraker.report.sweep import sweep_report, sweep_summary

__all__ = [
    "prediction_report",
    "prediction_summary",
    "sweep_report",
    "sweep_summary",
]
