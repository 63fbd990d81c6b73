"""Fitted arrays of heads, as files keep them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Constants = Mapping[str, np.ndarray]


def constant(constants: Constants, name: str, length: int) -> np.ndarray:
    """Return an array that a file kept; raise a ValueError unless it is ``length`` finite numbers."""
    value = constants.get(name)
    if value is None or value.shape != (length,) or not np.isfinite(value).all():
        raise ValueError(f"{name} of the head must be finite numbers of shape ({length},)")
    return value
