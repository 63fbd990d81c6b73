"""The estimators: harmoniums as scikit-learn knows them."""

from harmonium.estimators.classifier import HarmoniumClassifier
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.merging import merge_duplicates
from harmonium.estimators.regressor import HarmoniumRegressor
from harmonium.estimators.stability import bootstrap_stability

__all__ = ["Harmonium", "HarmoniumClassifier", "HarmoniumRegressor", "bootstrap_stability", "merge_duplicates"]
