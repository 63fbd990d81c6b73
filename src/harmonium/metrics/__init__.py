"""Measures of how well a latent space serves retrieval."""

from harmonium.metrics.retrieval import (
    RetrievalReport,
    area_under_recall_precision,
    average_precision,
    precision_at,
    recall_precision_curve,
    retrieval_report,
)

__all__ = [
    "RetrievalReport",
    "area_under_recall_precision",
    "average_precision",
    "precision_at",
    "recall_precision_curve",
    "retrieval_report",
]
