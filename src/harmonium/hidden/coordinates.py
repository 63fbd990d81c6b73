"""Coordinates of units that may be exchanged for linear combinations of them: those that are simple to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harmonium.kernels.rotation import promax, varimax

#: rotations of loadings to what is simple, by name
ROTATIONS: dict[str | None, Callable[[np.ndarray], np.ndarray]] = {
    "varimax": varimax,
    "promax": promax,
    None: lambda loadings: np.linalg.svd(loadings, full_matrices=False)[2].T,
}


@dataclass(frozen=True)
class Coordinates:
    """Coordinates that a layer asks for at the end of a fit.

    Attributes
    ----------
    rotation : str or None
        Which of the `ROTATIONS` makes them simple.
    balances_views : bool
        Whether loadings are in the units of the data, with views of the same total variance; else they are those of
        standardised features.
    """

    rotation: str | None
    balances_views: bool

    def matrix(self, loadings: np.ndarray) -> np.ndarray:
        """Return the matrix B by which units h become f: h = B f, in the order of the variance that they explain.

        Parameters
        ----------
        loadings : ndarray of shape (features, units)
            How much each feature changes with each unit, on a scale on which features can be compared. Over the
            training rows, expectations of the units are uncorrelated and have variance 1.

        Returns
        -------
        ndarray of shape (units, units)
            An invertible matrix, with signs for which the largest loading of each unit is positive.
        """
        matrix = ROTATIONS[self.rotation](loadings)
        turned = loadings @ matrix
        order = np.argsort(-np.square(turned).sum(axis=0), kind="stable")
        largest = np.take_along_axis(turned, np.abs(turned).argmax(axis=0)[None, :], axis=0)[0]
        return np.asarray((matrix * np.where(largest < 0, -1.0, 1.0))[:, order])
