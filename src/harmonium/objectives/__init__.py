"""Objectives: (parameters, batch) -> additive statistics."""

from harmonium.objectives.base import Objective
from harmonium.objectives.contrastive import MeanFieldCD, PersistentCD, SampledCD
from harmonium.objectives.discriminative import Discriminative
from harmonium.objectives.exact import ExactLikelihood
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics

__all__ = [
    "Discriminative",
    "ExactLikelihood",
    "MeanFieldCD",
    "Objective",
    "PersistentCD",
    "Problem",
    "SampledCD",
    "Statistics",
]
