"""Metropolis-Hastings sampling of the weights, with estimated ratios of partition functions: to compare with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from harmonium.batch import Batch
from harmonium.exceptions import IncompatiblePartsError
from harmonium.inference.gibbs import sample_views, sizes_of, sparse_views
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.params import Parameters, weights_of
from harmonium.training.base import Driver
from harmonium.training.posterior import MarkovChain, Posterior
from harmonium.training.priors import Prior
from harmonium.training.sampling import Sampling
from harmonium.views.data import Data

# Share of proposals that a random walk in many dimensions should accept (Roberts, Gelman & Gilks 1997).
_ACCEPTED = 0.234
# Rows that are looked at at a time: for memory only.
_BLOCK = 1000
# Proposals over which the share of accepted ones is averaged, for the record only.
_RECENT = 200
_LOG_STEP, _SHARE = "log_step", "accepted"


class Metropolis(Sampling):
    """Posterior draws of the weights by random-walk Metropolis-Hastings.

    The ratio Z(W) / Z(W') of a proposal W' is the mean of p*(x | W) / p*(x | W') over items that a few Gibbs steps from
    the data draw from W' (brief sampling). The objective must be `SampledCD`, which says how many steps. The ratio
    enters with the power of the number of items, so its error grows exponentially with them, and chains mix far more
    slowly than those of `Langevin`: the driver is there to compare with. Biases stay as the start leaves them.

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
    prior : Prior or dict of view to Prior, optional
        Prior of the weights. Default: `GaussianPrior`, whose scale follows from the data; `EmpiricalBayes` learns it
        from the draws.
    start : "likelihood", Driver or None, default="likelihood"
        How a chain gets from random weights to where it starts: by ``Stochastic()``, by another driver, or not at all.
    checkpoint : str or path, optional
        File to which the state of the fit is written every half minute, after a move. A fit with the same settings,
        data and ``random_state`` that finds the file resumes from there, exactly as if it had not ended, and removes it
        at the end. Fits that run at the same time need different files.

    See Also
    --------
    Langevin : Draws that follow the gradient.

    Notes
    -----
    An interrupt (Ctrl-C) leaves the draws that all chains have kept until then; before the first of them there is no
    model.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums, eq. 11-12.

    Examples
    --------
    >>> Metropolis(n_draws=20)
    Metropolis(n_draws=20)
    """

    batch_size = None

    def __init__(
        self,
        n_draws: int = 100,
        n_warmup: int = 1000,
        thin: int = 20,
        n_chains: int = 4,
        step: float | Literal["auto"] = "auto",
        prior: Prior | Mapping[str, Prior] | None = None,
        start: Driver | Literal["likelihood"] | None = "likelihood",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.n_chains = n_chains
        self.step = step
        self.prior = prior
        self.start = start
        self.checkpoint = checkpoint

    @property
    def _tunes(self) -> bool:
        return self.step == "auto"

    def prepare(
        self, problem: Problem, objective: Objective, data: Data, chain: MarkovChain, posterior: Posterior
    ) -> None:
        """Remember a small step to begin with."""
        n_weights = sum(chain.parameters[weights_of(view)].size for view in problem.energy.families)
        spread = np.mean([prior.variance.mean() for prior in posterior.prior.values()])
        step = np.sqrt(spread / n_weights / len(data)) if self.step == "auto" else float(self.step)
        chain.memory = {_LOG_STEP: np.array([np.log(step)]), _SHARE: np.zeros(1)}

    def _rows_of_step(self, n_rows: int) -> int:
        return n_rows  # the likelihood of part of the rows does not tell whether to accept

    def move(
        self,
        problem: Problem,
        objective: Objective,
        data: Data,
        rows: np.ndarray,
        chain: MarkovChain,
        posterior: Posterior,
    ) -> None:
        """Propose weights, estimate the ratio of their posteriors, accept or stay."""
        assert objective.brief_steps is not None
        step = np.exp(chain.memory[_LOG_STEP][0])
        proposal = dict(chain.parameters)
        log_ratio = 0.0
        for view, prior in posterior.prior.items():
            weights = chain.parameters[weights_of(view)]
            moved = weights + np.float32(step) * chain.rng.standard_normal(weights.shape, dtype=np.float32)
            proposal[weights_of(view)] = moved
            log_ratio += prior.log_density(moved) - prior.log_density(weights)
        log_weights, kinds = [], []
        for batch in data.in_order(rows, _BLOCK, problem.energy.families):
            log_ratio += float(self._gain(problem, chain.parameters, proposal, batch).sum())
            drawn = _brief_sample(problem, proposal, batch, chain.rng, objective.brief_steps)
            log_weights.append(self._gain(problem, proposal, chain.parameters, drawn))
            kinds.append(np.stack([np.zeros(drawn.n_rows), *sizes_of(drawn).values()], axis=1))
        log_ratio += _log_ratio_of_partitions(np.concatenate(log_weights), np.concatenate(kinds))
        accepted = float(np.log(chain.rng.random()) < log_ratio)
        if accepted:
            chain.parameters = proposal
        chain.memory[_SHARE] += (accepted - chain.memory[_SHARE]) / min(posterior.n_moves + 1, _RECENT)
        if posterior.warming and self.step == "auto":
            chain.memory[_LOG_STEP] += (accepted - _ACCEPTED) / np.sqrt(posterior.n_moves + 1)

    @staticmethod
    def _gain(problem: Problem, old: Parameters, new: Parameters, batch: Batch) -> np.ndarray:
        """Return log p*(x | new) - log p*(x | old) of each row."""
        energy = problem.energy
        return energy.free_energy(old, problem.complete(old, batch)) - energy.free_energy(
            new, problem.complete(new, batch)
        )

    def reading(self, chain: MarkovChain, posterior: Posterior) -> dict[str, float]:
        """Return the step, and the share of recent proposals that were accepted."""
        return {"step": float(np.exp(chain.memory[_LOG_STEP][0])), "accepted": float(chain.memory[_SHARE][0])}

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse objectives without brief sampling, by which ratios are estimated."""
        super().check_model(problem, objective)
        if objective.brief_steps is None:
            raise IncompatiblePartsError(
                f"Metropolis needs the objective SampledCD(), as it estimates ratios by brief sampling; got "
                f"{objective!r}; pass it, or use Langevin()."
            )


def _brief_sample(
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


def _log_ratio_of_partitions(log_weights: np.ndarray, kinds: np.ndarray) -> float:
    """Return Σ over rows of log Z(W) / Z(W'), estimated for each kind of row: rows of another total have another Z."""
    kind_of_row = np.unique(kinds, axis=0, return_inverse=True)[1].ravel()
    total = 0.0
    for kind in range(kind_of_row.max() + 1):
        own = log_weights[kind_of_row == kind]
        total += len(own) * float(logsumexp(own) - np.log(len(own)))
    return total
