"""Reports on fitted models: tables (data frames), displays (pictures, extra ``plot``), and the page of a model folder.

A subject has a module of the same name in each room: `tables/usage.py` computes what `displays/usage.py` draws.
Default numbers of features, items and topics are conventions: as many as one can read.

Examples
--------
>>> import numpy as np
>>> from harmonium import Harmonium, Stochastic
>>> from harmonium.report import TopicsDisplay, topic_table
>>> model = Harmonium(n_components=2, driver=Stochastic(max_iter=2)).fit({"words": np.tile(np.eye(3), (4, 1))})
>>> topic_table(model, n_features=2).shape
(2, 1)
>>> display = TopicsDisplay.from_estimator(model)
>>> type(display.figure_).__name__  # display.figure_.savefig("topics.png")
'Figure'
"""

from harmonium.report.annotated_data import annotate
from harmonium.report.displays import (
    ClassTopicsDisplay,
    CoverageDisplay,
    Display,
    ExplainedDisplay,
    FactorsDisplay,
    FeatureWeightsDisplay,
    MapDisplay,
    RetrievalDisplay,
    SensitivityDisplay,
    TopicsDisplay,
    UsageDisplay,
)
from harmonium.report.exchange import document_info, pyldavis_inputs, topic_info
from harmonium.report.page import render_report, write_report
from harmonium.report.summary import summarise
from harmonium.report.tables import (
    class_profiles,
    class_table,
    covariate_table,
    coverage_table,
    decision_table,
    document_topics,
    effect_table,
    explained_table,
    feature_examples,
    feature_table,
    latent_means,
    near_duplicates,
    prevalence_table,
    quality_table,
    sensitivity_table,
    topic_labels,
    topic_table,
    topic_tree,
    trend_table,
    usage_table,
    word_shift_table,
)

__all__ = [
    "ClassTopicsDisplay",
    "CoverageDisplay",
    "Display",
    "ExplainedDisplay",
    "FactorsDisplay",
    "FeatureWeightsDisplay",
    "MapDisplay",
    "RetrievalDisplay",
    "SensitivityDisplay",
    "TopicsDisplay",
    "UsageDisplay",
    "annotate",
    "class_profiles",
    "class_table",
    "covariate_table",
    "coverage_table",
    "decision_table",
    "document_info",
    "document_topics",
    "effect_table",
    "explained_table",
    "feature_examples",
    "feature_table",
    "latent_means",
    "near_duplicates",
    "prevalence_table",
    "pyldavis_inputs",
    "quality_table",
    "render_report",
    "sensitivity_table",
    "summarise",
    "topic_info",
    "topic_labels",
    "topic_table",
    "topic_tree",
    "trend_table",
    "usage_table",
    "word_shift_table",
    "write_report",
]
