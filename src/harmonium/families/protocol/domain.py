"""Domains of natural parameters: where log-partitions are finite and float32 means are neither 0 nor infinite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.core.support import Support
from harmonium.families.protocol.extra_parameters import Extra


@dataclass(frozen=True)
class Domain:
    """Natural parameters that a family allows, and those that training keeps to.

    Parameters
    ----------
    lower, upper : float, default=-30.0, 30.0
        Limits to which `clamp` keeps natural parameters before means are formed. Beyond them float32 means become
        denormal numbers, which make matrix products about twenty times slower on some processors, or overflow. The
        exact energy never clamps.
    needs_bounded_units : str, default=""
        Why the partition function is infinite with units that have no largest value, whatever the non-zero weights, and
        what to use instead; empty if it need not be.

    Notes
    -----
    The limits of ±30 are a convention: e⁻³⁰ is about 1e-13, far above the smallest normal float32 of about 1e-38, so
    that products of several means are not denormal either.

    Examples
    --------
    >>> Domain(upper=12.0).clamp(np.array([[-40.0, 40.0]])).tolist()
    [[-30.0, 12.0]]
    """

    lower: float = -30.0
    upper: float = 30.0
    needs_bounded_units: str = ""

    def conflict(self, units: Support) -> str | None:
        """Return why the family cannot be normalised with such hidden units.

        Parameters
        ----------
        units : Support
            Values that a hidden unit may take.

        Returns
        -------
        str or None
            The reason, and what to use instead; None if there is no such reason.
        """
        return None if units.bounded else self.needs_bounded_units or None

    def clamp(self, natural: np.ndarray) -> np.ndarray:
        """Clip natural parameters, in place, to the limits.

        Parameters
        ----------
        natural : ndarray of shape (rows, features)
            Natural parameters.

        Returns
        -------
        ndarray of shape (rows, features)
            The same array.
        """
        # not np.clip, whose Python takes longer than the arithmetic of a few thousand cells
        return np.minimum(np.maximum(natural, self.lower, out=natural), self.upper, out=natural)

    def project(self, weights: np.ndarray, bias: np.ndarray, units: Support) -> None:
        """Move parameters, in place, to where all natural parameters are allowed.

        Drivers call it after each step. Afterwards the natural parameters must lie where the log-partition is finite,
        whatever the values of the hidden units.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights of the view.
        bias : ndarray of shape (features,)
            Bias of the view.
        units : Support
            Values that a hidden unit may take.
        """

    def curvature(self, weights: np.ndarray, extra: Extra) -> np.ndarray | None:
        """Return how fast the log-partitions grow with the square of the hidden units.

        It is only asked for if hidden units have no largest value: their own term -h² / 2s² must outweigh that growth,
        or the model has no finite partition function.

        Parameters
        ----------
        weights : ndarray of shape (features, units)
            Weights of the view.
        extra : mapping of str to ndarray
            Extra parameters of the family.

        Returns
        -------
        ndarray of shape (units, units), or None
            The matrix G if log-partitions grow as hᵀ G h / 2; None if they grow more slowly than any square.
        """
        return None
