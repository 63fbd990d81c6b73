"""Displays of fitted models: pictures of the tables, which need the extra ``plot``."""

from harmonium.report.displays.class_topics import ClassTopicsDisplay
from harmonium.report.displays.coverage import CoverageDisplay
from harmonium.report.displays.display import Display
from harmonium.report.displays.explained import ExplainedDisplay
from harmonium.report.displays.feature_weights import FeatureWeightsDisplay
from harmonium.report.displays.item_map import FactorsDisplay, MapDisplay
from harmonium.report.displays.retrieval import RetrievalDisplay
from harmonium.report.displays.sensitivity import SensitivityDisplay
from harmonium.report.displays.topics import TopicsDisplay
from harmonium.report.displays.usage import UsageDisplay

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
]
