"""What fitted models have learned, as tables (data frames) and as displays (pictures, which need the extra ``plot``).

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

from harmonium.report.alike import near_duplicates, topic_tree
from harmonium.report.annotating import annotate
from harmonium.report.covariates import covariate_table
from harmonium.report.coverage import CoverageDisplay, coverage_table
from harmonium.report.decisions import decision_table
from harmonium.report.displays import ClassTopicsDisplay, ExplainedDisplay, FeatureWeightsDisplay
from harmonium.report.displays_curves import RetrievalDisplay, SensitivityDisplay
from harmonium.report.displays_map import FactorsDisplay, MapDisplay
from harmonium.report.displays_topics import TopicsDisplay
from harmonium.report.displays_usage import UsageDisplay
from harmonium.report.drawing import Display
from harmonium.report.explained import explained_table
from harmonium.report.items import document_topics
from harmonium.report.labels import topic_labels
from harmonium.report.latent import latent_means
from harmonium.report.page import render_report, write_report
from harmonium.report.sensitivity import sensitivity_table
from harmonium.report.summary import summarise
from harmonium.report.tables import class_profiles, class_table, feature_table, topic_table
from harmonium.report.usage import feature_examples, usage_table

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
    "document_topics",
    "explained_table",
    "feature_examples",
    "feature_table",
    "latent_means",
    "near_duplicates",
    "render_report",
    "sensitivity_table",
    "summarise",
    "topic_labels",
    "topic_table",
    "topic_tree",
    "usage_table",
    "write_report",
]
