"""harmonium: one predictive, readable latent space from several kinds of data at once."""

from harmonium import recipes
from harmonium._version import __version__
from harmonium.estimators import Harmonium
from harmonium.exceptions import (
    DivergenceError,
    HarmoniumWarning,
    IncompatiblePartsError,
    InvalidViewError,
    ModelFileError,
)
from harmonium.families import (
    Bernoulli,
    Binomial,
    Categorical,
    Family,
    Gaussian,
    NegativeBinomial,
    Poisson,
    ReplicatedSoftmax,
)
from harmonium.hidden import BernoulliUnits, BinomialUnits, GaussianUnits, HiddenLayer
from harmonium.objectives import ExactLikelihood, MeanFieldCD, PersistentCD, SampledCD
from harmonium.persist import load_model as load
from harmonium.recipes import DWH, EFH, RAP, RBM
from harmonium.training import LBFGS, Adam, Momentum, Stochastic
from harmonium.views import Columns, Views

__all__ = [
    "DWH",
    "EFH",
    "LBFGS",
    "RAP",
    "RBM",
    "Adam",
    "Bernoulli",
    "BernoulliUnits",
    "Binomial",
    "BinomialUnits",
    "Categorical",
    "Columns",
    "DivergenceError",
    "ExactLikelihood",
    "Family",
    "Gaussian",
    "GaussianUnits",
    "Harmonium",
    "HarmoniumWarning",
    "HiddenLayer",
    "IncompatiblePartsError",
    "InvalidViewError",
    "MeanFieldCD",
    "ModelFileError",
    "Momentum",
    "NegativeBinomial",
    "PersistentCD",
    "Poisson",
    "ReplicatedSoftmax",
    "SampledCD",
    "Stochastic",
    "Views",
    "__version__",
    "load",
    "recipes",
]
