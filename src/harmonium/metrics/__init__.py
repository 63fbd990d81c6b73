"""Measures of a latent space: retrieval, annotation, calibration, use by classes, topics, and convergence of chains;
and of predictions where some targets are unknown.
"""

from harmonium.metrics.annotation import AnnotationReport, annotation_report, f1_at
from harmonium.metrics.calibration import expected_calibration_error
from harmonium.metrics.coherence import topic_coherence, topic_diversity, topic_stability
from harmonium.metrics.convergence import effective_sample_size, split_r_hat
from harmonium.metrics.couplings import CouplingErrors, coupling_errors
from harmonium.metrics.retrieval import (
    RetrievalReport,
    area_under_recall_precision,
    average_precision,
    precision_at,
    recall_precision_curve,
    retrieval_report,
)
from harmonium.metrics.topics import average_divergence, class_topic_distribution, topic_distribution
from harmonium.metrics.unknown_cells import ignoring_unknown

__all__ = [
    "AnnotationReport",
    "CouplingErrors",
    "RetrievalReport",
    "annotation_report",
    "area_under_recall_precision",
    "average_divergence",
    "average_precision",
    "class_topic_distribution",
    "coupling_errors",
    "effective_sample_size",
    "expected_calibration_error",
    "f1_at",
    "ignoring_unknown",
    "precision_at",
    "recall_precision_curve",
    "retrieval_report",
    "split_r_hat",
    "topic_coherence",
    "topic_distribution",
    "topic_diversity",
    "topic_stability",
]
