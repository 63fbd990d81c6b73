"""Tables of fitted models, as data frames."""

from harmonium.report.tables.covariates import covariate_table
from harmonium.report.tables.coverage import coverage_table
from harmonium.report.tables.decisions import decision_table
from harmonium.report.tables.effects import effect_table, prevalence_table, trend_table
from harmonium.report.tables.explained import explained_table
from harmonium.report.tables.item_topics import document_topics
from harmonium.report.tables.latent import latent_means
from harmonium.report.tables.quality import quality_table
from harmonium.report.tables.sensitivity import sensitivity_table
from harmonium.report.tables.similar_topics import near_duplicates, topic_tree
from harmonium.report.tables.topics import class_profiles, class_table, feature_table, topic_labels, topic_table
from harmonium.report.tables.usage import feature_examples, usage_table
from harmonium.report.tables.word_shifts import word_shift_table

__all__ = [
    "class_profiles",
    "class_table",
    "covariate_table",
    "coverage_table",
    "decision_table",
    "document_topics",
    "effect_table",
    "explained_table",
    "feature_examples",
    "feature_table",
    "latent_means",
    "near_duplicates",
    "prevalence_table",
    "quality_table",
    "sensitivity_table",
    "topic_labels",
    "topic_table",
    "topic_tree",
    "trend_table",
    "usage_table",
    "word_shift_table",
]
