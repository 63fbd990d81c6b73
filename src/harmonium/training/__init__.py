"""Training: the only loops over data. Drivers, optimisers and priors are parts; a fit returns a `FittedModel`."""

from harmonium.training.adjusted import AdjustedLangevin
from harmonium.training.base import Driver
from harmonium.training.distributed import Distributed
from harmonium.training.fitted import FittedModel
from harmonium.training.langevin import Langevin
from harmonium.training.lbfgs import LBFGS
from harmonium.training.metropolis import Metropolis
from harmonium.training.optimisers import Adam, Momentum, Optimiser
from harmonium.training.priors import EmpiricalBayes, GaussianPrior, JointEmpiricalBayes, Prior
from harmonium.training.spectral import Spectral
from harmonium.training.stochastic import Stochastic

__all__ = [
    "LBFGS",
    "Adam",
    "AdjustedLangevin",
    "Distributed",
    "Driver",
    "EmpiricalBayes",
    "FittedModel",
    "GaussianPrior",
    "JointEmpiricalBayes",
    "Langevin",
    "Metropolis",
    "Momentum",
    "Optimiser",
    "Prior",
    "Spectral",
    "Stochastic",
]
