"""The papers' models by name: parts put together, no maths; one file per paper.

Each recipe returns an ordinary `Harmonium`, `HarmoniumClassifier` or `HarmoniumRegressor`; keyword arguments that are
not named here go to it, and any part can be replaced.
"""

from harmonium.recipes.bayesian import BDWH, BEFH
from harmonium.recipes.classic import EFH, RBM, DiscriminativeRBM
from harmonium.recipes.infinite import iEFH, iMMH
from harmonium.recipes.multiview import DWH, MMH, TWH, structDWH, structMMH
from harmonium.recipes.rate_adapting import RAP

__all__ = [
    "BDWH",
    "BEFH",
    "DWH",
    "EFH",
    "MMH",
    "RAP",
    "RBM",
    "TWH",
    "DiscriminativeRBM",
    "iEFH",
    "iMMH",
    "structDWH",
    "structMMH",
]
