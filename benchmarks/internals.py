"""Parts of harmonium's inside that some benchmarks need: the only module here that imports what is not public.

Fitted estimators do not offer exact posteriors, known truths and single steps of learning.
"""

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters, bias_of
from harmonium.energy import Energy
from harmonium.estimators.problem import prepare
from harmonium.families.numerics.chain_states import chain_states
from harmonium.inference.ais import LogPartition, annealed_log_partition
from harmonium.inference.exact import exact_expectations, exact_log_partition
from harmonium.inference.gibbs import gibbs_step
from harmonium.inference.naive import naive_log_partition
from harmonium.inference.perfect import perfect_sample
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.kernels.runtime.threads import compute
from harmonium.model_folder.contents import Contents
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.tables.roles.measure import Measure
from harmonium.tables.strings import ngrams
from harmonium.training import Driver, Prior
from harmonium.training.drivers.run import Run
from harmonium.training.initialise import initial_parameters
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.state import Training
from harmonium.views.data import Data
from harmonium.weak.solvers.initial import speaking_candidates

__all__ = [
    "Batch",
    "Contents",
    "Data",
    "Driver",
    "Energy",
    "LogPartition",
    "MarkovChain",
    "Measure",
    "Parameters",
    "Posterior",
    "Prior",
    "Problem",
    "Run",
    "Statistics",
    "Training",
    "ViewBatch",
    "annealed_log_partition",
    "bias_of",
    "chain_states",
    "compute",
    "exact_expectations",
    "exact_log_partition",
    "gibbs_step",
    "initial_parameters",
    "naive_log_partition",
    "ngrams",
    "perfect_sample",
    "prepare",
    "pseudo_log_likelihood",
    "speaking_candidates",
]
