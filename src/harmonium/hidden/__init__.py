"""Hidden layers: one file each."""

from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.bernoulli import BernoulliUnits
from harmonium.hidden.binomial import BinomialUnits
from harmonium.hidden.gaussian import GaussianUnits

__all__ = ["BernoulliUnits", "BinomialUnits", "GaussianUnits", "HiddenLayer"]
