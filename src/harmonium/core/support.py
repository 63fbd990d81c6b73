"""The support of a family or hidden layer, stated as data.

One statement serves for checking input, for wording error messages, for drawing test input and for enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit


@dataclass(frozen=True)
class Support:
    """Set of values that a variable may take.

    Parameters
    ----------
    description : str
        The set in words, as error messages put it.
    lower, upper : float, default=-inf, inf
        Smallest and largest value, both included unless the set is ``open``.
    integer : bool, default=False
        Whether only whole numbers belong to the set.
    atom : bool, default=False
        Whether the value 0 has a probability of its own among real numbers, as it has for units that may be switched
        off.
    open : bool, default=False
        Whether real numbers may come as near to ``lower`` and ``upper`` as they like without being one of them.
    whole_rows : bool, default=False
        Whether a row of a view is observed or missing as a whole.
    data : {"matrix", "sequences"}, default="matrix"
        What the items of a view are: rows of a matrix, or `Sequences` of rows, whose number is then the size of an
        item.
    remedy : str, default="transform the view first"
        What to do about data outside the set, in words that complete "pass another family, or …".

    Examples
    --------
    >>> counts = Support("whole numbers from 0 up", lower=0, integer=True)
    >>> counts.contains(np.array([0.0, 3.0, -1.0, 0.5])).tolist()
    [True, True, False, False]
    """

    description: str
    lower: float = -np.inf
    upper: float = np.inf
    integer: bool = False
    atom: bool = False
    open: bool = False
    whole_rows: bool = False
    data: Literal["matrix", "sequences"] = "matrix"
    remedy: str = "transform the view first"

    @property
    def bounded(self) -> bool:
        """Whether there is a largest value."""
        return bool(np.isfinite(self.upper))

    def contains(self, values: np.ndarray) -> np.ndarray:
        """Tell which values lie in the support.

        Parameters
        ----------
        values : ndarray
            Numbers. NaN lies in no support; missing cells are taken out before.

        Returns
        -------
        ndarray of bool
            An array of the same shape.
        """
        inside = (values >= self.lower) & (values <= self.upper) & np.isfinite(values)
        if self.integer:
            inside &= np.equal(np.floor(values), values)
        if self.open:
            inside &= (values != self.lower) & (values != self.upper)
        return inside

    def grid(self, truncation: int = 80, width: float = 14.0, points: int = 281) -> tuple[np.ndarray, np.ndarray]:
        """Return values to sum a density over, and the logarithms of their weights.

        The sum is exact where the support is finite. Counts without an upper limit are truncated, and an integral over
        real numbers becomes a sum by the trapezoid rule, which converges geometrically for densities that vanish at
        both ends together with all their derivatives. A bounded open interval is first stretched to the real line, by
        the log-odds of the place in it, so densities may be infinite at its ends.

        Parameters
        ----------
        truncation : int, default=80
            Distance between the smallest and the largest count where counts have no upper limit.
        width : float, default=14.0
            Largest absolute value where real numbers have no limits; that of the log-odds in an open interval.
        points : int, default=281
            Number of real numbers.

        Returns
        -------
        values : ndarray of float64
            Values in the support. An atom comes last.
        log_weights : ndarray of float64
            Logarithms of their weights.

        Notes
        -----
        The defaults are conventions. They suit the small models that are enumerated, with weights and biases of about
        one: 14 standard deviations of a standard normal variable in steps of 0.1, and means of a few counts.
        """
        if self.integer:
            upper = self.upper if np.isfinite(self.upper) else self.lower + truncation
            values = np.arange(self.lower, upper + 1, dtype=np.float64)
            return values, np.zeros_like(values)
        if self.open:
            log_odds, length = np.linspace(-width, width, points), self.upper - self.lower
            share, rest = expit(log_odds), expit(-log_odds)
            return self.lower + length * share, np.log(length * share * rest * (log_odds[1] - log_odds[0]))
        # an even number of points leaves out zero, the place of the atom
        values = np.linspace(
            max(self.lower, -width), min(self.upper, width), points - points % 2 if self.atom else points
        )
        log_weights = np.full_like(values, np.log(values[1] - values[0]))
        if self.atom:
            return np.append(values, 0.0), np.append(log_weights, 0.0)
        return values, log_weights
