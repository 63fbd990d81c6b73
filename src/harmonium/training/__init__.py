"""Training: the only loops over data. Drivers, optimizers and priors are parts; a fit returns a `FittedModel`."""

from harmonium.training.distributed.driver import Distributed
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.lbfgs import LBFGS
from harmonium.training.drivers.optimizers import Adam, Momentum, Optimizer
from harmonium.training.drivers.run import Run
from harmonium.training.drivers.spectral import Spectral
from harmonium.training.drivers.stochastic import Stochastic
from harmonium.training.posterior.adjusted import AdjustedLangevin
from harmonium.training.posterior.langevin import Langevin
from harmonium.training.posterior.metropolis import Metropolis
from harmonium.training.posterior.priors import (
    EmpiricalBayes,
    GaussianPrior,
    HierarchicalPrior,
    JointEmpiricalBayes,
    Prior,
)
from harmonium.training.result import FittedModel

__all__ = [
    "LBFGS",
    "Adam",
    "AdjustedLangevin",
    "Distributed",
    "Driver",
    "EmpiricalBayes",
    "FittedModel",
    "GaussianPrior",
    "HierarchicalPrior",
    "JointEmpiricalBayes",
    "Langevin",
    "Metropolis",
    "Momentum",
    "Optimizer",
    "Prior",
    "Run",
    "Spectral",
    "Stochastic",
]
