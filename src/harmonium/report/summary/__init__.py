"""The summary of a model folder: one dict of plain JSON values, which the report is a template of.

Whoever wants another page, a slide or a dashboard builds on the dict alone; nothing of the page is decided here.
"""

from harmonium.report.summary.building import summarise

__all__ = ["summarise"]
