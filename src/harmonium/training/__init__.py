"""Training: the only loops over data."""

from harmonium.training.base import Driver, Training
from harmonium.training.lbfgs import LBFGS
from harmonium.training.optimisers import Adam, Momentum, Optimiser
from harmonium.training.stochastic import Stochastic

__all__ = ["LBFGS", "Adam", "Driver", "Momentum", "Optimiser", "Stochastic", "Training"]
