"""Measures of how well a latent space serves retrieval, annotation and classification, and how classes use it."""

from harmonium.metrics.annotation import AnnotationReport, annotation_report, f1_at
from harmonium.metrics.calibration import brier_score, expected_calibration_error
from harmonium.metrics.retrieval import (
    RetrievalReport,
    area_under_recall_precision,
    average_precision,
    precision_at,
    recall_precision_curve,
    retrieval_report,
)
from harmonium.metrics.topics import average_divergence, class_topic_distribution, topic_distribution

__all__ = [
    "AnnotationReport",
    "RetrievalReport",
    "annotation_report",
    "area_under_recall_precision",
    "average_divergence",
    "average_precision",
    "brier_score",
    "class_topic_distribution",
    "expected_calibration_error",
    "f1_at",
    "precision_at",
    "recall_precision_curve",
    "retrieval_report",
    "topic_distribution",
]
