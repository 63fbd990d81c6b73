"""Hidden layers, one file each in ``layers``.

A new layer subclasses `HiddenLayer`. It returns the `Distribution` of a unit, or states the `Support` and all that
follows from the units' distribution itself.
"""

from harmonium.core.distributions import Distribution
from harmonium.core.support import Support
from harmonium.hidden.base import HiddenLayer
from harmonium.hidden.layers.bernoulli import BernoulliUnits
from harmonium.hidden.layers.binomial import BinomialUnits
from harmonium.hidden.layers.composed import ComposedUnits
from harmonium.hidden.layers.factors import FactorUnits
from harmonium.hidden.layers.gaussian import GaussianUnits
from harmonium.hidden.layers.ibp import IBP
from harmonium.hidden.layers.spike_slab import SpikeSlab

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
