"""Rule by which a layer selects its units: the one here is for layers all of whose units every item has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from harmonium.hidden.selection.selection import Selection, SelectionContext

if TYPE_CHECKING:
    from harmonium.hidden.base import HiddenLayer
    from harmonium.hidden.selection.prior import BetaBernoulliPrior


class SelectionRule:
    """Rule of a layer that uses all its units: nothing is counted, and nothing is done about them.

    Parameters
    ----------
    layer : HiddenLayer
        The layer, fitted.

    Examples
    --------
    >>> from harmonium import IBP
    >>> from harmonium.hidden import BernoulliUnits
    >>> BernoulliUnits().selection.selects, IBP().selection.selects
    (False, True)
    """

    def __init__(self, layer: HiddenLayer) -> None:
        self.layer = layer

    @property
    def prior(self) -> BetaBernoulliPrior | None:
        """Prior of the use of units, from which units grow where they are needed; None if there is none."""
        return None

    @property
    def activity(self) -> float | None:
        """Mean of a unit over the items to which training moves its bias, as a share of its largest value, if any."""
        return None

    @property
    def selects(self) -> bool:
        """Whether units that the data do not ask for are removed at the end of a fit."""
        return self.prior is not None

    def presence(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray:
        """Return the probability that a row has each unit.

        Parameters
        ----------
        natural : ndarray of shape (rows, units)
            Natural parameters.
        mean : ndarray of shape (rows, units), optional
            Means at these natural parameters, which saves work where they are known.

        Returns
        -------
        ndarray of shape (rows, units)
            Probabilities; for layers whose units every row has, the means.
        """
        return self.layer.mean(natural) if mean is None else mean

    def counts(self, natural: np.ndarray, mean: np.ndarray | None = None) -> np.ndarray | float:
        """Return the sum over rows of what a `Selection` learns from.

        Parameters
        ----------
        natural, mean : ndarray of shape (rows, units)
            As for `presence`.

        Returns
        -------
        ndarray of shape (units,), or float
            How many rows have each unit; 0 if nothing is learned.
        """
        return 0.0

    def start(self, context: SelectionContext) -> Selection:
        """Return what is done about units during training, besides following gradients.

        Parameters
        ----------
        context : SelectionContext
            What there is to know about the model and its data.

        Returns
        -------
        Selection
            By default one that does nothing.
        """
        return Selection()

    def remark(self, n_found: int) -> str | None:
        """Return what the user should know about the number of units that were found.

        Parameters
        ----------
        n_found : int
            Number of units that the data ask for.

        Returns
        -------
        str or None
            One sentence; None if there is nothing to say.
        """
        return None
