"""Parts of harmonium's inside that some benchmarks need: the only module here that imports what is not public.

Fitted estimators do not offer exact posteriors, known truths and single steps of learning.
"""

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters, bias_of
from harmonium.energy import Energy
from harmonium.estimators.problem import prepare
from harmonium.inference.ais import LogPartition, annealed_log_partition
from harmonium.inference.exact import exact_expectations, exact_log_partition
from harmonium.inference.gibbs import gibbs_step
from harmonium.inference.naive import naive_log_partition
from harmonium.inference.perfect import perfect_sample
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.kernels.runtime.threads import compute
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.training import Driver, Prior
from harmonium.training.drivers.run import Run
from harmonium.training.state import Training
from harmonium.views.data import Data
from harmonium.weak.solvers.initial import speaking_candidates

__all__ = [
    "Batch",
    "Data",
    "Driver",
    "Energy",
    "LogPartition",
    "Parameters",
    "Prior",
    "Problem",
    "Run",
    "Statistics",
    "Training",
    "ViewBatch",
    "annealed_log_partition",
    "bias_of",
    "compute",
    "exact_expectations",
    "exact_log_partition",
    "gibbs_step",
    "naive_log_partition",
    "perfect_sample",
    "prepare",
    "pseudo_log_likelihood",
    "speaking_candidates",
]
