"""Beliefs of a fitted model: densities, partition function, samples, modes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from harmonium.core.validation import check_fitted, check_whole
from harmonium.estimators.input.known import known_views
from harmonium.estimators.mixins.encoding import only
from harmonium.kernels.runtime.threads import compute
from harmonium.queries import density
from harmonium.training import FittedModel


class Density:
    """Part of every estimator: the model as a distribution."""

    fitted_: FittedModel
    n_jobs: int | None
    random_state: Any

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the unnormalised log-density of each row: minus its free energy.

        Subtract ``log_partition().value`` for log p(x). For incomplete rows it is the log-density of what is
        observed, or a lower bound of it where that is too much to sum: of log Z, hence of log p = 0, for rows of which
        nothing is observed. Rows of `ReplicatedSoftmax` views
        and of length-normalised ones can only be compared with rows of the same total, and rows of `Chain` views with
        rows of the same length, each of which has a partition function of its own (``log_partition(sizes=...)``).

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log-densities in nats, in the units of the data.
        """
        views = known_views(self, X)
        with compute(self.n_jobs):
            return density.log_density(self.fitted_, views)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean pseudo-log-likelihood of the rows.

        It is in the units of the data, so models of the same data can be compared, whatever their families. One random
        site of each row and view is asked about. Sums over all values of a count or a real number are exact to
        rounding, or to 1e-8 where a value lies far from all others.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        y : None
            Not used; present as scikit-learn passes it.

        Returns
        -------
        float
            Nats per row; larger is better.
        """
        views = known_views(self, X)
        with compute(self.n_jobs):
            return density.mean_pseudo_likelihood(self.fitted_, views)

    def sample(self, n_samples: int = 1, n_steps: int = 1000, random_state: Any = None) -> Any:
        """Draw items from the model by block Gibbs sampling.

        Parameters
        ----------
        n_samples : int, default=1
            Number of items.
        n_steps : int, default=1000
            Number of sweeps from random hidden states.
        random_state : int, RandomState instance or None, default=None
            Source of random numbers. Default: that of the estimator.

        Returns
        -------
        ndarray (`Sequences` for a `Chain`), or dict of them if there are several views
            The items. Totals and lengths are the typical (mean) ones of the training data.
        """
        check_fitted(self)
        check_whole("sample", "n_samples", n_samples)
        check_whole("sample", "n_steps", n_steps, remedy="1000 is usual")
        rng = generator(self.random_state if random_state is None else random_state)
        with compute(self.n_jobs):
            return only(density.sample(self.fitted_, n_samples, n_steps, rng))


def generator(random_state: Any) -> np.random.Generator:
    """Return a stream of random numbers for a random state as scikit-learn knows it."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def is_seeded(random_state: Any) -> bool:
    """Return whether a random state is one of the user's own, not the one that all of NumPy shares."""
    return check_random_state(random_state) is not check_random_state(None)
