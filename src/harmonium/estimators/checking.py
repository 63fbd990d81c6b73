"""Check that something is a fitted model."""

from __future__ import annotations

from typing import Any

from harmonium.core.validation import check_fitted
from harmonium.estimators.harmonium import Harmonium


def check_model(model: Any) -> None:
    """Refuse what is not a fitted model of this library."""
    if not isinstance(model, Harmonium):
        raise TypeError(
            f"model must be a fitted Harmonium, HarmoniumClassifier or HarmoniumRegressor; got {type(model).__name__}; "
            "pass the last step of a pipeline, with data as that step gets them."
        )
    check_fitted(model)
