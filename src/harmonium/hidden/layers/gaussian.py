"""Real-valued hidden units."""

from __future__ import annotations

import math

from harmonium.core.distributions import Distribution, NormalDistribution
from harmonium.core.validation import Number
from harmonium.hidden.base import HiddenLayer


class GaussianUnits(HiddenLayer):
    """Hidden layer of real units with mean s² · natural and a fixed variance s².

    Parameters
    ----------
    variance : float, default=1.0
        Conditional variance s². The default is that of Chen et al. (2012); another one only rescales units and weights.
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.

    Examples
    --------
    >>> import numpy as np
    >>> GaussianUnits(variance=2.0).mean(np.ones((1, 1))).tolist()
    [[2.0]]
    """

    settings = {**HiddenLayer.settings, "variance": Number(remedy="1.0 is usual")}
    linear_mean = True

    def __init__(self, variance: float = 1.0, n_units: int | None = None) -> None:
        super().__init__(n_units)
        self.variance = variance

    @property
    def distribution(self) -> Distribution:
        """Distribution of normal numbers with variance s²."""
        return NormalDistribution(math.log(self.variance))

    @property
    def conditional_variance(self) -> float:
        """Variance s² of a unit given its natural parameter."""
        return float(self.variance)
