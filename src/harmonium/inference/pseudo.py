"""Pseudo-likelihood: log p(one site | all others), which compares models without their partition functions."""

from __future__ import annotations

import numpy as np

from harmonium.core.batch import Batch, ViewBatch
from harmonium.core.parameters import Parameters, bias_of, weights_of
from harmonium.energy import Energy
from harmonium.families.protocol.sites import Rest
from harmonium.kernels.sparse.matrix import dense_row


def pseudo_log_likelihood(
    energy: Energy, parameters: Parameters, batch: Batch, rng: np.random.Generator, n_probes: int = 1
) -> np.ndarray:
    """Estimate the pseudo-log-likelihood of each row, summed over views, of shape (rows,).

    For each row and view ``n_probes`` observed sites are drawn. The mean of their conditional log-probabilities is
    multiplied by the number of observed sites (tokens for `ReplicatedSoftmax`, features for `Chain`), so the estimate
    is unbiased. Missing sites have to be filled in: they act on the hidden units, but are not drawn themselves.
    """
    natural = energy.hidden_natural(parameters, batch).astype(np.float64)
    total = np.zeros(batch.n_rows)
    layer = energy.layer(parameters)
    for name, view in batch.views.items():
        family, extra = energy.families[name], energy.extra(parameters, name)
        weights, bias = parameters[weights_of(name)], parameters[bias_of(name)].astype(np.float64)
        row_weight = family.length.row_weight(view.size)
        for row in range(batch.n_rows):
            sites = _observed_sites(view, row, family.codec.n_sites)
            size = None if view.size is None else view.size[row]
            if len(sites):
                values = dense_row(view.statistic, row)
                # to one item, the weight of its row is part of the weights
                weighted = weights if row_weight is None else weights * weights.dtype.type(row_weight[row])
                rest = Rest(weighted, bias, extra, natural[row], layer.mean, layer.log_partition)
                for _ in range(n_probes):
                    total[row] += family.probe(values, sites, rest, rng, size) / n_probes
    return total


def _observed_sites(view: ViewBatch, row: int, n_sites: int) -> np.ndarray:
    if view.missing is None:
        return np.arange(n_sites)
    return np.flatnonzero(~view.missing[row])
