"""The models of the papers by name: parts put together, without mathematics; one file per paper.

Each recipe returns an ordinary `Harmonium`, `HarmoniumClassifier` or `HarmoniumRegressor`. Keyword arguments that a
recipe does not name are passed on to it, and any part can be replaced. The defaults of 50 units, and of 100 where their
number is inferred, are conventions.
"""

from harmonium.recipes.bayesian import BDWH, BEFH
from harmonium.recipes.classic import EFH, RBM, DiscriminativeRBM
from harmonium.recipes.clusters import ClusterSpace
from harmonium.recipes.infinite import iEFH, iMMH
from harmonium.recipes.multiview import DWH, MMH, TWH, structDWH, structMMH
from harmonium.recipes.rate_adapting import RAP
from harmonium.recipes.topics import TopicModel

__all__ = [
    "BDWH",
    "BEFH",
    "DWH",
    "EFH",
    "MMH",
    "RAP",
    "RBM",
    "TWH",
    "ClusterSpace",
    "DiscriminativeRBM",
    "TopicModel",
    "iEFH",
    "iMMH",
    "structDWH",
    "structMMH",
]
