"""Objectives: (parameters, batch) -> additive statistics. `problem` and `statistics` hold what they work on."""

from harmonium.objectives.base import Objective
from harmonium.objectives.contrastive import MeanFieldCD, PersistentCD, SampledCD
from harmonium.objectives.discriminative import Discriminative
from harmonium.objectives.exact import ExactLikelihood

__all__ = ["Discriminative", "ExactLikelihood", "MeanFieldCD", "Objective", "PersistentCD", "SampledCD"]
