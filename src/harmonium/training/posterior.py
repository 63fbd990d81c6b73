"""Draws from the posterior of a model's parameters, and the chains that make them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain as chained
from typing import Any

import numpy as np

from harmonium.energy import Energy
from harmonium.inference.symmetry import align
from harmonium.objectives.statistics import Statistics
from harmonium.params import Parameters
from harmonium.training.priors import Moments, Normal

_ROUNDS_OF_ALIGNMENT = 2


@dataclass
class MarkovChain:
    """One chain: where it is, its random numbers, what it remembers to choose its steps, and memory to work in."""

    parameters: Parameters
    rng: np.random.Generator
    memory: dict[str, np.ndarray] = field(default_factory=dict)
    draws: list[Parameters] = field(default_factory=list)
    state: Any = None
    statistics: Statistics | None = None


@dataclass
class Posterior:
    """Chains with the draws that were kept, and the prior of the weights of each view.

    Attributes
    ----------
    chains : list of MarkovChain
        Of a model loaded from a file they begin at their last draws, with fresh random numbers.
    prior : dict of Normal
        By view.
    moments : dict of Moments
        Sums of the weights since the last step of empirical Bayes, by view.
    n_moves, n_warmup, n_planned : int
        How often each chain has moved, how many of the moves are warm-up, and how many there are to be.
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
        """Whether chains are still on their way to where they should be."""
        return self.n_moves < self.n_warmup

    @property
    def n_draws(self) -> int:
        """Number of draws that each chain has kept."""
        return len(self.chains[0].draws)

    def draws(self) -> list[Parameters]:
        """All draws, chain by chain."""
        return list(chained.from_iterable(chain.draws for chain in self.chains))

    def array(self, name: str) -> np.ndarray:
        """Draws of one parameter, shape (chains, draws, …)."""
        return np.stack([np.stack([draw[name] for draw in chain.draws]) for chain in self.chains])

    def mean(self) -> Parameters:
        """Mean over all draws."""
        draws = self.draws()
        return {
            name: np.stack([draw[name] for draw in draws]).mean(axis=0, dtype=np.float64).astype(np.float32)
            for name in draws[0]
        }

    def align(self, energy: Energy) -> None:
        """Turn draws into those of the same density that are nearest to each other.

        Units are arbitrary up to rotation (Gaussian ones) or order and sign (others), so weights and hidden means of
        different draws can only be averaged once that freedom is used up. The chains themselves go on as they were.
        """
        reference = self.chains[0].draws[-1]
        for _ in range(_ROUNDS_OF_ALIGNMENT):
            for chain in self.chains:
                chain.draws = [align(energy, draw, reference) for draw in chain.draws]
            reference = self.mean()
