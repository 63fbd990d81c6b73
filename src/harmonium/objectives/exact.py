"""Exact likelihood, by enumeration: for small models, and as the reference that other objectives are tested against."""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch
from harmonium.core.parameters import Parameters, extra_of
from harmonium.energy import Energy
from harmonium.inference.exact import exact_expectations, hidden_states
from harmonium.inference.gibbs import Sizes, sizes_of
from harmonium.objectives.base import Objective
from harmonium.objectives.problem import Problem
from harmonium.objectives.statistics import Statistics, add_sufficient_statistics


class ExactLikelihood(Objective):
    """Exact negative log-likelihood and its gradient, for small models.

    All states of the hidden units are enumerated: at most 2,000,000, which is 20 binary units or 3 real ones (real ones
    by quadrature).

    Examples
    --------
    >>> import numpy as np
    >>> from harmonium import LBFGS, Harmonium
    >>> X = (np.random.default_rng(0).random((50, 6)) < 0.4).astype(float)
    >>> model = Harmonium(2, objective=ExactLikelihood(), driver=LBFGS(max_iter=20), random_state=0).fit(X)
    >>> first, *_, last = model.history_["loss"]
    >>> last < first
    True
    """

    has_loss = True
    is_exact = True

    def check_model(self, problem: Problem) -> None:
        """Refuse models with too many hidden states."""
        hidden_states(problem.energy)

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
        """Add the model's expectations minus the data's statistics, and the loss."""
        energy = problem.energy
        data, _ = problem.data_term(parameters, batch, into, with_loss=True)
        batch = data.batch
        add_sufficient_statistics(into, energy, parameters, data)
        into.count += batch.n_rows
        into.loss += float(energy.free_energy(parameters, batch).sum())
        fixed = _fixed(energy)
        for sizes, number in _distinct_sizes(energy, batch):
            exact = exact_expectations(energy, parameters, sizes)
            into.loss += number * exact.log_partition
            for name, value in exact.statistics.items():
                if name in fixed:
                    continue
                into.gradient[name] += (number * value).astype(into.gradient[name].dtype)


def _fixed(energy: Energy) -> set[str]:
    """Return the names of extra parameters of families that no gradient moves, such as variances that are given."""
    return {
        extra_of(name, extra)
        for name, family in energy.families.items()
        for extra, (lower, upper) in family.extra_parameters.bounds.items()
        if not lower < upper
    }


def _distinct_sizes(energy: Energy, batch: Batch) -> list[tuple[Sizes, int]]:
    """Return each combination of totals in the batch and how many rows have it: each has its own partition function."""
    sizes = sizes_of(batch)
    if not sizes:
        return [({}, batch.n_rows)]
    table = np.stack(list(sizes.values()), axis=1)
    distinct, numbers = np.unique(table, axis=0, return_counts=True)
    return [
        ({name: row[i : i + 1] for i, name in enumerate(sizes)}, int(number))
        for row, number in zip(distinct, numbers, strict=True)
    ]
