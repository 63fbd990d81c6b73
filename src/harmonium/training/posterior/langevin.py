"""Langevin sampling of the weights: drift along the gradient of the log-posterior, plus noise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

import numpy as np

from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, record, weights_of
from harmonium.core.validation import Choice, Flag, Whole
from harmonium.objectives.statistics import Statistics
from harmonium.training.drivers.base import Driver
from harmonium.training.drivers.run import Run
from harmonium.training.posterior.centring import CentredBiases
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.posterior.priors import HierarchicalPrior, Prior
from harmonium.training.posterior.sampling import Sampling

# Where a chain has settled, the drift ε²/2 · g has a variance of ε⁴/4 · E[g²] beside the ε² of the noise. At this share
# of it, neither the step nor the noise of the gradient widens the posterior by more than about that share. In the
# benchmark bayes_exact the tuned step has an error of 0.023, at a Monte Carlo error of 0.013.
_DRIFT = 0.1
# Rows of which gradients are added up at a time: for memory only.
_BLOCK = 1000
# Power of time with which squared steps fall: Welling & Teh (2011) ask for one in (0.5, 1] and take 0.55.
_DECAY = 0.55
# Share of the warm-up over which steps grow, while little is known of the gradients: a convention.
_RAMP = 0.1
# Squared gradients are averaged over about one part in this many of the warm-up, or of 100 moves if it is shorter: a
# convention.
_PARTS = 10
# Typical step of a bias that is learned: a convention.
_BIAS_STEP = 0.005
# Share of the largest squared gradient that each counts as at least, so that no step is infinite: a convention.
_SMALLEST_SHARE = 1e-6
_SQUARES = "squares."


class Langevin(Sampling):
    """Posterior draws of the weights by Langevin steps.

    A step is W ← W + ε²/2 · ∇ log p(W | X) + ε · noise, without a Metropolis correction. The gradient is that of the
    objective: with `SampledCD` it is brief sampling, a few Gibbs steps from the data. On part of the rows it is
    stochastic-gradient Langevin dynamics. Weights and biases of views are sampled; others, such as the families'
    extra parameters, follow their gradient without noise, towards maximum likelihood.

    Parameters
    ----------
    n_draws : int, default=100
        Number of draws that each chain keeps.
    n_warmup : int, default=500
        Number of moves before the first draw is kept, during which steps and prior are tuned.
    thin : int, default=5
        Number of moves from one draw that is kept to the next.
    n_chains : int, default=4
        Number of chains, each with a start of its own.
    step : "auto" or float, default="auto"
        Step ε. "auto" gives the drift a tenth of the variance of the noise, measured on the gradients of the warm-up.
    schedule : {"constant", "decaying"}, default="constant"
        Whether ε² stays the same after the warm-up, or falls as (1 + moves / n_warmup)^-0.55.
    precondition : bool, default=True
        Whether each feature has a step of its own, ε divided by the root mean square of its gradients. If not, all
        weights share ε.
    batch_size : int, optional
        Number of rows of which a gradient is taken. Default: all rows, at most 1,000.
    prior : Prior or dict of view to Prior, optional
        Prior of the weights. Default: `HierarchicalPrior`, a normal around zero whose scale is sampled too.
    biases : {"sampled", "learned", "fixed"}, default="sampled"
        What happens to all parameters but the weights. "sampled": biases of views are sampled too, with a prior that
        is worth one row, and all others follow their gradient, but for biases of units that respond linearly, whose
        work those of views do; "learned": all follow it; "fixed": all stay where the start leaves them.
    start : "likelihood", Driver or None, default="likelihood"
        How a chain gets from random weights to where it starts: by ``Stochastic()``, by another driver, or not at all.
    checkpoint : str or path, optional
        File to which the state of the fit is written every half minute, after a move. A fit with the same settings,
        data and ``random_state`` that finds the file resumes from there, exactly as if it had not ended, and removes it
        at the end. Fits that run at the same time need different files.

    See Also
    --------
    EmpiricalBayes : A prior that is learned from the draws.
    AdjustedLangevin : Steps that are accepted or refused, for small models.
    Metropolis : Draws by random-walk Metropolis-Hastings.

    Notes
    -----
    The drift of a feature's weights is limited to a root mean square of 2ε, so that a chain far from the posterior does
    not overshoot. The variance of the noise is reduced so that weights about which the data say little are drawn
    exactly from the prior, whatever the step.

    Biases b are sampled as b + W m, the naturals of the mean item, where m is its E[h]; b and W alone are strongly
    correlated where features are nearly always one.

    An interrupt (Ctrl-C) leaves the draws that all chains have kept until then; before the first of them there is no
    model.

    References
    ----------
    Guo & Xing (2006), Bayesian exponential family harmoniums, eq. 13; Welling & Teh (2011), Bayesian learning via
    stochastic gradient Langevin dynamics.

    Examples
    --------
    >>> Langevin(n_draws=20, n_chains=2)
    Langevin(n_chains=2, n_draws=20)
    """

    settings = {
        **Sampling.settings,
        "schedule": Choice(("constant", "decaying")),
        "precondition": Flag(),
        "batch_size": Whole(remedy="None takes all rows, at most 1,000", also=(None,)),
        "biases": Choice(("sampled", "learned", "fixed")),
    }

    def __init__(
        self,
        n_draws: int = 100,
        n_warmup: int = 500,
        thin: int = 5,
        n_chains: int = 4,
        step: float | Literal["auto"] = "auto",
        schedule: Literal["constant", "decaying"] = "constant",
        precondition: bool = True,
        batch_size: int | None = None,
        prior: Prior | Mapping[str, Prior] | None = None,
        biases: Literal["sampled", "learned", "fixed"] = "sampled",
        start: Driver | Literal["likelihood"] | None = "likelihood",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(n_draws, n_warmup, thin, n_chains, step, prior, start, checkpoint)
        self.schedule = schedule
        self.precondition = precondition
        self.batch_size = batch_size
        self.biases = biases

    @property
    def holds_biases(self) -> bool:
        """Whether all parameters but the weights stay as the start leaves them."""
        return self.biases == "fixed"

    @property
    def _tunes(self) -> bool:
        return self.step == "auto" or self.precondition

    def default_prior(self) -> Prior:
        """Return a prior whose scale is sampled.

        Intervals of its draws cover more nearly what they claim than those of priors with one scale, given or estimated
        (docs/how_it_works/langevin.md).
        """
        return HierarchicalPrior()

    def prepare(self, run: Run, chain: MarkovChain, posterior: Posterior) -> None:
        """Remember the squares of a first gradient, for the first steps.

        Where a chain has settled they are the precision of the posterior. At maximum likelihood gradients vanish, so
        they are taken to be at least the precision of the prior; for sampled biases, that of all rows.
        """
        rows = np.arange(self._rows_of_step(len(run.data)))
        statistics = Statistics.zeros_like(chain.parameters)
        scale = _gradient(run, rows, chain, statistics)
        if self.biases == "sampled":
            centred = self._centred(run, chain)
            centred.change_gradient(statistics.gradient, chain.parameters)
        for name, gradient in statistics.gradient.items():
            chain.memory[_SQUARES + name] = np.square(scale * gradient, dtype=np.float32)
        for view, prior in posterior.priors_of(chain).items():
            slope = scale * prior.in_coordinates(statistics.gradient[weights_of(view)])
            squares = np.square(slope, dtype=np.float32).mean(axis=1)
            chain.memory[_SQUARES + weights_of(view)] = np.maximum(squares, prior.precision)
            if self.biases == "sampled":
                name = _SQUARES + bias_of(view)
                chain.memory[name] = np.maximum(chain.memory[name], len(run.data) * centred.priors[view].precision)

    def move(self, run: Run, rows: np.ndarray, chain: MarkovChain, posterior: Posterior) -> None:
        """Move the weights by one step, and the biases unless they are fixed."""
        if chain.statistics is None:
            chain.statistics = Statistics.zeros_like(chain.parameters)
        statistics = chain.statistics
        statistics.count = 0.0
        scale = _gradient(run, rows, chain, statistics)
        followers = self._followers(run, chain)
        if self.biases == "sampled":
            centred = self._centred(run, chain)
            biases = centred.of(chain.parameters)
            centred.change_gradient(statistics.gradient, chain.parameters)
            self._move_weights(scale, chain, posterior)
            self._move_biases(biases, centred, scale, chain, posterior)
            centred.restore(chain.parameters, biases)
        else:
            self._move_weights(scale, chain, posterior)
        self._follow_gradient(followers, scale, chain, posterior)
        for name in statistics.gradient:
            if not record(name).is_weights:  # the step of the weights does so for theirs
                statistics.gradient[name][...] = 0

    @staticmethod
    def _centred(run: Run, chain: MarkovChain) -> CentredBiases:
        """Return the coordinates of biases, which are made once."""
        if chain.centred is None:
            chain.centred = CentredBiases(run.problem, len(run.data))
        return chain.centred

    def _followers(self, run: Run, chain: MarkovChain) -> list[str]:
        """Return the names of parameters that follow their gradient."""
        if self.biases == "fixed":
            return []
        others = [name for name in chain.parameters if not record(name).is_weights]
        if self.biases == "learned":
            return others
        sampled = {bias_of(view) for view in run.problem.energy.families}
        # where units respond linearly, biases of views do all that those of units could
        if run.problem.energy.hidden.linear_mean:
            sampled.add(HIDDEN_BIAS)
        return [name for name in others if name not in sampled]

    def _move_weights(self, scale: float, chain: MarkovChain, posterior: Posterior) -> None:
        """Take a step of the weights of all views."""
        assert chain.statistics is not None
        priors = posterior.priors_of(chain)
        names = [weights_of(view) for view in priors]
        for name, prior in zip(names, priors.values(), strict=True):
            squared_step = np.float32(self._shrunk(posterior)) * self._squared_step(chain, name, names)
            gradient = chain.statistics.gradient[name]
            squares = prior.move(chain.parameters[name], gradient, scale, squared_step, chain.rng)
            self._remember(chain, name, squares, posterior)

    def _move_biases(
        self, biases: Parameters, centred: CentredBiases, scale: float, chain: MarkovChain, posterior: Posterior
    ) -> None:
        """Take a step of the biases of all views, which are given in centred coordinates."""
        assert chain.statistics is not None
        for view, value in biases.items():
            name = bias_of(view)
            gradient = chain.statistics.gradient[name]
            squared_step = np.float32(4 * _DRIFT * self._shrunk(posterior)) / self._floored(chain, name)
            column = value[:, None], gradient[:, None]
            squares = centred.priors[view].move(*column, scale, squared_step, chain.rng)
            self._remember(chain, name, squares, posterior)

    def _follow_gradient(self, names: list[str], scale: float, chain: MarkovChain, posterior: Posterior) -> None:
        """Let some parameters follow their gradient, without noise."""
        assert chain.statistics is not None
        for name in names:
            slope = (-scale * chain.statistics.gradient[name]).astype(np.float32)
            self._remember(chain, name, np.square(slope), posterior)
            chain.parameters[name] += np.float32(_BIAS_STEP) * slope / np.sqrt(self._floored(chain, name))

    def _remember(self, chain: MarkovChain, name: str, squares: np.ndarray, posterior: Posterior) -> None:
        """Update the mean of squared gradients, in the warm-up alone: steps that follow the chain would bias it."""
        if posterior.warming:
            share = np.float32(max(1 / (posterior.n_moves + 2), _PARTS / max(100, posterior.n_warmup)))
            chain.memory[_SQUARES + name] += share * (squares - chain.memory[_SQUARES + name])

    @staticmethod
    def _floored(chain: MarkovChain, name: str) -> np.ndarray:
        """Return mean squared gradients, none of them zero."""
        squares = chain.memory[_SQUARES + name]
        return np.maximum(squares, np.float32(_SMALLEST_SHARE) * squares.max() + np.float32(1e-12))

    def _squared_step(self, chain: MarkovChain, name: str, weights: list[str]) -> np.ndarray:
        """Return ε² of each feature."""
        wanted = 4 * _DRIFT if self.step == "auto" else float(self.step) ** 2
        squares = self._floored(chain, name)
        if self.precondition:
            return np.float32(wanted) / squares
        if self.step == "auto":  # the steepest feature must not overshoot
            wanted /= max(float(chain.memory[_SQUARES + other].max()) for other in weights)
        return np.full(len(squares), wanted, dtype=np.float32)

    def _shrunk(self, posterior: Posterior) -> float:
        """Return the share of ε² that is left at this move."""
        first = _RAMP * posterior.n_warmup
        if posterior.n_moves < first:
            return (posterior.n_moves + 1) / (first + 1)
        after = posterior.n_moves - posterior.n_warmup
        if self.schedule == "constant" or after <= 0:
            return 1.0
        return float((1 + after / max(1, posterior.n_warmup)) ** -_DECAY)

    def reading(self, chain: MarkovChain, posterior: Posterior) -> dict[str, float]:
        """Return the typical step of a weight."""
        names = [name.removeprefix(_SQUARES) for name in chain.memory if record(name).is_weights]
        steps = np.concatenate([self._squared_step(chain, name, names) for name in names])
        return {"step": float(np.sqrt(self._shrunk(posterior) * np.median(steps)))}


def _gradient(run: Run, rows: np.ndarray, chain: MarkovChain, into: Statistics) -> float:
    """Add the statistics of some rows; return by what they have to be multiplied to stand for all rows."""
    for batch in run.data.in_order(rows, _BLOCK, run.problem.energy.families):
        if chain.state is None:
            chain.state = run.objective.start(run.problem, batch, chain.rng)
        run.objective.accumulate(run.problem, chain.parameters, batch, into, chain.rng, chain.state)
    return len(run.data) / into.count
