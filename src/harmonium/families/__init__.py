"""Families of views, one file each.

A new family subclasses `Family`. It returns a `Distribution` if its features are independent, and states its `Support`,
from which input is checked, messages are worded and test input is drawn. What else it has to say is the matter of small
objects that it carries: `Codec`, `Domain`, `ExtraParameters` and `Length`.
"""

from harmonium.core.distributions import Distribution
from harmonium.core.support import Support
from harmonium.families.balanced import Balanced
from harmonium.families.base import Family
from harmonium.families.bernoulli import Bernoulli
from harmonium.families.beta import Beta
from harmonium.families.binomial import Binomial
from harmonium.families.categorical import Categorical
from harmonium.families.gaussian import Gaussian
from harmonium.families.mrf.chain import Chain
from harmonium.families.mrf.edges import grid_edges
from harmonium.families.mrf.gaussian_mrf import GaussianMRF
from harmonium.families.mrf.ising import Ising
from harmonium.families.mrf.potts import Potts
from harmonium.families.mrf.structure import learn_edges
from harmonium.families.negative_binomial import NegativeBinomial
from harmonium.families.poisson import Poisson
from harmonium.families.protocol.codec import Codec
from harmonium.families.protocol.domain import Domain
from harmonium.families.protocol.extra_parameters import ExtraParameters
from harmonium.families.protocol.length import Length
from harmonium.families.replicated_softmax import ReplicatedSoftmax

__all__ = [
    "Balanced",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Chain",
    "Codec",
    "Distribution",
    "Domain",
    "ExtraParameters",
    "Family",
    "Gaussian",
    "GaussianMRF",
    "Ising",
    "Length",
    "NegativeBinomial",
    "Poisson",
    "Potts",
    "ReplicatedSoftmax",
    "Support",
    "grid_edges",
    "learn_edges",
]
