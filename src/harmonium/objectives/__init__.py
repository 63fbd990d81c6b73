"""Objectives: (parameters, batch) -> additive statistics."""

from harmonium.objectives.base import Objective, Problem
from harmonium.objectives.contrastive import MeanFieldCD, PersistentCD, SampledCD
from harmonium.objectives.exact import ExactLikelihood
from harmonium.objectives.statistics import Statistics

__all__ = ["ExactLikelihood", "MeanFieldCD", "Objective", "PersistentCD", "Problem", "SampledCD", "Statistics"]
