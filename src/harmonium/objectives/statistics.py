"""Additive statistics: an objective adds the sums over its batch, so batches, shards and machines all combine alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harmonium.batch import Batch, ViewBatch
from harmonium.energy import Energy
from harmonium.kernels.products import add_statistic_transposed_times_hidden
from harmonium.kernels.sparse import SparseRows
from harmonium.params import HIDDEN_BIAS, Parameters, bias_of, own_of, weights_of


@dataclass
class Statistics:
    """Sums over items: gradient of the loss to be minimised, the loss itself (where it is known), number of items."""

    gradient: Parameters
    loss: float = 0.0
    count: float = 0.0

    @classmethod
    def zeros_like(cls, parameters: Parameters) -> Statistics:
        """Nothing added yet."""
        return cls({name: np.zeros_like(value) for name, value in parameters.items()})

    def __add__(self, other: Statistics) -> Statistics:
        """Statistics of both batches together."""
        gradient = {name: value + other.gradient[name] for name, value in self.gradient.items()}
        return Statistics(gradient, self.loss + other.loss, self.count + other.count)


def add_sufficient_statistics(
    into: Statistics,
    energy: Energy,
    parameters: Parameters,
    batch: Batch,
    hidden_mean: np.ndarray,
    sign: float,
    are_samples: bool = True,
) -> None:
    """Add sign · Σ_rows of every sufficient statistic: φ(x) m(x)ᵀ, φ(x), m(x), and those of own parameters."""
    gradient = into.gradient
    signed = np.asarray(sign * hidden_mean, dtype=gradient[HIDDEN_BIAS].dtype)
    gradient[HIDDEN_BIAS] += signed.sum(axis=0)
    for name, view in batch.views.items():
        add_statistic_transposed_times_hidden(view.statistic, signed, gradient[weights_of(name)])
        gradient[bias_of(name)] += sign * _column_totals(view.statistic)
        if view.fill is not None:
            rows, values = view.fill
            add_statistic_transposed_times_hidden(values, signed[rows], gradient[weights_of(name)])
            gradient[bias_of(name)] += sign * values.sum(axis=0)
        for own_name, (lower, upper) in energy.families[name].own_bounds().items():
            if lower < upper:
                totals = _own_totals(energy, parameters, name, own_name, view, are_samples)
                gradient[own_of(name, own_name)] += sign * totals


def _column_totals(statistic: np.ndarray | SparseRows) -> np.ndarray:
    if isinstance(statistic, SparseRows):
        return statistic.column_totals()
    return statistic.sum(axis=0)


def _own_totals(
    energy: Energy, parameters: Parameters, name: str, own_name: str, view: ViewBatch, are_samples: bool
) -> np.ndarray:
    family, own = energy.families[name], energy.own(parameters, name)
    if isinstance(view.statistic, SparseRows):
        sparse = view.statistic
        terms = family.own_statistics(sparse.data, own, are_samples, sparse.indices)[own_name]
        totals = np.bincount(sparse.indices, weights=terms, minlength=sparse.n_columns)
        if view.fill is not None:
            totals += family.own_statistics(view.fill[1], own, is_sample=False)[own_name].sum(axis=0)
        return totals
    terms = family.own_statistics(view.statistic, own, are_samples)[own_name]
    if view.missing is not None and are_samples:
        inferred = family.own_statistics(view.statistic, own, is_sample=False)[own_name]
        terms = np.where(family.spread(view.missing), inferred, terms)
    return terms.sum(axis=0)
