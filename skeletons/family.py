"""Skeleton of a family: stars from 1 to some largest number, with p(x) ∝ exp(natural · (x - 1))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harmonium.core.validation import Whole
from harmonium.families import Codec, Distribution, Family, Support

# Means at the ends of the range would need infinite natural parameters: a convention, that of the other families.
_INSIDE = 1e-6


# A distribution of one number, if features are independent given hidden units. One that exists is imported; one that
# units can have too is stated beside the others. Families whose features depend on each other have none: they define
# support, log_base, log_partition, mean, sample and mode themselves.
@dataclass(frozen=True)
class StepsDistribution(Distribution):
    """Distribution of whole numbers from 0 to n, all alike where the natural parameter is 0."""

    n: int

    # Which values are there? Input is checked, refusals are worded and test input is drawn by this one statement.
    @property
    def support(self) -> Support:
        """All whole numbers from 0 to n."""
        return Support(f"whole numbers from 0 to {self.n}", 0, self.n, integer=True)

    # What is the normaliser? All that follows are its derivatives; `log_base` is 0 unless you say otherwise.
    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the logarithm of the sum over all values."""
        return np.logaddexp.reduce(natural[..., None] * self._values(natural), axis=-1)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return the sum of values times probabilities."""
        return self._probabilities(natural) @ self._values(natural)

    def variance(self, natural: np.ndarray) -> np.ndarray:
        """Return the mean square less the square of the mean."""
        squares = self._probabilities(natural) @ np.square(self._values(natural))
        return squares - np.square(self.mean(natural))

    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Count how many cumulative probabilities a uniform number has passed."""
        passed = np.cumsum(self._probabilities(natural), axis=-1)[..., :-1] < rng.random((*natural.shape, 1))
        return passed.sum(axis=-1).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return one of the two ends."""
        return np.where(natural > 0, self.n, 0).astype(natural.dtype)

    def _values(self, like: np.ndarray) -> np.ndarray:
        return np.arange(self.n + 1, dtype=like.dtype)

    def _probabilities(self, natural: np.ndarray) -> np.ndarray:
        return np.exp(natural[..., None] * self._values(natural) - self.log_partition(natural)[..., None])


# How do data become statistics, and back? Left out where they are the same.
class BeyondTheFirst(Codec):
    """Codec of stars, whose statistic is how many there are beyond the first."""

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Return how many stars there are beyond the first."""
        return values - 1

    def decode(self, statistic: np.ndarray) -> np.ndarray:
        """Return the number of stars."""
        return statistic + 1

    # Does zero stay zero? If not, sparse views are made dense.
    @property
    def keeps_zeros(self) -> bool:
        """False, as no number of stars has the statistic of none."""
        return False


class Stars(Family):
    """Family of ratings by stars.

    Parameters
    ----------
    largest : int, default=5
        Largest number of stars.

    Examples
    --------
    >>> family = Stars(3).restore(1, {})
    >>> family.expected(np.array([[0.0]])).tolist()
    [[2.0]]
    """

    # What may settings be? Declared once, and checked before anything is computed.
    settings = {"largest": Whole(lower=2, remedy="5 is usual")}
    # Words for a message: "pass Stars() for …".
    meant_for = "numbers of stars"

    def __init__(self, largest: int = 5) -> None:
        self.largest = largest

    # Should data without a family be taken for this one? 0 means: only if asked for by name.
    @classmethod
    def suits(cls, summary: Any, bounded: bool) -> int:
        """Return 0, as counts look alike."""
        return 0

    # What may the user's data be, and what helps where they are not? Left out where the distribution's support says it.
    @property
    def support(self) -> Support:
        """All whole numbers from 1 to the largest."""
        description = f"whole numbers from 1 to {self.largest}"
        return Support(description, 1, self.largest, integer=True, remedy="count stars from 1")

    @property
    def codec(self) -> Codec:
        """Numbers of stars beyond the first."""
        return BeyondTheFirst(self.n_features_)

    def distribution(self, extra: Any = None, columns: np.ndarray | None = None) -> Distribution:
        """Return the distribution of the stars beyond the first."""
        return StepsDistribution(self.largest - 1)

    # Where do biases begin? Means at the ends are moved inside.
    def natural_from_mean(self, mean: np.ndarray) -> np.ndarray:
        """Return natural parameters by bisection, as means rise with them."""
        inside = np.clip(mean, _INSIDE, self.largest - 1 - _INSIDE)
        low, high = np.full(mean.shape, -30.0), np.full(mean.shape, 30.0)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.distribution().mean(middle) < inside
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return ((low + high) / 2).astype(mean.dtype)

    # Not needed here: `bind`, if the family learns constants from the data (a scale); `domain`, if not every natural
    # parameter is allowed; `extra_parameters`, if some are learned besides weights and bias; `length`, if totals of
    # rows are given. The classes of these objects say when each of their methods is asked.
