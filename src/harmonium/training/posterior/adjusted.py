"""Langevin steps that are accepted or refused by the exact posterior (MALA), for models that can be enumerated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harmonium.core.parameters import Parameters, weights_of
from harmonium.exceptions import IncompatiblePartsError
from harmonium.inference.exact import OffGridError
from harmonium.objectives import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics
from harmonium.training.drivers.run import Run
from harmonium.training.posterior.accepting import Accepting, is_allowed
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.posterior.normals import Normal

# Rows of which gradients are added up at a time: for memory only.
_BLOCK = 1000
_LOSS, _GRADIENT = "loss", "gradient."


class AdjustedLangevin(Accepting):
    """Posterior draws of the weights of small models by adjusted Langevin steps.

    A step W' = W + ε²/2 · ∇ log p(W | X) + ε · noise is accepted or refused as Metropolis and Hastings say (MALA), so
    that draws are from the posterior itself, whatever the step. That takes the likelihood itself: the objective must be
    `ExactLikelihood`, which enumerates hidden states. Biases stay as the start leaves them.

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
        Step ε. "auto" tunes it in the warm-up until somewhat more than half of the proposals are accepted.
    prior : Prior or dict of view to Prior, optional
        Prior of the weights. Default: `GaussianPrior`, whose scale follows from the data; `HierarchicalPrior` draws
        it, `EmpiricalBayes` learns it from the draws.
    start : "likelihood", Driver or None, default="likelihood"
        How a chain gets from random weights to where it starts: by ``Stochastic()``, by another driver, or not at all.
    checkpoint : str or path, optional
        File to which the state of the fit is written every half minute, after a move. A fit with the same settings,
        data and ``random_state`` that finds the file resumes from there, exactly as if it had not ended, and removes it
        at the end. Fits that run at the same time need different files.

    See Also
    --------
    Langevin : Steps that are not adjusted, for models of any size.
    Metropolis : Draws for which no partition function is needed.

    Notes
    -----
    Proposals at which the model cannot be normalised, or real units leave the grid of the enumeration, are refused.
    Rows with missing values count by their variational bound.

    An interrupt (Ctrl-C) leaves the draws that all chains have kept until then; before the first of them there is no
    model.

    References
    ----------
    Roberts & Tweedie (1996), Exponential convergence of Langevin distributions and their discrete approximations.

    Examples
    --------
    >>> from harmonium import BEFH
    >>> from harmonium.objectives import ExactLikelihood
    >>> X = (np.random.default_rng(0).random((20, 3)) < 0.5).astype(float)
    >>> driver = AdjustedLangevin(n_draws=10, n_warmup=20, thin=1, n_chains=2)
    >>> model = BEFH(1, driver=driver, objective=ExactLikelihood(), random_state=0).fit(X)
    >>> model.fitted_.posterior.array("view0.weights").shape
    (2, 10, 3, 1)
    """

    # share of proposals that Langevin steps in many dimensions should accept (Roberts & Rosenthal 1998)
    wanted = 0.574

    def prepare(self, run: Run, chain: MarkovChain, posterior: Posterior) -> None:
        """Remember a small step, and loss and gradient where the chain is."""
        super().prepare(run, chain, posterior)
        self.recall(run, chain)

    def recall(self, run: Run, chain: MarkovChain) -> None:
        """Remember loss and gradient where the chain is."""
        chain.memory |= _likelihood(run, chain, chain.parameters)

    def move(self, run: Run, rows: np.ndarray, chain: MarkovChain, posterior: Posterior) -> None:
        """Propose weights along the gradient, accept or stay."""
        step = self.step_of(chain)
        proposal = dict(chain.parameters)
        priors = posterior.priors_of(chain)
        for view, prior in priors.items():
            weights = chain.parameters[weights_of(view)]
            drift = 0.5 * step**2 * _slope(prior, weights, chain.memory[_GRADIENT + view])
            noise = step * chain.rng.standard_normal(weights.shape)
            proposal[weights_of(view)] = (weights + drift + noise).astype(np.float32)
        likelihood, log_ratio = None, -np.inf
        if is_allowed(run.problem, proposal):
            try:
                likelihood = _likelihood(run, chain, proposal)
                log_ratio = _log_ratio(priors, chain.parameters, chain.memory, proposal, likelihood, step)
            except OffGridError:
                pass
        if self.decide(chain, posterior, proposal, log_ratio) and likelihood is not None:
            chain.memory |= likelihood

    def check_model(self, problem: Problem, objective: Objective) -> None:
        """Refuse objectives that are not the likelihood itself."""
        super().check_model(problem, objective)
        if not objective.is_exact:
            raise IncompatiblePartsError(
                f"AdjustedLangevin needs the objective ExactLikelihood(), by which it accepts or refuses; got "
                f"{objective!r}; pass it if hidden states can be enumerated, or use Langevin() or Metropolis()."
            )


def _likelihood(run: Run, chain: MarkovChain, parameters: Parameters) -> dict[str, np.ndarray]:
    """Return the loss over all rows, and its gradient by the weights of each view, as chains remember them."""
    statistics, families = Statistics.zeros_like(parameters), run.problem.energy.families
    for batch in run.data.in_order(np.arange(len(run.data)), _BLOCK, families):
        run.objective.accumulate(run.problem, parameters, batch, statistics, chain.rng, with_loss=True)
    return {_LOSS: np.array([statistics.loss])} | {
        _GRADIENT + view: statistics.gradient[weights_of(view)] for view in families
    }


def _slope(prior: Normal, weights: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the gradient of the log-posterior, given that of the loss."""
    return prior.slope(weights) - gradient


def _log_ratio(
    priors: Mapping[str, Normal],
    here: Parameters,
    at_here: dict[str, np.ndarray],
    there: Parameters,
    at_there: dict[str, np.ndarray],
    step: float,
) -> float:
    """Return the logarithm of the ratio of Metropolis and Hastings: of posteriors, and of proposals back and forth."""
    total = float(at_here[_LOSS][0] - at_there[_LOSS][0])
    for view, prior in priors.items():
        old, new = (parameters[weights_of(view)].astype(np.float64) for parameters in (here, there))
        total += prior.log_density(new) - prior.log_density(old)
        back = old - new - 0.5 * step**2 * _slope(prior, new, at_there[_GRADIENT + view])
        forth = new - old - 0.5 * step**2 * _slope(prior, old, at_here[_GRADIENT + view])
        total -= float(np.square(back).sum() - np.square(forth).sum()) / 2 / step**2
    return total if np.isfinite(total) else -np.inf
