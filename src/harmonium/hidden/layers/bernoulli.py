"""Binary hidden units."""

from __future__ import annotations

from harmonium.core.distributions import BernoulliDistribution, Distribution
from harmonium.hidden.layers.bounded import BoundedUnits


class BernoulliUnits(BoundedUnits):
    """Hidden layer of binary units: an item has a topic or it does not.

    Parameters
    ----------
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.
    weights : {"signed", "nonnegative"}, default="signed"
        Whether weights of views may have any sign, or units can only raise features. Topics of non-negative weights are
        made of what is there and not of what is absent, and are easier to read; training then starts from clusters of
        the items. Drivers that sample from a posterior need signed weights.
    activity : float, optional
        Mean of a unit over the items, as a share of its largest value, to which training moves the units' biases.
        Default: whatever the data ask for.

    Examples
    --------
    >>> import numpy as np
    >>> BernoulliUnits().mean(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """

    @property
    def distribution(self) -> Distribution:
        """Distribution of a coin flip."""
        return BernoulliDistribution()
