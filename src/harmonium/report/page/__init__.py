"""The page of a report: one HTML file that loads nothing and runs no script, made of the summary."""

from harmonium.report.page.rendering import render_report, write_report

__all__ = ["render_report", "write_report"]
