"""Public names of `harmonium` and their modules; `__init__.py` reads this file."""

from harmonium import weak
from harmonium._version import __version__
from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumMultiOutput, HarmoniumRegressor
from harmonium.exceptions import HarmoniumWarning
from harmonium.families import Bernoulli, Categorical, Gaussian, Poisson
from harmonium.heads import EpsilonInsensitive, Hinge
from harmonium.hidden import IBP
from harmonium.loading import load
from harmonium.model_folder import ModelFolder, fit_folder
from harmonium.recipes import (
    BDWH,
    BEFH,
    DWH,
    EFH,
    MMH,
    RAP,
    RBM,
    TWH,
    ClusterSpace,
    DiscriminativeRBM,
    TopicModel,
    iEFH,
    iMMH,
    structDWH,
    structMMH,
)
from harmonium.tables import TableViews
from harmonium.training import LBFGS, Langevin, Stochastic
from harmonium.views import Columns, Sequences, Shards, Tokens, Views

__all__ = [
    "BDWH",
    "BEFH",
    "DWH",
    "EFH",
    "IBP",
    "LBFGS",
    "MMH",
    "RAP",
    "RBM",
    "TWH",
    "Bernoulli",
    "Categorical",
    "ClusterSpace",
    "Columns",
    "DiscriminativeRBM",
    "EpsilonInsensitive",
    "Gaussian",
    "Harmonium",
    "HarmoniumClassifier",
    "HarmoniumMultiOutput",
    "HarmoniumRegressor",
    "HarmoniumWarning",
    "Hinge",
    "Langevin",
    "ModelFolder",
    "Poisson",
    "Sequences",
    "Shards",
    "Stochastic",
    "TableViews",
    "Tokens",
    "TopicModel",
    "Views",
    "__version__",
    "fit_folder",
    "iEFH",
    "iMMH",
    "load",
    "structDWH",
    "structMMH",
    "weak",
]
