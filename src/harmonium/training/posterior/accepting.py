"""Sampling by proposals that are accepted or refused: the step is tuned by how many are accepted."""

from __future__ import annotations

import numpy as np

from harmonium.core.parameters import Parameters, copy_parameters, weights_of
from harmonium.objectives.problem import Problem
from harmonium.training.drivers.projection import project
from harmonium.training.drivers.run import Run
from harmonium.training.posterior.draws import MarkovChain, Posterior
from harmonium.training.posterior.sampling import Sampling

# Proposals over which the share of accepted ones is averaged, for the record only.
_RECENT = 200
_LOG_STEP, _SHARE = "log_step", "accepted"


class Accepting(Sampling):
    """Base of drivers that propose weights and accept or refuse them; all rows count, and biases stay as they are.

    A subclass defines `move`, which ends in `decide`, and ``wanted``, the share of proposals that should be accepted.
    """

    role = "driver"  # named here, as this is no driver by itself
    wanted: float
    batch_size = None

    @property
    def holds_biases(self) -> bool:
        """Whether all parameters but the weights stay as the start leaves them: they do."""
        return True

    @property
    def _tunes(self) -> bool:
        return self.step == "auto"

    def prepare(self, run: Run, chain: MarkovChain, posterior: Posterior) -> None:
        """Remember a small step to begin with."""
        n_weights = sum(chain.parameters[weights_of(view)].size for view in run.problem.energy.families)
        spread = np.mean([prior.variance.mean() for prior in posterior.prior.values()])
        step = np.sqrt(spread / n_weights / len(run.data)) if self.step == "auto" else float(self.step)
        chain.memory = {_LOG_STEP: np.array([np.log(step)]), _SHARE: np.zeros(1)}

    def _rows_of_step(self, n_rows: int) -> int:
        return n_rows  # the likelihood of part of the rows does not tell whether to accept

    @staticmethod
    def step_of(chain: MarkovChain) -> float:
        """Return the step of a chain.

        Parameters
        ----------
        chain : MarkovChain
            The chain.

        Returns
        -------
        float
            Standard deviation of the noise of a proposal.
        """
        return float(np.exp(chain.memory[_LOG_STEP][0]))

    def decide(self, chain: MarkovChain, posterior: Posterior, proposal: Parameters, log_ratio: float) -> bool:
        """Move a chain to a proposal, or leave it where it is, and tune the step.

        Parameters
        ----------
        chain : MarkovChain
            The chain, whose parameters and memory are changed.
        posterior : Posterior
            All chains, the priors, and how far the warm-up is.
        proposal : dict of str to ndarray
            Where to go.
        log_ratio : float
            Logarithm of the ratio of Metropolis and Hastings.

        Returns
        -------
        bool
            Whether the proposal was accepted.
        """
        accepted = bool(np.log(chain.rng.random()) < log_ratio)
        if accepted:
            chain.parameters = proposal
        self.average(chain, _SHARE, accepted, posterior)
        if posterior.warming and self.step == "auto":
            chain.memory[_LOG_STEP] += (accepted - self.wanted) / np.sqrt(posterior.n_moves + 1)
        return accepted

    @staticmethod
    def average(chain: MarkovChain, name: str, value: float, posterior: Posterior) -> None:
        """Let a running average that a chain remembers follow a value.

        Parameters
        ----------
        chain : MarkovChain
            The chain, whose memory is changed.
        name : str
            What the average is called there.
        value : float
            The newest value.
        posterior : Posterior
            How many moves there have been.
        """
        chain.memory[name] += (value - chain.memory[name]) / min(posterior.n_moves + 1, _RECENT)

    def reading(self, chain: MarkovChain, posterior: Posterior) -> dict[str, float]:
        """Return the step, and the share of recent proposals that were accepted."""
        return {"step": self.step_of(chain), "accepted": float(chain.memory[_SHARE][0])}


def is_allowed(problem: Problem, parameters: Parameters) -> bool:
    """Return whether parameters are in bounds, so that the model can be normalised."""
    projected = copy_parameters(parameters)
    project(problem.energy, projected)
    return all(np.array_equal(value, projected[name]) for name, value in parameters.items())
