"""Skeleton of a hidden layer: units with values 0, 1 and 2, all alike where the natural parameter is 0."""

from __future__ import annotations

import numpy as np

from harmonium.hidden import HiddenLayer, Support

_VALUES = np.arange(3.0)


class ThreeStateUnits(HiddenLayer):
    """Hidden layer of units that are absent, present or strong.

    Parameters
    ----------
    n_units : int, optional
        Number of units. By default it is the ``n_components`` of the estimator.

    Examples
    --------
    >>> ThreeStateUnits().mean(np.zeros((1, 2))).round(6).tolist()
    [[1.0, 1.0]]
    """

    # Settings of your own go beside the number of units: {**HiddenLayer.settings, "variance": Number(...)}, and then
    # into `__init__`. A layer whose units follow a distribution of `harmonium.core.distributions` returns
    # it from `distribution`, and is done.

    # Which values may a unit take? A largest value makes the layer go with every family.
    @property
    def support(self) -> Support:
        """The values 0, 1 and 2."""
        return Support("0, 1 or 2", 0, 2, integer=True)

    # How probable are they? p(h) ∝ exp(natural · h + log_base(h)); all that follows are derivatives of log_partition.
    def log_base(self, values: np.ndarray) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(values)

    def log_partition(self, natural: np.ndarray) -> np.ndarray:
        """Return the logarithm of 1 + exp(natural) + exp(2 natural)."""
        return np.logaddexp(np.logaddexp(0, natural), 2 * natural).astype(natural.dtype)

    def mean(self, natural: np.ndarray) -> np.ndarray:
        """Return the expectation, which `transform` shows."""
        return self._moment(natural, 1)

    def mean_derivative(self, natural: np.ndarray) -> np.ndarray:
        """Return the variance."""
        return self._moment(natural, 2) - np.square(self._moment(natural, 1))

    # Draws and modes, in the precision of the naturals.
    def sample(self, natural: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Count how many cumulative probabilities a uniform number has passed."""
        passed = np.cumsum(self._probabilities(natural), axis=-1)[..., :-1] < rng.random((*natural.shape, 1))
        return passed.sum(axis=-1).astype(natural.dtype)

    def mode(self, natural: np.ndarray) -> np.ndarray:
        """Return one of the two ends."""
        return np.where(natural > 0, 2, 0).astype(natural.dtype)

    def _probabilities(self, natural: np.ndarray) -> np.ndarray:
        return np.exp(natural[..., None] * _VALUES - self.log_partition(natural)[..., None])

    def _moment(self, natural: np.ndarray, power: int) -> np.ndarray:
        return (self._probabilities(natural) @ _VALUES**power).astype(natural.dtype)

    # Not needed here: `extra_parameters`, if the layer learns more than its bias; a `selection`, if units are removed
    # that the data do not ask for; `conditional_variance`, if units have no largest value; `coordinates` and `groups`.
    # The base class says when each is asked.
