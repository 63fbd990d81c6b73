"""Hidden layers, one file each.

A new layer subclasses `HiddenLayer`. It returns the `Distribution` of a unit, or states the `Support` and all that
follows from the units' distribution itself.
"""

from harmonium.distributions import Distribution
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.bernoulli import BernoulliUnits
from harmonium.hidden.binomial import BinomialUnits
from harmonium.hidden.composed import ComposedUnits
from harmonium.hidden.factors import FactorUnits
from harmonium.hidden.gaussian import GaussianUnits
from harmonium.hidden.ibp import IBP
from harmonium.hidden.spike_slab import SpikeSlab
from harmonium.support import Support

__all__ = [
    "IBP",
    "BernoulliUnits",
    "BinomialUnits",
    "ComposedUnits",
    "Distribution",
    "FactorUnits",
    "GaussianUnits",
    "HiddenLayer",
    "SpikeSlab",
    "Support",
]
