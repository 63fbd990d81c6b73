"""What a fitted model believes: densities, partition function, samples, modes."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from harmonium.batch import Batch
from harmonium.estimators.posterior import PosteriorAccess
from harmonium.inference.ais import LogPartition, annealed_log_partition
from harmonium.inference.exact import exact_log_partition
from harmonium.inference.gibbs import gibbs_step, sizes_of
from harmonium.inference.modes import iterate_modes
from harmonium.inference.naive import naive_log_partition
from harmonium.inference.perfect import perfect_sample
from harmonium.inference.pseudo import pseudo_log_likelihood
from harmonium.inference.symmetry import canonical_signs, turn_over
from harmonium.kernels.threads import compute
from harmonium.training import Training
from harmonium.validation import check_whole
from harmonium.views.drawn import as_data


class Probability(PosteriorAccess):
    """Part of every estimator: the model as a distribution."""

    random_state: Any
    unit_usage_: np.ndarray

    def _generator(self, random_state: Any = None) -> np.random.Generator:
        """Stream of random numbers for the estimator's random state, or another one."""
        state = self.random_state if random_state is None else random_state
        return np.random.default_rng(check_random_state(state).randint(2**31 - 1))

    def score_samples(self, X: Any) -> np.ndarray:
        """Unnormalised log-density of each row: minus its free energy, in the units of the data.

        Subtract ``log_partition().value`` for log p(x). For incomplete rows it is a lower bound of the log-density of
        what is observed. Rows of `ReplicatedSoftmax` views compare only with rows of the same total, and those of
        `Chain` views with rows of the same length, each of which has a partition function of its own
        (``log_partition(sizes=...)``).
        """
        check_is_fitted(self, "families_")
        views = self._known(X)
        with compute(self.n_jobs):
            blocks = [
                self._log_volume(batch) - self.energy_.free_energy(self.parameters_, batch)
                for _, batch in self._batches(views)
            ]
        return np.concatenate(blocks)

    def _log_volume(self, batch: Batch) -> np.ndarray:
        """What encoding does to densities of what is observed, by row."""
        total = np.zeros(batch.n_rows)
        for name, view in batch.views.items():
            family = self.families_[name]
            volume = family.log_volume()
            total += volume.sum() if view.missing is None else (~family.spread(view.missing)) @ volume
        return total

    def score(self, X: Any, y: Any = None) -> float:
        """Mean pseudo-log-likelihood of the rows (one random site a row and view): comparable between models."""
        check_is_fitted(self, "families_")
        views = self._known(X)
        rng = np.random.default_rng(0)
        total = 0.0
        with compute(self.n_jobs):
            for _, batch in self._batches(views):
                total += float(pseudo_log_likelihood(self.energy_, self.parameters_, batch, rng).sum())
        return total / len(views)

    def log_partition(
        self,
        method: Literal["ais", "exact", "naive"] = "ais",
        n_chains: int = 100,
        n_temperatures: int = 1000,
        sizes: dict[str, float] | None = None,
    ) -> LogPartition:
        """log Z of the fitted model, with its standard error.

        Parameters
        ----------
        method : {"ais", "exact", "naive"}, default="ais"
            Annealed importance sampling; enumeration of the hidden states (small models only); or naive Monte Carlo
            over hidden states that know nothing of the views, a yardstick that is unreliable unless weights are small.
        n_chains : int, default=100
            Number of chains of the annealing, or of draws of naive Monte Carlo.
        n_temperatures : int, default=1000
            Steps of each chain of the annealing.
        sizes : dict, optional
            Row totals of `ReplicatedSoftmax` views and lengths of `Chain` views, for which the partition function
            differs from one to another; default: the mean of the training data.
        """
        check_whole("log_partition", "n_chains", n_chains, lower=2, remedy="100 is usual")
        check_whole("log_partition", "n_temperatures", n_temperatures, lower=2, remedy="1000 is usual")
        if method not in ("ais", "exact", "naive"):
            raise ValueError(f"method must be 'ais', 'exact' or 'naive'; got {method!r}; 'exact' is for small models.")
        check_is_fitted(self, "families_")
        totals = {name: float(size[0]) for name, size in self._typical_sizes(1).items()}
        unknown = set(sizes or {}) - set(totals)
        if unknown:
            raise ValueError(
                f"sizes may only name views with totals ({', '.join(map(repr, totals)) or 'none here'}); got "
                f"{', '.join(sorted(map(repr, unknown)))}; leave them out."
            )
        totals |= sizes or {}
        with compute(self.n_jobs):
            if method == "exact":
                rows = {name: np.array([total]) for name, total in totals.items()}
                return LogPartition(exact_log_partition(self.energy_, self.parameters_, rows), 0.0)
            if method == "naive":
                return naive_log_partition(self.energy_, self.parameters_, self._generator(), n_chains, totals)
            return annealed_log_partition(
                self.energy_,
                self.parameters_,
                self._generator(),
                n_chains=n_chains,
                n_temperatures=n_temperatures,
                reference=self._problem.reference,
                sizes=totals,
            )

    def sample(self, n_samples: int = 1, n_steps: int = 1000, random_state: Any = None) -> Any:
        """Draw items from the model by block Gibbs sampling, ``n_steps`` sweeps from random hidden states.

        Returns
        -------
        ndarray (`Sequences` of the typical length for a `Chain`), or dict of them if there are several views
        """
        check_is_fitted(self, "families_")
        check_whole("sample", "n_samples", n_samples)
        check_whole("sample", "n_steps", n_steps, remedy="1000 is usual")
        rng = self._generator(random_state)
        sizes = self._typical_sizes(n_samples)
        with compute(self.n_jobs):
            layer = self.energy_.layer(self.parameters_)
            hidden = layer.sample(np.zeros((n_samples, self.n_components_), dtype=np.float32), rng)
            for _ in range(n_steps):
                hidden, batch = gibbs_step(self.energy_, self.parameters_, hidden, rng, sizes)
        return self._drawn([batch], rng)

    def sample_exact(self, n_samples: int = 1, random_state: Any = None, max_sweeps: int = 2**14) -> Any:
        """Draw items from the model exactly, by coupling from the past: no chain that might not have converged.

        For binary views and Gaussian units if no entry of WWᵀ (off its diagonal) is negative, and for binary views and
        units if no weight is. The time it takes grows with the strength of the couplings, and is different from draw to
        draw. Needs memory for the square of the number of features.

        Parameters
        ----------
        n_samples : int, default=1
            Number of items.
        random_state : int, RandomState instance or None, default=None
            Default: the estimator's.
        max_sweeps : int, default=16384
            How far into the past to go before giving up.

        Returns
        -------
        ndarray, or dict of ndarrays if there are several views

        References
        ----------
        Propp & Wilson (1996), Exact sampling with coupled Markov chains and applications to statistical mechanics;
        Childs, Patterson & MacKay (2001), Exact sampling from nonattractive distributions using summary states.
        """
        check_is_fitted(self, "families_")
        check_whole("sample_exact", "n_samples", n_samples)
        check_whole("sample_exact", "max_sweeps", max_sweeps, remedy="16384 is usual")
        rng = self._generator(random_state)
        with compute(self.n_jobs):
            batch, _ = perfect_sample(self.energy_, self.parameters_, n_samples, rng, max_sweeps)
        return self._drawn([batch], rng)

    def _drawn(self, batches: list[Batch], rng: np.random.Generator) -> Any:
        """Drawn statistics as data: an array (or `Sequences`), or a dict of them if there are several views."""
        drawn: dict[str, Any] = {}
        for name, family in self.families_.items():
            statistic = np.concatenate([np.asarray(batch.views[name].statistic) for batch in batches])
            sizes = [size for batch in batches if (size := batch.views[name].size) is not None]
            size = np.concatenate(sizes) if sizes else None
            drawn[name] = as_data(statistic, family, size, self.feature_names_[name], rng)
        return next(iter(drawn.values())) if len(drawn) == 1 else drawn

    def modes(self, X: Any, max_iterations: int = 100) -> tuple[Any, np.ndarray]:
        """Nearest mode of the joint distribution, climbed to from each row (eq. 4-5 of Gehler et al. 2006).

        Returns
        -------
        views : ndarray (`Sequences` for a `Chain`), or dict of them if there are several views
        hidden : ndarray of shape (rows, n_components_)
        """
        check_is_fitted(self, "families_")
        check_whole("modes", "max_iterations", max_iterations)
        views = self._known(X)
        with compute(self.n_jobs):
            parts = [
                iterate_modes(self.energy_, self.parameters_, batch, sizes_of(batch), max_iterations)
                for _, batch in self._batches(views)
            ]
        # sequences with the same counts are equally probable, so any of them will do
        drawn = self._drawn([batch for batch, _ in parts], np.random.default_rng(0))
        return drawn, np.concatenate([state for _, state in parts])

    def canonical_signs(self) -> Self:
        """Turn binary and binomial units over so that each is aligned with the mean item; p(x) stays the same.

        The sign of such a unit is arbitrary (eq. 8-9 of Gehler et al. 2006): afterwards w·x̄ > 0 for all of them, so
        that topics read alike in every run. Centred Gaussian views have a mean of zero and no say in it.
        """
        check_is_fitted(self, "families_")
        parameters, turned = canonical_signs(self.energy_, self.parameters_, self._problem.reference)
        before = self._training
        # what the optimiser remembers of the old signs would be wrong
        self._training = Training(
            parameters,
            n_iter=before.n_iter,
            history=before.history,
            n_items=before.n_items,
            n_settled=before.n_settled,
            posterior=before.posterior,
        )
        if before.posterior is not None:
            for chain in before.posterior.chains:
                chain.draws = [turn_over(self.energy_, draw, turned) for draw in chain.draws]
        if hasattr(self, "unit_usage_"):  # rows that had a unit now lack it
            self.unit_usage_ = np.where(turned, 1 - self.unit_usage_, self.unit_usage_)
        return self
