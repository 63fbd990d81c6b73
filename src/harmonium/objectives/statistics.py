"""Additive statistics: an objective adds the sums over its batch, so batches, shards and machines all combine alike."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import HIDDEN_BIAS, Parameters, bias_of, extra_of, weights_of
from harmonium.energy import Energy
from harmonium.kernels.sparse.entries import entries
from harmonium.kernels.sparse.matrix import Matrix
from harmonium.kernels.sparse.products import add_gradients


@dataclass
class Statistics:
    """Sums over rows.

    Attributes
    ----------
    gradient : dict of str to ndarray
        Gradient of the loss to be minimised, by parameter.
    loss : float
        The loss itself, where it is known.
    count : float
        Number of rows.
    counts : ndarray of shape (units,), or 0
        What the prior of the hidden units learns from (`SelectionRule.counts`): how many rows have each unit.
    active_rows : dict of str to ndarray of bool of shape (features,)
        Rows of the weights' gradients to which sufficient statistics were added, by the name of the weights. For words
        they are few: those of the batch and those that were drawn.
    """

    gradient: Parameters
    loss: float = 0.0
    count: float = 0.0
    counts: np.ndarray | float = 0.0
    active_rows: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def zeros_like(cls, parameters: Parameters) -> Statistics:
        """Return statistics of no rows, for parameters of these shapes."""
        return cls({name: np.zeros_like(value) for name, value in parameters.items()})

    def __add__(self, other: Statistics) -> Statistics:
        """Return the statistics of both batches together."""
        gradient = {name: value + other.gradient[name] for name, value in self.gradient.items()}
        active_rows = {**other.active_rows, **self.active_rows}
        for name in self.active_rows.keys() & other.active_rows.keys():
            active_rows[name] = self.active_rows[name] | other.active_rows[name]
        loss, count, counts = self.loss + other.loss, self.count + other.count, self.counts + other.counts
        return Statistics(gradient, loss, count, counts, active_rows)


@dataclass
class Term:
    """Rows, E[h] for each of them, and the sign with which their sufficient statistics enter.

    Attributes
    ----------
    batch : Batch
        The rows.
    hidden_mean : ndarray of shape (rows, units)
        E[h] of each row.
    sign : float
        -1 for data, +1 for the model; other sizes weigh the rows.
    are_samples : bool
        Whether the rows are observed or sampled. If not, they are means of distributions, whose spread the families'
        extra parameters need too.
    head_gradient : ndarray of shape (rows, units), optional
        Gradient of the head's loss by the hidden naturals.
    """

    batch: Batch
    hidden_mean: np.ndarray
    sign: float
    are_samples: bool = True
    head_gradient: np.ndarray | None = None

    @property
    def by_natural(self) -> np.ndarray:
        """Gradient by the hidden naturals of the rows."""
        signed = self.sign * self.hidden_mean
        return signed if self.head_gradient is None else signed + self.head_gradient


def add_sufficient_statistics(into: Statistics, energy: Energy, parameters: Parameters, *terms: Term) -> None:
    """Add the signed sums of all sufficient statistics of some terms to the gradient.

    These are Σ_terms sign · Σ_rows of φ(x) m(x)ᵀ, φ(x), m(x), and those of the families' extra parameters. The gradient
    of a head enters through the hidden naturals, which do not depend on biases and extra parameters of the views.
    Where rows of a view have weights, m(x) of a row is multiplied by its weight where it meets φ(x).
    """
    gradient = into.gradient
    dtype = gradient[HIDDEN_BIAS].dtype
    signed = [np.asarray(term.by_natural, dtype=dtype) for term in terms]
    for hidden in signed:
        gradient[HIDDEN_BIAS] += hidden.sum(axis=0)
    for name, family in energy.families.items():
        sums: list[tuple[Matrix, np.ndarray, float]] = []
        for term, hidden in zip(terms, signed, strict=True):
            view = term.batch.views[name]
            weighted = energy.row_weighted(name, hidden, view.size)
            sums.append((view.statistic, weighted, term.sign))
            if view.fill is not None:
                rows, values = view.fill
                sums.append((values, weighted[rows], term.sign))
            for extra_name, (lower, upper) in family.extra_parameters.bounds.items():
                if lower < upper:
                    totals = _extra_totals(energy, parameters, name, extra_name, view, term.are_samples)
                    gradient[extra_of(name, extra_name)] += term.sign * totals
        weights = gradient[weights_of(name)]
        active_rows = into.active_rows.setdefault(weights_of(name), np.zeros(len(weights), dtype=bool))
        add_gradients(sums, weights, gradient[bias_of(name)], active_rows)


def _extra_totals(
    energy: Energy, parameters: Parameters, name: str, extra_name: str, view: ViewBatch, are_samples: bool
) -> np.ndarray:
    """Return the sum over rows of the statistic that belongs to one of a family's extra parameters."""
    family, extra = energy.families[name], energy.extra(parameters, name)
    cells = entries(view.statistic)
    inferred: bool | np.ndarray = not are_samples
    if view.missing is not None and are_samples:
        inferred = cells.at(family.codec.spread(view.missing))
    statistics = family.extra_parameters.statistics
    totals = cells.column_sums(statistics(cells.values, extra, inferred, cells.columns)[extra_name])
    if view.fill is not None:
        totals += statistics(view.fill[1], extra, inferred=True)[extra_name].sum(axis=0)
    return totals
