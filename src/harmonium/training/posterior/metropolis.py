"""Metropolis-Hastings sampling of the weights, in which partition functions cancel: the exchange algorithm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters, weights_of
from harmonium.core.validation import Choice
from harmonium.exceptions import IncompatiblePartsError
from harmonium.inference.gibbs import sample_views, sizes_of, sparse_views
from harmonium.inference.perfect import ChainsApartError, perfect_sample
from harmonium.objectives.base import STEPS
from harmonium.objectives.problem import Problem
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.run import Run
from harmonium.training.posterior.accepting import Accepting, is_allowed
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.posterior.priors import Prior

# Rows that are looked at at a time: for memory only.
_BLOCK = 1000
# Sweeps into the past after which auxiliary items are drawn by Gibbs steps: about a hundred times what weak couplings
# take. A convention.
_MOST_SWEEPS = 2**9
_EXACT = "exact"


class Metropolis(Accepting):
    """Posterior draws of the weights by random-walk Metropolis-Hastings.

    It is the exchange algorithm: for each item an auxiliary one is drawn from the model with the weights that are
    proposed. In the ratio of the two posteriors, times the ratio of the auxiliary items' densities the other way round,
    all partition functions cancel, so that draws are from the posterior itself if auxiliary items are from the model
    itself. They are where views are binary and units Gaussian or binary, by coupling from the past, unless couplings
    are so strong that this fails; ``history_["exact"]`` is the share of the moves in which they were. Elsewhere they
    are the end of ``n_steps`` Gibbs steps from the data, and the posterior is approximate. Biases stay as the start
    leaves them.

    A random walk mixes slowly where there are many weights. `Langevin` takes fewer moves, but its draws are approximate
    everywhere.

    Parameters
    ----------
    n_draws : int, default=100
        Number of draws that each chain keeps.
    n_warmup : int, default=1000
        Number of moves before the first draw is kept, during which step and prior are tuned.
    thin : int, default=20
        Number of moves from one draw that is kept to the next.
    n_chains : int, default=4
        Number of chains, each with a start of its own.
    step : "auto" or float, default="auto"
        Standard deviation of a proposal. "auto" tunes it in the warm-up until about a quarter of the proposals is
        accepted.
    n_steps : int, default=20
        Number of Gibbs steps from the data by which auxiliary items are drawn where they cannot be drawn exactly.
    ratio : {"exchange", "pooled"}, default="exchange"
        Where the ratio of partition functions comes from. "pooled" estimates it by the mean of p*(x | W) / p*(x | W')
        over ``n_steps`` Gibbs steps of all items (eq. 12 of Guo & Xing, who take one step). It is there to compare
        with: the estimate enters with the power of the number of items, and chains run away.
    prior : Prior or dict of view to Prior, optional
        Prior of the weights. Default: `GaussianPrior`, whose scale follows from the data; `HierarchicalPrior` draws
        it, `EmpiricalBayes` learns it from the draws.
    start : "likelihood", Driver or None, default="likelihood"
        How a chain gets from random weights to where it starts: by ``Stochastic()``, by another driver, or not at all.
        The objective of the model serves the start alone.
    checkpoint : str or path, optional
        File to which the state of the fit is written every half minute, after a move. A fit with the same settings,
        data and ``random_state`` that finds the file resumes from there, exactly as if it had not ended, and removes it
        at the end. Fits that run at the same time need different files.

    See Also
    --------
    Langevin : Draws that follow the gradient.
    AdjustedLangevin : Exact draws that follow the gradient, for small models.

    Notes
    -----
    Rows with missing values count by their variational bound, which is another approximation. Proposals for which the
    model cannot be normalised are refused.

    An interrupt (Ctrl-C) leaves the draws that all chains have kept until then; before the first of them there is no
    model.

    References
    ----------
    Murray, Ghahramani & MacKay (2006), MCMC for doubly-intractable distributions; Liang (2010), A double
    Metropolis-Hastings sampler, for auxiliary items by a few steps; Guo & Xing (2006), Bayesian exponential family
    harmoniums, eq. 11-12.

    Examples
    --------
    >>> Metropolis(n_draws=20)
    Metropolis(n_draws=20)
    """

    settings = {**Accepting.settings, "n_steps": STEPS, "ratio": Choice(("exchange", "pooled"))}
    # share of proposals that a random walk in many dimensions should accept (Roberts, Gelman & Gilks 1997)
    wanted = 0.234

    def __init__(
        self,
        n_draws: int = 100,
        n_warmup: int = 1000,
        thin: int = 20,
        n_chains: int = 4,
        step: float | Literal["auto"] = "auto",
        n_steps: int = 20,
        ratio: Literal["exchange", "pooled"] = "exchange",
        prior: Prior | Mapping[str, Prior] | None = None,
        start: Driver | Literal["likelihood"] | None = "likelihood",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(n_draws, n_warmup, thin, n_chains, step, prior, start, checkpoint)
        self.n_steps = n_steps
        self.ratio = ratio

    def prepare(self, run: Run, chain: MarkovChain, posterior: Posterior) -> None:
        """Remember a small step, and that no auxiliary item was exact so far."""
        super().prepare(run, chain, posterior)
        chain.memory[_EXACT] = np.zeros(1)

    def move(self, run: Run, rows: np.ndarray, chain: MarkovChain, posterior: Posterior) -> None:
        """Propose weights, draw auxiliary items from them, accept or stay."""
        step = np.float32(self.step_of(chain))
        proposal = dict(chain.parameters)
        log_ratio = 0.0
        for view, prior in posterior.priors_of(chain).items():
            weights = chain.parameters[weights_of(view)]
            moved = weights + step * chain.rng.standard_normal(weights.shape, dtype=np.float32)
            proposal[weights_of(view)] = moved
            log_ratio += prior.log_density(moved) - prior.log_density(weights)
        if is_allowed(run.problem, proposal):
            log_ratio += self._log_ratio(run, rows, chain, posterior, proposal)
        else:
            log_ratio = -np.inf
        self.decide(chain, posterior, proposal, log_ratio)

    def _log_ratio(
        self, run: Run, rows: np.ndarray, chain: MarkovChain, posterior: Posterior, proposal: Parameters
    ) -> float:
        """Return the logarithm of the ratio of likelihoods, of which that of partition functions is a random number."""
        problem, pooled, exact = run.problem, self.ratio == "pooled", True
        of_data, auxiliaries, kinds = 0.0, [], []
        for batch in run.data.in_order(rows, _BLOCK, problem.energy.families):
            of_data += float(_gain(problem, chain.parameters, proposal, batch).sum())
            perfect = None if pooled else _perfect_auxiliaries(problem, proposal, batch, chain.rng)
            exact = exact and perfect is not None
            drawn = perfect or _brief_auxiliaries(problem, proposal, batch, chain.rng, self.n_steps)
            auxiliaries.append(_gain(problem, proposal, chain.parameters, drawn))
            kinds.append(np.stack([np.zeros(drawn.n_rows), *sizes_of(drawn).values()], axis=1))
        self.average(chain, _EXACT, exact, posterior)
        gains = np.concatenate(auxiliaries)
        return of_data + (_log_of_means(gains, np.concatenate(kinds)) if pooled else float(gains.sum()))

    def reading(self, chain: MarkovChain, posterior: Posterior) -> dict[str, float]:
        """Return the step, and the shares of recent moves accepted and exact."""
        return {**super().reading(chain, posterior), "exact": float(chain.memory[_EXACT][0])}


def _gain(problem: Problem, old: Parameters, new: Parameters, batch: Batch) -> np.ndarray:
    """Return log p*(x | new) - log p*(x | old) of each row."""
    energy = problem.energy
    return energy.free_energy(old, problem.complete(old, batch)) - energy.free_energy(new, problem.complete(new, batch))


def _perfect_auxiliaries(
    problem: Problem, parameters: Parameters, batch: Batch, rng: np.random.Generator
) -> Batch | None:
    """Return as many rows as there are, drawn exactly from the model; None if that cannot be done."""
    # rows of different sizes have different couplings
    if sizes_of(batch):
        return None
    try:
        return perfect_sample(problem.energy, parameters, batch.n_rows, rng, _MOST_SWEEPS)[0]
    except (IncompatiblePartsError, ChainsApartError):
        return None


def _brief_auxiliaries(
    problem: Problem, parameters: Parameters, batch: Batch, rng: np.random.Generator, n_steps: int
) -> Batch:
    """Return rows sampled by a few Gibbs steps from the data."""
    energy = problem.energy
    drawn = problem.complete(parameters, batch)
    sizes, sparse = sizes_of(drawn), sparse_views(drawn)
    for _ in range(n_steps):
        hidden = energy.layer(parameters).sample(energy.hidden_natural(parameters, drawn), rng)
        drawn = sample_views(energy, parameters, hidden, rng, sizes, sparse)
    for view in drawn.views.values():  # a projection that came with the sample belongs to these weights alone
        view.projection = None
    return drawn


def _log_of_means(gains: np.ndarray, kinds: np.ndarray) -> float:
    """Return Σ over rows of the logarithm of the mean of exp(gain) over rows of their kind, which share one Z."""
    kind_of_row = np.unique(kinds, axis=0, return_inverse=True)[1].ravel()
    total = 0.0
    for kind in range(kind_of_row.max() + 1):
        alike = gains[kind_of_row == kind]
        total += len(alike) * float(logsumexp(alike) - np.log(len(alike)))
    return total
