"""Hidden layers: one file each."""

from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.bernoulli import BernoulliUnits
from harmonium.hidden.binomial import BinomialUnits
from harmonium.hidden.gaussian import GaussianUnits
from harmonium.hidden.ibp import IBP
from harmonium.hidden.spike_slab import SpikeSlab

__all__ = ["IBP", "BernoulliUnits", "BinomialUnits", "GaussianUnits", "HiddenLayer", "SpikeSlab"]
