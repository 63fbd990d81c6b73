"""Objectives: (parameters, batch) -> additive statistics."""

from harmonium.objectives.base import Objective, Problem
from harmonium.objectives.contrastive import MeanFieldCD, PersistentCD, SampledCD
from harmonium.objectives.discriminative import Discriminative
from harmonium.objectives.exact import ExactLikelihood
from harmonium.objectives.relevance import Relevance
from harmonium.objectives.statistics import Statistics

__all__ = [
    "Discriminative",
    "ExactLikelihood",
    "MeanFieldCD",
    "Objective",
    "PersistentCD",
    "Problem",
    "Relevance",
    "SampledCD",
    "Statistics",
]
