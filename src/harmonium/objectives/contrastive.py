"""Contrastive divergence: sampled, persistent, mean-field."""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters
from harmonium.core.validation import Whole
from harmonium.inference.gibbs import sample_views, sizes_of, sparse_views
from harmonium.inference.mean_field import mean_field_free_energy, mean_views
from harmonium.objectives.base import STEPS, Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics, Term, add_sufficient_statistics

# name of the hidden states of persistent chains
_HIDDEN = "hidden"


class SampledCD(Objective):
    """Contrastive divergence with Gibbs steps from the data (Hinton 2002).

    The statistics hold expectations of the hidden units, not samples (Rao-Blackwellisation; Gehler et al. 2006). Sparse
    views are sampled as sparse ones, so that the cost of a step is that of the words in the data and in the sample.

    Parameters
    ----------
    n_steps : int, default=1
        Number of Gibbs steps.

    References
    ----------
    Hinton (2002), Training products of experts by minimizing contrastive divergence; Gehler, Holub & Welling (2006),
    The rate adapting Poisson model for information retrieval and object recognition.

    Examples
    --------
    >>> SampledCD(n_steps=5)
    SampledCD(n_steps=5)
    """

    settings = {"n_steps": STEPS}
    also_called = ("CD",)
    marks_rows = True

    def __init__(self, n_steps: int = 1) -> None:
        self.n_steps = n_steps

    def accumulate(
        self,
        problem: Problem,
        parameters: Parameters,
        batch: Batch,
        into: Statistics,
        rng: np.random.Generator,
        state: object = None,
        with_loss: bool = False,
    ) -> None:
        """Add the statistics after the Gibbs steps minus those of the data."""
        energy = problem.energy
        layer = energy.layer(parameters)
        data, natural = problem.data_term(parameters, batch, into)
        sizes, sparse = sizes_of(data.batch), sparse_views(data.batch)
        for _ in range(self.n_steps):
            hidden = layer.sample(natural, rng)
            batch = sample_views(energy, parameters, hidden, rng, sizes, sparse)
            natural = energy.hidden_natural(parameters, batch)
        model = Term(batch, layer.mean(natural), +1.0)
        add_sufficient_statistics(into, energy, parameters, data, model)
        into.count += batch.n_rows


class PersistentCD(Objective):
    """Persistent contrastive divergence: chains continue from batch to batch.

    It is also known as stochastic maximum likelihood.

    Parameters
    ----------
    n_steps : int, default=1
        Number of Gibbs steps of each chain in each batch.
    n_chains : int, default=100
        Number of chains; together they count as many rows as the batch has. For views with totals (`ReplicatedSoftmax`)
        or lengths (`Chain`), chains take those of random rows of the batch.

    References
    ----------
    Tieleman (2008), Training restricted Boltzmann machines using approximations to the likelihood gradient.

    Examples
    --------
    >>> PersistentCD(n_chains=50).remembers
    True
    """

    settings = {"n_steps": STEPS, "n_chains": Whole(remedy="100 is usual")}
    also_called = ("PCD",)
    marks_rows = True

    def __init__(self, n_steps: int = 1, n_chains: int = 100) -> None:
        self.n_steps = n_steps
        self.n_chains = n_chains

    def start(self, problem: Problem, batch: Batch, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Return chains whose hidden states are drawn at random."""
        natural = np.zeros((self.n_chains, problem.energy.hidden.n_units_), dtype=np.float32)
        return {_HIDDEN: problem.energy.hidden.sample(natural, rng)}

    def accumulate(
        self,
        problem: Problem,
        parameters: Parameters,
        batch: Batch,
        into: Statistics,
        rng: np.random.Generator,
        state: dict[str, np.ndarray] | None = None,
        with_loss: bool = False,
    ) -> None:
        """Add the statistics of the chains after new steps minus those of the data."""
        energy = problem.energy
        layer = energy.layer(parameters)
        chains = self.start(problem, batch, rng) if state is None else state
        data, _ = problem.data_term(parameters, batch, into)
        batch = data.batch
        chosen = rng.integers(batch.n_rows, size=len(chains[_HIDDEN]))
        sizes = {name: size[chosen] for name, size in sizes_of(batch).items()}
        for _ in range(self.n_steps):
            fantasy = sample_views(energy, parameters, chains[_HIDDEN], rng, sizes, sparse_views(batch))
            natural = energy.hidden_natural(parameters, fantasy)
            chains[_HIDDEN] = layer.sample(natural, rng)
        model = Term(fantasy, layer.mean(natural), batch.n_rows / fantasy.n_rows)
        add_sufficient_statistics(into, energy, parameters, data, model)
        into.count += batch.n_rows


class MeanFieldCD(Objective):
    """Contrastive divergence with means in place of samples.

    The loss is the variational free energy of the data minus that after the mean-field steps. The gradient leaves out
    how the means of the latter depend on the parameters, as in the papers.

    Parameters
    ----------
    n_steps : int, default=1
        Number of mean-field steps. Chen et al. (2012) take 5.

    Notes
    -----
    Between two Gaussian layers means alone do not hold the weights back: they grow to the edge of what can be
    normalised, so densities and samples mean little there. `SampledCD` does not have this problem.

    References
    ----------
    Welling & Hinton (2002), A new learning algorithm for mean field Boltzmann machines; Chen, Zhu, Sun & Xing (2012),
    Large-margin predictive latent subspace learning for multiview data analysis, eq. 7.

    Examples
    --------
    >>> MeanFieldCD(n_steps=5)
    MeanFieldCD(n_steps=5)
    """

    settings = {"n_steps": STEPS}
    has_loss = True

    def __init__(self, n_steps: int = 1) -> None:
        self.n_steps = n_steps

    def accumulate(
        self,
        problem: Problem,
        parameters: Parameters,
        batch: Batch,
        into: Statistics,
        rng: np.random.Generator,
        state: object = None,
        with_loss: bool = False,
    ) -> None:
        """Add the statistics of the means after the steps minus those of the data."""
        energy = problem.energy
        layer = energy.layer(parameters)
        data, _ = problem.data_term(parameters, batch, into, with_loss)
        batch, hidden_mean = data.batch, data.hidden_mean
        for _ in range(self.n_steps):
            means, naturals = mean_views(energy, parameters, hidden_mean, sizes_of(batch))
            hidden_mean = layer.mean(energy.hidden_natural(parameters, means))
        model = Term(means, hidden_mean, +1.0, are_samples=False)
        add_sufficient_statistics(into, energy, parameters, data, model)
        into.count += batch.n_rows
        if with_loss:
            into.loss += float(energy.free_energy(parameters, batch).sum())
            into.loss -= float(mean_field_free_energy(energy, parameters, means, naturals).sum())
