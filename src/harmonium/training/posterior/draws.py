"""Draws from the posterior of a model's parameters, and the chains that make them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain as chained
from typing import Any

import numpy as np

from harmonium.core.parameters import Parameters
from harmonium.energy import Energy
from harmonium.inference.symmetry import align
from harmonium.objectives.statistics import Statistics
from harmonium.storage import SCRATCH, serializable
from harmonium.training.posterior.centring import CentredBiases
from harmonium.training.posterior.normals import Moments, Normal

# Draws are aligned to one of them, then to their mean: a convention.
_ROUNDS_OF_ALIGNMENT = 2


@serializable
@dataclass
class MarkovChain:
    """One chain.

    Attributes
    ----------
    parameters : dict of str to ndarray
        Where the chain is.
    rng : numpy.random.Generator
        Its random numbers.
    memory : dict of str to ndarray
        What it remembers to choose its steps.
    draws : list of dict
        Parameters that were kept.
    state : object
        State of the objective.
    prior : dict of str to Normal
        Priors that it draws itself, by view.
    statistics : Statistics, optional
        Memory to work in.
    centred : CentredBiases, optional
        Coordinates of its biases, once they are made.
    """

    parameters: Parameters
    rng: np.random.Generator
    memory: dict[str, np.ndarray] = field(default_factory=dict)
    draws: list[Parameters] = field(default_factory=list)
    state: Any = None
    prior: dict[str, Normal] = field(default_factory=dict)
    statistics: Statistics | None = field(default=None, metadata=SCRATCH)
    centred: CentredBiases | None = field(default=None, metadata=SCRATCH)


@serializable
@dataclass
class Posterior:
    """Chains with the draws that were kept, and the prior of the weights of each view.

    Attributes
    ----------
    chains : list of MarkovChain
        The chains. Those of a model loaded from a file begin at their last draws, with fresh random numbers.
    prior : dict of str to Normal
        Prior of each view; of one that chains draw, its mean and its mean variance over chains and draws.
    moments : dict of str to Moments
        Sums of the weights since the last step of empirical Bayes, by view.
    n_moves : int
        Number of moves of each chain.
    n_warmup : int
        Number of moves that are warm-up.
    n_planned : int
        Number of moves that are planned.
    target : str
        What is sampled, and how: draws of different targets do not belong together.
    """

    chains: list[MarkovChain]
    prior: dict[str, Normal]
    moments: dict[str, Moments] = field(default_factory=dict)
    n_moves: int = 0
    n_warmup: int = 0
    n_planned: int = 0
    target: str = ""

    @property
    def warming(self) -> bool:
        """Whether chains are still in their warm-up."""
        return self.n_moves < self.n_warmup

    @property
    def n_draws(self) -> int:
        """Number of draws that each chain has kept."""
        return len(self.chains[0].draws)

    def priors_of(self, chain: MarkovChain) -> dict[str, Normal]:
        """Return the prior of each view that a chain moves by: its own, or that of all chains."""
        return {**self.prior, **chain.prior}

    def draws(self) -> list[Parameters]:
        """Return all draws, chain by chain."""
        return list(chained.from_iterable(chain.draws for chain in self.chains))

    def array(self, name: str) -> np.ndarray:
        """Return the draws of one parameter, shape (chains, draws, …)."""
        return np.stack([np.stack([draw[name] for draw in chain.draws]) for chain in self.chains])

    def mean(self) -> Parameters:
        """Return the mean over all draws."""
        draws = self.draws()
        return {
            name: np.stack([draw[name] for draw in draws]).mean(axis=0, dtype=np.float64).astype(np.float32)
            for name in draws[0]
        }

    def align(self, energy: Energy) -> None:
        """Replace draws by equivalent ones that are nearest to each other.

        Units are arbitrary up to rotation (Gaussian ones) or order and sign (others), so weights and hidden means of
        different draws can only be averaged once that freedom is used up. The chains themselves continue as they were.
        """
        reference = self.chains[0].draws[-1]
        for _ in range(_ROUNDS_OF_ALIGNMENT):
            for chain in self.chains:
                chain.draws = [align(energy, draw, reference) for draw in chain.draws]
            reference = self.mean()
