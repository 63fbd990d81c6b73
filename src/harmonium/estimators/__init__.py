"""The scikit-learn face."""

from harmonium.estimators.harmonium import Harmonium

__all__ = ["Harmonium"]
