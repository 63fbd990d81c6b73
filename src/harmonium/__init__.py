"""harmonium: one predictive, readable latent space from several kinds of data at once."""

from harmonium import recipes
from harmonium._version import __version__
from harmonium.estimators import Harmonium, HarmoniumClassifier, HarmoniumRegressor
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
    Chain,
    Family,
    Gaussian,
    NegativeBinomial,
    Poisson,
    ReplicatedSoftmax,
)
from harmonium.heads import EpsilonInsensitive, Head, Hinge, LabelView, MultiLabelHinge
from harmonium.hidden import IBP, BernoulliUnits, BinomialUnits, GaussianUnits, HiddenLayer, SpikeSlab
from harmonium.objectives import Discriminative, ExactLikelihood, MeanFieldCD, PersistentCD, SampledCD
from harmonium.persist import load_model as load
from harmonium.recipes import DWH, EFH, MMH, RAP, RBM, TWH, DiscriminativeRBM, iEFH, iMMH, structDWH, structMMH
from harmonium.training import LBFGS, Adam, Momentum, Stochastic
from harmonium.views import Columns, Sequences, Views

__all__ = [
    "DWH",
    "EFH",
    "IBP",
    "LBFGS",
    "MMH",
    "RAP",
    "RBM",
    "TWH",
    "Adam",
    "Bernoulli",
    "BernoulliUnits",
    "Binomial",
    "BinomialUnits",
    "Categorical",
    "Chain",
    "Columns",
    "Discriminative",
    "DiscriminativeRBM",
    "DivergenceError",
    "EpsilonInsensitive",
    "ExactLikelihood",
    "Family",
    "Gaussian",
    "GaussianUnits",
    "Harmonium",
    "HarmoniumClassifier",
    "HarmoniumRegressor",
    "HarmoniumWarning",
    "Head",
    "HiddenLayer",
    "Hinge",
    "IncompatiblePartsError",
    "InvalidViewError",
    "LabelView",
    "MeanFieldCD",
    "ModelFileError",
    "Momentum",
    "MultiLabelHinge",
    "NegativeBinomial",
    "PersistentCD",
    "Poisson",
    "ReplicatedSoftmax",
    "SampledCD",
    "Sequences",
    "SpikeSlab",
    "Stochastic",
    "Views",
    "__version__",
    "iEFH",
    "iMMH",
    "load",
    "recipes",
    "structDWH",
    "structMMH",
]
