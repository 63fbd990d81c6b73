"""The estimators: harmoniums as scikit-learn knows them."""

from harmonium.estimators.classifier import HarmoniumClassifier
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.multi_output import HarmoniumMultiOutput
from harmonium.estimators.regressor import HarmoniumRegressor

__all__ = ["Harmonium", "HarmoniumClassifier", "HarmoniumMultiOutput", "HarmoniumRegressor"]
