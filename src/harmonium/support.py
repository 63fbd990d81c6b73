"""Support of a family, as data: used for checks, for messages, for test inputs and for enumeration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Support:
    """Set of values a variable may take.

    Examples
    --------
    >>> counts = Support("whole numbers from 0 up", lower=0, integer=True)
    >>> bool(counts.contains(np.array([0.0, 3.0])).all()), counts.contains(np.array([-1.0, 0.5])).tolist()
    (True, [False, False])
    """

    description: str
    lower: float = -np.inf
    upper: float = np.inf
    integer: bool = False
    atom: bool = False  # real numbers of which zero has a probability of its own

    @property
    def bounded(self) -> bool:
        """Whether there is a largest value."""
        return bool(np.isfinite(self.upper))

    def contains(self, values: np.ndarray) -> np.ndarray:
        """Boolean array: which values lie in the support (NaN does not; missing cells are taken out before)."""
        inside = (values >= self.lower) & (values <= self.upper) & np.isfinite(values)
        if self.integer:
            inside &= np.equal(np.floor(values), values)
        return inside

    def grid(self, truncation: int = 80, width: float = 14.0, points: int = 281) -> tuple[np.ndarray, np.ndarray]:
        """Values to sum over and their log-weights: exact if finite, truncated for counts, quadrature for the reals."""
        if self.integer:
            upper = self.upper if np.isfinite(self.upper) else self.lower + truncation
            values = np.arange(self.lower, upper + 1, dtype=np.float64)
            return values, np.zeros_like(values)
        # with an even number of points none is at zero, where an atom may be
        values = np.linspace(
            max(self.lower, -width), min(self.upper, width), points - points % 2 if self.atom else points
        )
        # the trapezoid rule converges geometrically for integrands that vanish with all derivatives at the ends
        log_weights = np.full_like(values, np.log(values[1] - values[0]))
        if self.atom:
            return np.append(values, 0.0), np.append(log_weights, 0.0)
        return values, log_weights
