"""Beliefs of a fitted model: densities, partition function, samples, modes."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state

from harmonium.estimators.encoding import only
from harmonium.estimators.preparation import known_views
from harmonium.inference.ais import LogPartition
from harmonium.kernels.runtime.threads import compute
from harmonium.queries import density
from harmonium.training import FittedModel
from harmonium.validation import check_fitted, check_whole


class Density:
    """Part of every estimator: the model as a distribution."""

    fitted_: FittedModel
    n_jobs: int | None
    random_state: Any

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the unnormalised log-density of each row: minus its free energy.

        Subtract ``log_partition().value`` for log p(x). For incomplete rows it is a lower bound of the log-density of
        what is observed: of log Z, hence of log p = 0, for rows of which nothing is. Rows of `ReplicatedSoftmax` views
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

        It can be compared between models. One random site of each row and view is asked about. Sums over all values of
        a count or a real number are exact to rounding, or to 1e-8 where a value lies far from all others.

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

    def log_partition(
        self,
        method: Literal["ais", "exact", "naive"] = "ais",
        n_chains: int = 100,
        n_temperatures: int = 1000,
        sizes: dict[str, float] | None = None,
    ) -> LogPartition:
        """Return log Z of the fitted model, with its standard error.

        Parameters
        ----------
        method : {"ais", "exact", "naive"}, default="ais"
            Annealed importance sampling; enumeration of the hidden states (small models only); or naive Monte Carlo
            over hidden states that know nothing of the views, a yardstick that is unreliable unless weights are small.
        n_chains : int, default=100
            Number of chains of the annealing, or of draws of naive Monte Carlo.
        n_temperatures : int, default=1000
            Number of steps of each chain of the annealing.
        sizes : dict of str to float, optional
            Row totals of `ReplicatedSoftmax` and length-normalised views and lengths of `Chain` views, on which the
            partition function depends. Default: the typical (mean) ones of the training data.

        Returns
        -------
        LogPartition
            The estimate as ``value``, and its ``standard_error``.
        """
        check_whole("log_partition", "n_chains", n_chains, lower=2, remedy="100 is usual")
        check_whole("log_partition", "n_temperatures", n_temperatures, lower=2, remedy="1000 is usual")
        if method not in ("ais", "exact", "naive"):
            raise ValueError(f"method must be 'ais', 'exact' or 'naive'; got {method!r}; 'exact' is for small models.")
        check_fitted(self)
        with compute(self.n_jobs):
            rng = generator(self.random_state)
            return density.log_partition(self.fitted_, method, n_chains, n_temperatures, sizes, rng)

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

    def sample_exact(self, n_samples: int = 1, random_state: Any = None, max_sweeps: int = 2**14) -> Any:
        """Draw items from the model exactly, by coupling from the past.

        There is no chain that might not have converged. It works for binary views with Gaussian or binary units. The
        time it takes differs from draw to draw and grows with the strength of the couplings (entries of WWᵀ off its
        diagonal, or of W for binary units), and faster if they have both signs: strong ones are refused once
        ``max_sweeps`` are over. Memory grows with the square of the number of features.

        Parameters
        ----------
        n_samples : int, default=1
            Number of items.
        random_state : int, RandomState instance or None, default=None
            Source of random numbers. Default: that of the estimator.
        max_sweeps : int, default=16384
            How far into the past to go before giving up.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views
            The items.

        References
        ----------
        Propp & Wilson (1996), Exact sampling with coupled Markov chains and applications to statistical mechanics;
        Childs, Patterson & MacKay (2001), Exact sampling from nonattractive distributions using summary states.
        """
        check_fitted(self)
        check_whole("sample_exact", "n_samples", n_samples)
        check_whole("sample_exact", "max_sweeps", max_sweeps, remedy="16384 is usual")
        rng = generator(self.random_state if random_state is None else random_state)
        with compute(self.n_jobs):
            return only(density.sample_exact(self.fitted_, n_samples, max_sweeps, rng))

    def modes(self, X: Any, max_iterations: int = 100) -> tuple[Any, np.ndarray]:
        """Climb from each row to the nearest mode of the joint distribution.

        Parameters
        ----------
        X : dict, list, Views, Sequences, matrix, data frame, AnnData or MuData
            Any subset of the views that the model was fitted on.
        max_iterations : int, default=100
            Number of steps after which to stop climbing.

        Returns
        -------
        views : ndarray (`Sequences` for a `Chain`), or dict of them if there are several views
            Where the climb ended.
        hidden : ndarray of shape (n_rows, n_components_)
            The hidden units there.

        References
        ----------
        Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object
        recognition, eq. 4-5.
        """
        check_whole("modes", "max_iterations", max_iterations)
        views = known_views(self, X)
        with compute(self.n_jobs):
            drawn, hidden = density.modes(self.fitted_, views, max_iterations)
        return only(drawn), hidden

    def canonical_signs(self) -> Self:
        """Turn binary and binomial units over so that each aligns with the mean item.

        The sign of such a unit is arbitrary: turning it over leaves p(x) as it is. Afterwards w·x̄ is not negative for
        any unit, so that topics read alike in every run. Centred Gaussian views have a mean of zero and no influence on
        it. Models with length-normalised views are refused: there signs are not free.

        Returns
        -------
        Harmonium
            The estimator itself.

        References
        ----------
        Gehler, Holub & Welling (2006), The rate adapting Poisson model for information retrieval and object
        recognition, eq. 8-9.
        """
        check_fitted(self)
        self.fitted_ = density.with_canonical_signs(self.fitted_)
        return self


def generator(random_state: Any) -> np.random.Generator:
    """Return a stream of random numbers for a random state as scikit-learn knows it."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def is_seeded(random_state: Any) -> bool:
    """Return whether a random state is one of the user's own, not the one that all of NumPy shares."""
    return check_random_state(random_state) is not check_random_state(None)
