"""Hidden units with a strength from 0 to M."""

from __future__ import annotations

from typing import Literal

from harmonium.core.distributions import BinomialDistribution, Distribution
from harmonium.core.validation import Whole
from harmonium.hidden.layers.bounded import BoundedUnits


class BinomialUnits(BoundedUnits):
    """Hidden layer of units from 0 to M: an item has a topic to some degree.

    Parameters
    ----------
    M : int, default=10
        Number of trials: a unit acts as M binary units that share their weights. The default is a convention; the paper
        leaves M open.
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.
    weights : {"signed", "nonnegative"}, default="signed"
        Whether weights of views may have any sign, or units can only raise features. Topics of non-negative weights are
        made of what is there and not of what is absent, and are easier to read; training then starts from clusters of
        the items. Drivers that sample from a posterior need signed weights.
    activity : float, optional
        Mean of a unit over the items, as a share of its largest value, to which training moves the units' biases.
        Default: whatever the data ask for.

    References
    ----------
    Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object recognition.

    Examples
    --------
    >>> import numpy as np
    >>> BinomialUnits(M=4).mean(np.zeros((1, 1))).tolist()
    [[2.0]]
    """

    settings = {**BoundedUnits.settings, "M": Whole(remedy="try 10")}

    def __init__(
        self,
        M: int = 10,
        n_units: int | None = None,
        weights: Literal["signed", "nonnegative"] = "signed",
        activity: float | None = None,
    ) -> None:
        super().__init__(n_units, weights, activity)
        self.M = M

    @property
    def distribution(self) -> Distribution:
        """Distribution of the number of successes out of M trials."""
        return BinomialDistribution(self.M)
