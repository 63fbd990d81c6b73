"""From the summary of a model folder to a page: one HTML file that loads nothing and runs no script."""

from harmonium.report.page.rendering import render_report, write_report

__all__ = ["render_report", "write_report"]
