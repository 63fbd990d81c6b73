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
from harmonium.recipes import BDWH, BEFH, DWH, EFH, MMH, RAP, RBM, TWH, DiscriminativeRBM, iEFH, iMMH
from harmonium.training import LBFGS, Adam, EmpiricalBayes, GaussianPrior, Langevin, Metropolis, Momentum, Stochastic
from harmonium.views import Columns, Views

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
    "Adam",
    "Bernoulli",
    "BernoulliUnits",
    "Binomial",
    "BinomialUnits",
    "Categorical",
    "Columns",
    "Discriminative",
    "DiscriminativeRBM",
    "DivergenceError",
    "EmpiricalBayes",
    "EpsilonInsensitive",
    "ExactLikelihood",
    "Family",
    "Gaussian",
    "GaussianPrior",
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
    "Langevin",
    "MeanFieldCD",
    "Metropolis",
    "ModelFileError",
    "Momentum",
    "MultiLabelHinge",
    "NegativeBinomial",
    "PersistentCD",
    "Poisson",
    "ReplicatedSoftmax",
    "SampledCD",
    "SpikeSlab",
    "Stochastic",
    "Views",
    "__version__",
    "iEFH",
    "iMMH",
    "load",
    "recipes",
]
