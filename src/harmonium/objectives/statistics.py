"""Additive statistics: an objective adds the sums over its batch, so batches, shards and machines all combine alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.kernels.products import Matrix, add_column_totals, add_outer_products
from harmonium.kernels.rows import entries
from harmonium.params import HIDDEN_BIAS, Parameters, bias_of, own_of, weights_of


@dataclass
class Statistics:
    """Sums over items.

    Attributes
    ----------
    gradient : dict of ndarray
        Of the loss to be minimised, by parameter.
    loss : float
        The loss itself, where it is known.
    count : float
        Number of items.
    counts : ndarray (units,), or 0
        What the prior of the hidden units learns from (`HiddenLayer.counts`): how many items have each unit.
    """

    gradient: Parameters
    loss: float = 0.0
    count: float = 0.0
    counts: np.ndarray | float = 0.0

    @classmethod
    def zeros_like(cls, parameters: Parameters) -> Statistics:
        """Nothing added yet."""
        return cls({name: np.zeros_like(value) for name, value in parameters.items()})

    def __add__(self, other: Statistics) -> Statistics:
        """Statistics of both batches together."""
        gradient = {name: value + other.gradient[name] for name, value in self.gradient.items()}
        return Statistics(gradient, self.loss + other.loss, self.count + other.count, self.counts + other.counts)


@dataclass
class Term:
    """Rows, E[h] for each of them, and the sign with which their sufficient statistics enter.

    ``are_samples`` tells observed or sampled rows from means of distributions, whose spread own parameters need too.
    ``head_gradient`` is that of a head's loss by the hidden naturals, if there is one.
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
    """Add Σ_terms sign · Σ_rows of every sufficient statistic: φ(x) m(x)ᵀ, φ(x), m(x), and those of own parameters.

    A head's gradient enters through the hidden naturals, which biases and own parameters of the views do not move.
    """
    gradient = into.gradient
    dtype = gradient[HIDDEN_BIAS].dtype
    signed = [np.asarray(term.by_natural, dtype=dtype) for term in terms]
    for hidden in signed:
        gradient[HIDDEN_BIAS] += hidden.sum(axis=0)
    for name, family in energy.families.items():
        pairs: list[tuple[Matrix, np.ndarray]] = []
        for term, hidden in zip(terms, signed, strict=True):
            view = term.batch.views[name]
            pairs.append((view.statistic, hidden))
            add_column_totals(view.statistic, term.sign, gradient[bias_of(name)])
            if view.fill is not None:
                rows, values = view.fill
                pairs.append((values, hidden[rows]))
                gradient[bias_of(name)] += term.sign * values.sum(axis=0)
            for own_name, (lower, upper) in family.own_bounds().items():
                if lower < upper:
                    totals = _own_totals(energy, parameters, name, own_name, view, term.are_samples)
                    gradient[own_of(name, own_name)] += term.sign * totals
        add_outer_products(pairs, gradient[weights_of(name)])


def _own_totals(
    energy: Energy, parameters: Parameters, name: str, own_name: str, view: ViewBatch, are_samples: bool
) -> np.ndarray:
    family, own = energy.families[name], energy.own(parameters, name)
    cells = entries(view.statistic)
    terms = family.own_statistics(cells.values, own, are_samples, cells.columns)[own_name]
    if view.missing is not None and are_samples:
        inferred = family.own_statistics(cells.values, own, is_sample=False, columns=cells.columns)[own_name]
        terms = np.where(cells.at(family.spread(view.missing)), inferred, terms)
    totals = cells.column_totals(terms)
    if view.fill is not None:
        totals += family.own_statistics(view.fill[1], own, is_sample=False)[own_name].sum(axis=0)
    return totals
