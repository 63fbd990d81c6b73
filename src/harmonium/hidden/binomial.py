"""Topics with a strength from 0 to M."""

from __future__ import annotations

from harmonium.hidden.base import HiddenLayer
from harmonium.laws import BinomialLaw, Law
from harmonium.validation import Whole


class BinomialUnits(HiddenLayer):
    """Units 0 … M: the topics of the Rate Adapting Poisson model (Gehler et al. 2006).

    Parameters
    ----------
    M : int, default=10
        Number of trials: a unit acts as M binary units that share their weights.
    n_units : int, optional
        Number of units; default: the estimator's ``n_components``.

    Examples
    --------
    >>> import numpy as np
    >>> BinomialUnits(M=4).mean(np.zeros((1, 1))).tolist()
    [[2.0]]
    """

    settings = {**HiddenLayer.settings, "M": Whole(remedy="try 10")}

    def __init__(self, M: int = 10, n_units: int | None = None) -> None:
        super().__init__(n_units)
        self.M = M

    @property
    def law(self) -> Law:
        """Successes out of M trials."""
        return BinomialLaw(self.M)
